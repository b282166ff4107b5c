"""The names of what our own graph tells of: entities and activities of a run, agents, prompts, and our terms.

Every name begins with the question's URI of its run, except the names of what outlives a run: chunks, documents,
prompts and agents. An entity and the activity that generated it never share a name (PROV-O: the classes are disjoint).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    EvidenceGraded,
    EvidenceRetrieved,
    FindingReceived,
    PartsJoined,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QueryRewritten,
    QuestionAsked,
    QuestionDecomposed,
    QuestionGrounded,
    QuestionPlanned,
    RunFailed,
    RunPaused,
    RunResumed,
    TicketCancelled,
    ToolChosen,
    ToolObserved,
)
from clew_translators import uris
from clew_translators.explain.names_terms import *  # noqa: F403 - terms and names are one vocabulary
from clew_translators.memo import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact

    _OfAgent = (
        ToolChosen
        | ToolObserved
        | Concluded
        | PatternChosen
        | PlanMade
        | PlanStepDone
        | QuestionDecomposed
        | FindingReceived
    )

# --- names of a run -------------------------------------------------------------------------------

# The URIs of RFC 3986, without user names and IP literals: what every RDF library takes for an IRI.
_CHARACTER = r"[A-Za-z0-9._~!$&'()*+,;=:@/?-]"
_AUTHORITY = r"//[A-Za-z0-9._~-]+(?::[0-9]*)?(?=[/?#]|$)"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{_AUTHORITY}|(?!//))(?:{_CHARACTER}|%[0-9A-Fa-f]{{2}})*"
    rf"(?:#(?:{_CHARACTER}|%[0-9A-Fa-f]{{2}})*)?"
)
_ESCAPE = re.compile(rf"(?!{_CHARACTER}|#|%[0-9A-Fa-f]{{2}}).", re.DOTALL)


ANONYMOUS = "urn:clew:person:anonymous"
"""Every person whose name nobody knows."""


def entity_of(fact: Fact, question: str, trail: Sequence[Fact] = ()) -> str:  # noqa: C901, PLR0911, PLR0912 - a name per kind
    """The entity that ``fact`` is about: one name per kind, part, pass, round and iteration of a run.

    ``trail`` is what the run established before: what may happen more than once is numbered by it.
    """
    match fact:
        case QuestionAsked():
            return question
        case QuestionPlanned():
            return f"{question}/plan"
        case EvidenceRetrieved():
            return exploration_of(question, fact.part, fact.pass_number)
        case EvidenceGraded():
            return f"{exploration_of(question, fact.part, fact.pass_number)}/grade"
        case QueryRewritten():
            return f"{exploration_of(question, fact.part, fact.pass_number)}/rewrite"
        case PartsJoined():
            return f"{question}/joined/{_count(PartsJoined, trail)}"
        case BudgetExhausted():
            return f"{question}/limit/{_count(BudgetExhausted, trail)}"
        case RunPaused():
            return pause_of(question, fact.round)
        case RunResumed():
            return f"{_waiting(fact.ticket, question, trail)}/answer"
        case TicketCancelled():
            return f"{_waiting(fact.ticket, question, trail)}/cancellation"
        case AnswerWritten():
            return uris.synthesis_of(question)
        case RunFailed():
            paused = max((earlier.round for earlier in trail if isinstance(earlier, RunPaused)), default=0)
            return _failure_of(pause_of(question, paused) if paused else question, fact.started_at)
        case QuestionGrounded():
            return uris.grounding_of(question)
        case EdgesRetrieved():
            return uris.exploration_of(question)
        case EdgesSelected():
            return uris.focus_of(question)
        case _:
            return _of_agent(fact, question)


def _of_agent(fact: _OfAgent, question: str) -> str:  # noqa: PLR0911 - a name per kind
    match fact:
        case ToolChosen() | ToolObserved():
            return uris.iteration_of(question, fact.number)
        case Concluded():
            return uris.final_of(question)
        case PatternChosen():
            return f"{question}/pattern-decision"
        case PlanMade():
            return f"{question}/plan"
        case PlanStepDone():
            return f"{question}/step/{fact.number - 1}"
        case QuestionDecomposed():
            return f"{question}/decompose"
        case FindingReceived():
            return f"{question}/finding/{fact.number - 1}"


def _failure_of(place: str, started_at: str) -> str:
    """A message may fail, be tried again and fail again: each time is another failure, named by when it began."""
    time = quote(started_at.translate(_NO_PUNCTUATION), safe="", errors="surrogatepass")
    return f"{place}/failure/{time}" if time else f"{place}/failure"


_NO_PUNCTUATION = str.maketrans("", "", "-:.")


def pause_of(question: str, round_: int) -> str:
    """What a person was asked in the ``round_``-th pause of a run, from 1."""
    return f"{question}/pause/{round_}"


def _waiting(ticket: str, question: str, trail: Sequence[Fact]) -> str:
    """The pause that ``ticket`` names; the first one of a run that was told of none."""
    rounds = [fact.round for fact in trail if isinstance(fact, RunPaused) and fact.ticket == ticket]
    return pause_of(question, rounds[-1] if rounds else 1)


def _count(kind: type[Fact], trail: Sequence[Fact]) -> int:
    return 1 + sum(isinstance(earlier, kind) for earlier in trail)


def part_of(question: str, number: int) -> str:
    """One of the questions that a question was taken apart into, from 1."""
    return f"{question}/part/{number}"


def exploration_of(question: str, part: int, pass_number: int) -> str:
    """What one retrieval found. The question as a whole (part 0) has the seed's name."""
    return uris.exploration_of(part_of(question, part) if part else question, pass_number)


def evidence_of(exploration: str, place: int) -> str:
    """The chunk at ``place`` (from 1) of a retrieval, as it was retrieved."""
    return f"{exploration}/evidence/{place}"


def rejected_of(exploration: str, place: int) -> str:
    """The chunk at ``place`` (from 1) of those that a retrieval found and did not return."""
    return f"{exploration}/rejected/{place}"


def chunk_grade_of(grade: str, place: int) -> str:
    """The grade at ``place`` (from 1) of those of single chunks."""
    return f"{grade}/chunk/{place}"


def decision_of(exploration: str) -> str:
    """What was decided about a retrieval."""
    return f"{exploration}/decision"


def citation_of(answer: str, place: int) -> str:
    """The citation at ``place`` (from 1) of an answer."""
    return f"{answer}/citation/{place}"


def claim_of(answer: str, number: int) -> str:
    """The ``number``-th claim of an answer, from 1."""
    return f"{answer}/claim/{number}"


def check_of(answer: str, place: int) -> str:
    """The verdict at ``place`` (from 1) about an answer."""
    return f"{answer}/check/{place}"


def planned_step_of(plan: str, number: int) -> str:
    """A step of a plan, as it was planned; from 1."""
    return f"{plan}/step/{number}"


def goal_of(decomposition: str, number: int) -> str:
    """What another agent was asked to find out; from 1."""
    return f"{decomposition}/goal/{number}"


def edge_of(selection: str, place: int) -> str:
    """The edge at ``place`` (from 1) of those that were selected."""
    return f"{selection}/edge/{place}"


def activity_of(entity: str) -> str:
    """The activity that generated ``entity``."""
    return f"{entity}/activity"


def association_of(activity: str, agent: str, prompt: str) -> str:
    """How ``agent``, an IRI of ours, took part in ``activity``: by the prompt of this hash."""
    return f"{activity}/association/{agent.removeprefix('urn:clew:')}/{_quoted(prompt)}"


# --- what outlives a run --------------------------------------------------------------------------


def service_of(name: str, version: str = "") -> str:
    """A service, as an agent. Each version is an agent of its own."""
    of_version = f":{_quoted(version)}" if version else ""
    return f"urn:clew:service:{_quoted(name)}{of_version}"


def model_of(name: str) -> str:
    """A model, grader, writer or embedder, as an agent."""
    return f"urn:clew:model:{_quoted(name)}"


def prompt_of(version: str) -> str:
    """A prompt, by its hash: a plan that models act by."""
    return f"urn:clew:prompt:{_quoted(version)}"


def person_of(name: str) -> str:
    """A person, by the name that requests give them; ANONYMOUS without one, and for no name."""
    known = f"urn:clew:person:{_quoted(name)}" if name else ANONYMOUS
    # Nobody can take the name of those who gave none: RFC 3986 holds both spellings for equal, RDF does not.
    return known if not name or known != ANONYMOUS else "urn:clew:person:%61nonymous"


def _quote(name: str) -> str:
    return quote(name, safe="", errors="surrogatepass")


_quoted = remembered(_quote, entries=256)  # few services, models, prompts and persons take part


def chunk_of(chunk_id: str) -> str:
    """A chunk's IRI; an id that is none becomes ``urn:chunk:{id}``, percent-encoded."""
    return safe_iri(chunk_id) or uris.chunk_uri(_quote(chunk_id))


def document_of(document_id: str) -> str:
    """A document's IRI; an id that is none becomes ``urn:document:{id}``, percent-encoded."""
    return safe_iri(document_id) or f"urn:document:{_quote(document_id)}"


def safe_iri(text: str) -> str:
    """``text`` as an IRI that no store refuses, percent-encoded where it must be; ``""`` when it names nothing.

    A caller's text comes this way into a trace, and one bad name would cost the run its whole batch.
    """
    return _safe_iri(text)


def _made_safe(text: str) -> str:
    escaped = _ESCAPE.sub(lambda found: quote(found.group(), safe=""), text)
    return escaped if _URI.fullmatch(escaped) else ""


_safe_iri = remembered(_made_safe, entries=1024)  # a chunk and its document are named by several statements
