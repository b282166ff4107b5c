"""Questions, retrievals and answers as TrustGraph's batches: entity and statements of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_translators.explain import names
from clew_translators.explain import trustgraph_agent as agent
from clew_translators.explain import trustgraph_rag as rag
from clew_translators.iris import is_blank_label, is_iri, is_language_tag
from clew_translators.memo import remembered
from clew_translators.namespaces import RDF_LANG_STRING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence, Rejected
    from clew_schema.facts import (
        AnswerWritten,
        EdgesRetrieved,
        EdgesSelected,
        EvidenceRetrieved,
        QuestionAsked,
        QuestionGrounded,
        QuestionPlanned,
    )
    from clew_schema.rdf import Term, Triple
    from clew_translators.explain.trustgraph_course import Batches, Course

_CANDIDATES = frozenset({"below-threshold", "beyond-limit"})
"""Why a chunk was left out that the reranker had seen: others were gone before."""

# --- questions ------------------------------------------------------------------------------------


def question(fact: QuestionAsked, course: Course) -> Batches:
    """The question."""
    tell = {"agent": agent.session, "graph-rag": rag.question, "document-rag": rag.docrag_question}
    say = course.say()
    tell[course.mechanism](say, course.question, fact.query, fact.started_at, names.safe_iri(fact.parent_uri))
    yield course.question, say


def planned(fact: QuestionPlanned, course: Course) -> Batches:
    """What a plan looks for: its parts, or the question."""
    say = course.say()
    concepts = fact.parts or ((course.query,) if course.query else ())
    rag.grounding(say, course.grounding_uri, course.question, concepts)
    yield course.grounding_uri, say


def grounded(fact: QuestionGrounded, course: Course) -> Batches:
    """The concepts that were looked for."""
    say = course.say()
    rag.grounding(
        say,
        course.grounding_uri,
        course.question,
        fact.concepts,
        in_token=fact.in_token,
        out_token=fact.out_token,
        model=fact.model,
    )
    yield course.grounding_uri, say


# --- retrieval ------------------------------------------------------------------------------------


def retrieved(fact: EvidenceRetrieved, course: Course) -> Batches:
    """What was explored, and what a reranker chose of it; the grounding too, when nothing was told of one."""
    if not course.grounding:
        # Nobody looked for concepts: TrustGraph then takes the question for the only one.
        say = course.say()
        rag.grounding(say, course.grounding_uri, course.question, (fact.query,))
        yield course.grounding_uri, say
    exploration, focus = course.retrieval_of(fact)
    chunks = [names.chunk_of(found.chunk_id) for found in _candidates(fact)]
    say = course.say()
    rag.docrag_exploration(say, exploration, course.grounding_uri, len(chunks), chunks)
    yield exploration, say
    if focus:
        say = course.say()
        chosen = [
            {"chunk_id": names.chunk_of(found.chunk_id), "score": found.rerank_score}
            for found in fact.evidence
        ]
        again = (fact.part, fact.pass_number) != (0, 1)
        rag.docrag_chunk_selection(
            say, focus, exploration, chosen, session_id=course.session_id, under_focus=again
        )
        yield focus, say


def _candidates(fact: EvidenceRetrieved) -> Sequence[Evidence | Rejected]:
    """What was explored: the evidence, or all that a reranker chose it from, as it was recalled."""
    if not fact.retrieval.rerank.succeeded:
        return fact.evidence
    found: list[Evidence | Rejected] = [
        *fact.evidence,
        *(each for each in fact.rejected if each.reason in _CANDIDATES),
    ]
    scores = [_recalled(each) for each in found]
    if None in scores:
        return found
    order = sorted(range(len(found)), key=lambda at: -(scores[at] or 0.0))
    return [found[at] for at in order]


def _recalled(found: Evidence | Rejected) -> float | None:
    """The score that a chunk was recalled with."""
    for score in (found.fused_score, found.dense_score, found.bm25_score):
        if score is not None:
            return score
    return None


def edges(fact: EdgesRetrieved, course: Course) -> Batches:
    """The edges that were found."""
    say = course.say()
    entities = [names.safe_iri(entity) for entity in fact.entities]
    rag.exploration(say, course.exploration_uri, course.last, fact.edge_count, entities)
    yield course.exploration_uri, say


def selected(fact: EdgesSelected, course: Course) -> Batches:
    """The edges that were chosen. TrustGraph could tell what choosing cost, and never does."""
    say = course.say()
    chosen = [
        {
            "edge": _terms(each.edge),
            "concept": each.concept,
            "score": each.score,
            "reasoning": each.reasoning,
        }
        for each in fact.edges
    ]
    rag.focus(say, course.focus_uri, course.last, chosen, course.session_id)
    yield course.focus_uri, say


def _terms(edge: Triple) -> tuple[Term, Term, Term] | None:
    """The terms of an edge; None for one that RDF cannot hold: a store would refuse the batch for it."""
    s, p, o = edge.s, edge.p, edge.o
    if s and p and o and s.type in {"i", "b"} and p.type == "i" and all(map(_is_sound, (s, p, o))):
        return s, p, o
    return None


def _is_sound(term: Term) -> bool:
    match term.type:
        case "i":
            return _is_iri(term.iri)
        case "b":
            return is_blank_label(term.id)
        case "l" if term.language:
            return is_language_tag(term.language) and term.datatype in {"", RDF_LANG_STRING}
        case "l":
            return not term.datatype or (term.datatype != RDF_LANG_STRING and _is_iri(term.datatype))
        case "t":
            return term.triple is not None and _terms(term.triple) is not None
        case _:
            return False


_is_iri = remembered(is_iri, entries=1024)  # the terms of one graph come again and again


def answered(fact: AnswerWritten, course: Course) -> Batches:
    """The answer."""
    say = course.say()
    sources = [focus or exploration for exploration, focus in course.explored.values()] or [course.last]
    if course.repaired and course.mechanism == "document-rag":
        sources += [exploration for exploration, focus in course.explored.values() if focus]
    document = course.document_uri if fact.text else None
    agent.synthesis(
        say,
        course.synthesis_uri,
        sources,
        document,
        in_token=fact.in_token,
        out_token=fact.out_token,
        model=fact.model,
    )
    yield course.synthesis_uri, say
