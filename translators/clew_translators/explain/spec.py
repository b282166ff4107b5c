"""Profile ``spec`` of ``urn:graph:retrieval``: the terms and chains of the agent-explainability page, and no others.

Question (an activity) ← exploration ← synthesis for questions to documents; question ← analysis 1 ← analysis 2 … ←
conclusion for agents. All literals are plain. The page's analysis holds its observation; an agent learns it one message
later, so the second batch adds ``tg:observation`` to the same analysis, and a derivation from the tool's own trace.

Failures are told in ``urn:graph:provenance`` alone: the page has no term for them.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EvidenceRetrieved,
    QuestionAsked,
    ToolChosen,
    ToolObserved,
)
from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain.names import chunk_of, entity_of, exploration_of, safe_iri
from clew_translators.explain.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.facts import Fact, Mechanism

SUBTYPES: Mapping[Mechanism, str] = MappingProxyType(
    {
        "document-rag": ns.TG_DOC_RAG_QUESTION,
        "graph-rag": ns.TG_GRAPH_RAG_QUESTION,
        "agent": ns.TG_AGENT_QUESTION,
    }
)
"""Which class says how a question was answered."""


def retrieval_statements(
    facts: Sequence[Fact], question: str, mechanism: Mechanism, trail: Sequence[Fact]
) -> Statements:
    """What the page says of ``facts``; ``trail`` is what the run established before them."""
    say = Statements(ns.GRAPH_RETRIEVAL)
    so_far = list(trail)
    for fact in facts:
        _tell(say, fact, question, mechanism, so_far)
        so_far.append(fact)
    return say


def _tell(say: Statements, fact: Fact, question: str, mechanism: Mechanism, so_far: Sequence[Fact]) -> None:
    entity = entity_of(fact, question)
    match fact:
        case QuestionAsked():
            say.about(entity, ns.PROV_ACTIVITY, ns.TG_QUESTION, SUBTYPES[mechanism])
            say.plain(ns.TG_QUERY, fact.query)
            say.text(ns.PROV_STARTED_AT_TIME, fact.started_at)
        case EvidenceRetrieved():
            say.about(entity, ns.PROV_ENTITY, ns.TG_EXPLORATION)
            say.link(ns.PROV_WAS_GENERATED_BY, question)
            say.plain(ns.TG_CHUNK_COUNT, str(len(fact.evidence)))
            for found in fact.evidence:
                say.link(ns.TG_SELECTED_CHUNK, chunk_of(found.chunk_id))
        case AnswerWritten():
            say.about(entity, ns.PROV_ENTITY, ns.TG_SYNTHESIS)
            say.plain(ns.TG_CONTENT, fact.text)
            for source in explorations(so_far, question) or (question,):
                say.link(ns.PROV_WAS_DERIVED_FROM, source)
        case ToolChosen():
            say.about(entity, ns.PROV_ENTITY, ns.TG_ANALYSIS)
            say.plain(ns.TG_THOUGHT, fact.thought)
            say.plain(ns.TG_ACTION, fact.action)
            say.plain(ns.TG_ARGUMENTS, json.dumps(fact.arguments))
            say.link(ns.PROV_WAS_DERIVED_FROM, _iteration_or_question(question, fact.number - 1))
        case ToolObserved():
            say.about(entity)
            say.plain(ns.TG_OBSERVATION, fact.observation)
            say.link(ns.PROV_WAS_DERIVED_FROM, safe_iri(fact.trace_uri))
        case Concluded():
            say.about(entity, ns.PROV_ENTITY, ns.TG_CONCLUSION)
            say.plain(ns.TG_ANSWER, fact.answer)
            say.link(ns.PROV_WAS_DERIVED_FROM, _iteration_or_question(question, fact.after))
        case _:
            return


def explorations(facts: Sequence[Fact], question: str) -> tuple[str, ...]:
    """What an answer rests on after ``facts``: of each part, what its latest retrieval found."""
    latest: dict[int, int] = {}
    for fact in facts:
        if isinstance(fact, EvidenceRetrieved):
            latest[fact.part] = max(fact.pass_number, latest.get(fact.part, fact.pass_number))
    return tuple(exploration_of(question, part, number) for part, number in sorted(latest.items()))


def _iteration_or_question(question: str, number: int) -> str:
    return uris.iteration_of(question, number) if number > 0 else question
