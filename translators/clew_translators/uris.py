"""The names of what a trace tells of, as functions of the run and the step: the same step always has the same name.

Two families. ``…_of`` builds on a question's URI, as the seed's page does for every mechanism alike
(:func:`question_of` gives that URI for a run). ``…_uri`` are TrustGraph's functions, by TrustGraph's names: its graph
questions put the session last, and what it extracts has names of its own.

Sessions are percent-encoded where they are no uuid, so that a caller's text never breaks a name or ends in another
run's.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.facts import Mechanism

_QUESTION: Mapping[Mechanism, str] = MappingProxyType(
    {
        "document-rag": "urn:trustgraph:docrag:",
        "graph-rag": "urn:trustgraph:question:",
        "agent": "urn:trustgraph:agent:",
    }
)
_PROV = "urn:trustgraph:prov:"
_SITE = "https://trustgraph.ai/"


def encode_session(session_id: str) -> str:
    """``session_id`` as it stands in a URI: a uuid as it is, anything else percent-encoded."""
    return quote(session_id, safe="", errors="surrogatepass")


# --- a run and its steps, as the seed names them --------------------------------------------------


def question_of(mechanism: Mechanism, session_id: str) -> str:
    """The question of a run: ``urn:trustgraph:{docrag|question|agent}:{session}``; other names begin with it."""
    return _QUESTION[mechanism] + encode_session(session_id)


def run_of(uri: str) -> tuple[Mechanism, str] | None:
    """Mechanism and session of a question's URI or of a name that begins with it; None for any other name."""
    for mechanism, prefix in _QUESTION.items():
        if uri.startswith(prefix):
            session = uri.removeprefix(prefix).partition("/")[0]
            return (mechanism, unquote(session, errors="surrogatepass")) if session else None
    return None


def grounding_of(question: str) -> str:
    """What the question is about: ``…/grounding``."""
    return f"{question}/grounding"


def exploration_of(question: str, number: int = 1) -> str:
    """What was retrieved: ``…/exploration``, and ``…/exploration/{n}`` for the n-th retrieval of a run, from 2."""
    return _numbered(f"{question}/exploration", number)


def focus_of(question: str, number: int = 1) -> str:
    """What was selected of it: ``…/focus``, and ``…/focus/{n}`` from the second time on."""
    return _numbered(f"{question}/focus", number)


def synthesis_of(question: str) -> str:
    """The answer that was written: ``…/synthesis``."""
    return f"{question}/synthesis"


def answer_of(question: str) -> str:
    """The document that holds the answer's text: ``…/answer``."""
    return f"{question}/answer"


def iteration_of(question: str, number: int) -> str:
    """The agent's n-th iteration, from 1: ``…/i{n}``."""
    return f"{question}/i{number}"


def thought_of(question: str, number: int) -> str:
    """What it thought: ``…/i{n}/thought``."""
    return f"{question}/i{number}/thought"


def observation_of(question: str, number: int) -> str:
    """What it saw: ``…/i{n}/observation``."""
    return f"{question}/i{number}/observation"


def final_of(question: str) -> str:
    """What the agent concluded: ``…/final``."""
    return f"{question}/final"


def _numbered(uri: str, number: int) -> str:
    return uri if number == 1 else f"{uri}/{number}"


# --- TrustGraph: graph questions ------------------------------------------------------------------


def question_uri(session_id: str) -> str:
    """``urn:trustgraph:question:{session}``."""
    return question_of("graph-rag", session_id)


def grounding_uri(session_id: str) -> str:
    """``urn:trustgraph:prov:grounding:{session}``."""
    return f"{_PROV}grounding:{encode_session(session_id)}"


def exploration_uri(session_id: str) -> str:
    """``urn:trustgraph:prov:exploration:{session}``."""
    return f"{_PROV}exploration:{encode_session(session_id)}"


def focus_uri(session_id: str) -> str:
    """``urn:trustgraph:prov:focus:{session}``."""
    return f"{_PROV}focus:{encode_session(session_id)}"


def synthesis_uri(session_id: str) -> str:
    """``urn:trustgraph:prov:synthesis:{session}``."""
    return f"{_PROV}synthesis:{encode_session(session_id)}"


def edge_selection_uri(session_id: str, index: int) -> str:
    """``urn:trustgraph:prov:edge:{session}:{index}``; ``index`` counts from 0."""
    return f"{_PROV}edge:{encode_session(session_id)}:{index}"


def synthesis_document_uri(session_id: str) -> str:
    """The document of a graph question's answer: ``urn:trustgraph:synthesis:{session}``."""
    return f"urn:trustgraph:synthesis:{encode_session(session_id)}"


# --- TrustGraph: document questions ---------------------------------------------------------------


def docrag_question_uri(session_id: str) -> str:
    """``urn:trustgraph:docrag:{session}``."""
    return question_of("document-rag", session_id)


def docrag_grounding_uri(session_id: str) -> str:
    """``urn:trustgraph:docrag:{session}/grounding``."""
    return grounding_of(docrag_question_uri(session_id))


def docrag_exploration_uri(session_id: str) -> str:
    """``urn:trustgraph:docrag:{session}/exploration``."""
    return exploration_of(docrag_question_uri(session_id))


def docrag_focus_uri(session_id: str) -> str:
    """``urn:trustgraph:docrag:{session}/focus``."""
    return focus_of(docrag_question_uri(session_id))


def docrag_synthesis_uri(session_id: str) -> str:
    """``urn:trustgraph:docrag:{session}/synthesis``."""
    return synthesis_of(docrag_question_uri(session_id))


def docrag_answer_uri(session_id: str) -> str:
    """The document of the answer: ``urn:trustgraph:docrag:{session}/answer``."""
    return answer_of(docrag_question_uri(session_id))


def chunk_selection_uri(session_id: str, index: int) -> str:
    """``urn:trustgraph:prov:chunk:{session}:{index}``; ``index`` counts from 0."""
    return f"{_PROV}chunk:{encode_session(session_id)}:{index}"


# --- TrustGraph: agents ---------------------------------------------------------------------------


def agent_session_uri(session_id: str) -> str:
    """``urn:trustgraph:agent:{session}``."""
    return question_of("agent", session_id)


def agent_iteration_uri(session_id: str, number: int) -> str:
    """``urn:trustgraph:agent:{session}/i{n}``; ``number`` counts from 1."""
    return iteration_of(agent_session_uri(session_id), number)


def agent_thought_uri(session_id: str, number: int) -> str:
    """``urn:trustgraph:agent:{session}/i{n}/thought``."""
    return thought_of(agent_session_uri(session_id), number)


def agent_observation_uri(session_id: str, number: int) -> str:
    """``urn:trustgraph:agent:{session}/i{n}/observation``."""
    return observation_of(agent_session_uri(session_id), number)


def agent_final_uri(session_id: str) -> str:
    """``urn:trustgraph:agent:{session}/final``."""
    return final_of(agent_session_uri(session_id))


def agent_pattern_decision_uri(session_id: str) -> str:
    """``urn:trustgraph:agent:{session}/pattern-decision``."""
    return f"{agent_session_uri(session_id)}/pattern-decision"


def agent_plan_uri(session_id: str) -> str:
    """``urn:trustgraph:agent:{session}/plan``."""
    return f"{agent_session_uri(session_id)}/plan"


def agent_step_result_uri(session_id: str, index: int) -> str:
    """``urn:trustgraph:agent:{session}/step/{index}``; ``index`` counts from 0."""
    return f"{agent_session_uri(session_id)}/step/{index}"


def agent_decomposition_uri(session_id: str) -> str:
    """``urn:trustgraph:agent:{session}/decompose``."""
    return f"{agent_session_uri(session_id)}/decompose"


def agent_finding_uri(session_id: str, index: int) -> str:
    """``urn:trustgraph:agent:{session}/finding/{index}``; ``index`` counts from 0."""
    return f"{agent_session_uri(session_id)}/finding/{index}"


def agent_synthesis_uri(session_id: str) -> str:
    """``urn:trustgraph:agent:{session}/synthesis``."""
    return synthesis_of(agent_session_uri(session_id))


# --- TrustGraph: documents and extraction ---------------------------------------------------------


def document_uri(document_id: str) -> str:
    """A document's name is its id, as given."""
    return document_id


def page_uri(uuid: str) -> str:
    """``urn:page:{uuid}``."""
    return f"urn:page:{uuid}"


def section_uri(uuid: str) -> str:
    """``urn:section:{uuid}``."""
    return f"urn:section:{uuid}"


def chunk_uri(uuid: str) -> str:
    """``urn:chunk:{uuid}``."""
    return f"urn:chunk:{uuid}"


def image_uri(uuid: str) -> str:
    """``urn:image:{uuid}``."""
    return f"urn:image:{uuid}"


def activity_uri(activity: str) -> str:
    """``https://trustgraph.ai/activity/{id}``, the id percent-encoded."""
    return f"{_SITE}activity/{quote(activity, safe='')}"


def subgraph_uri(subgraph: str) -> str:
    """``https://trustgraph.ai/subgraph/{id}``, the id percent-encoded."""
    return f"{_SITE}subgraph/{quote(subgraph, safe='')}"


def agent_uri(component: str) -> str:
    """``https://trustgraph.ai/agent/{component}``, the component percent-encoded."""
    return f"{_SITE}agent/{quote(component, safe='')}"
