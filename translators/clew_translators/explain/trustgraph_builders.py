"""TrustGraph 2.11's triple builders, under its names and with its arguments, as pure functions.

Each returns triples of no graph, in TrustGraph's order; :func:`set_graph` puts them into one. What TrustGraph makes up
when it is not told (times, ids of activities) is left out or asked for here: the same arguments give the same triples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec

from clew_translators.explain import trustgraph_agent, trustgraph_rag, trustgraph_source
from clew_translators.explain.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew_schema.rdf import Triple

P = ParamSpec("P")


def _builder(tell: Callable[Concatenate[Statements, P], None]) -> Callable[P, tuple[Triple, ...]]:
    """``tell`` as a function that returns what it says."""

    def build(*args: P.args, **kwargs: P.kwargs) -> tuple[Triple, ...]:
        say = Statements("")
        tell(say, *args, **kwargs)
        return say.triples

    build.__doc__ = tell.__doc__
    return build


def set_graph(triples: Iterable[Triple], graph: str) -> tuple[Triple, ...]:
    """``triples``, standing in ``graph``."""
    return tuple(triple.model_copy(update={"g": graph}) for triple in triples)


# --- agents ---------------------------------------------------------------------------------------

agent_session_triples = _builder(trustgraph_agent.session)
agent_pattern_decision_triples = _builder(trustgraph_agent.pattern_decision)
agent_iteration_triples = _builder(trustgraph_agent.iteration)
agent_observation_triples = _builder(trustgraph_agent.observation)
agent_final_triples = _builder(trustgraph_agent.final)
agent_decomposition_triples = _builder(trustgraph_agent.decomposition)
agent_finding_triples = _builder(trustgraph_agent.finding)
agent_plan_triples = _builder(trustgraph_agent.plan)
agent_step_result_triples = _builder(trustgraph_agent.step_result)
agent_synthesis_triples = _builder(trustgraph_agent.synthesis)

# --- questions to graphs and to documents ---------------------------------------------------------

question_triples = _builder(trustgraph_rag.question)
grounding_triples = _builder(trustgraph_rag.grounding)
exploration_triples = _builder(trustgraph_rag.exploration)
focus_triples = _builder(trustgraph_rag.focus)
synthesis_triples = _builder(trustgraph_rag.synthesis)
docrag_question_triples = _builder(trustgraph_rag.docrag_question)
docrag_exploration_triples = _builder(trustgraph_rag.docrag_exploration)
docrag_chunk_selection_triples = _builder(trustgraph_rag.docrag_chunk_selection)
docrag_synthesis_triples = _builder(trustgraph_rag.docrag_synthesis)

# --- documents and what is extracted from them ----------------------------------------------------

document_triples = _builder(trustgraph_source.document)
derived_entity_triples = _builder(trustgraph_source.derived_entity)
subgraph_provenance_triples = _builder(trustgraph_source.subgraph_provenance)
get_vocabulary_triples = _builder(trustgraph_source.vocabulary)
