"""A retrieval and its grading as PROV-O: the evidence, what was left out and why, and what was thought of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import EvidenceGraded, EvidenceRetrieved
from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.explain.telling import PROV_COLLECTION

if TYPE_CHECKING:
    from clew_schema.evidence import Evidence, Rejected
    from clew_translators.explain.telling import Telling


def evidence(telling: Telling, fact: EvidenceRetrieved | EvidenceGraded, entity: str) -> None:
    """What was found, or what a grader thinks of it."""
    match fact:
        case EvidenceRetrieved():
            _retrieval(telling, fact, entity)
        case EvidenceGraded():
            _grading(telling, fact, entity)


def _retrieval(telling: Telling, fact: EvidenceRetrieved, entity: str) -> None:
    say, how, activity = telling.say, fact.retrieval, names.activity_of(entity)
    # A second pass happens because of what was decided about the first.
    used = (telling.question, *telling.occasions(fact))
    reranker = how.rerank.model if how.rerank.attempted else ""
    telling.activity(activity, names.RETRIEVAL, fact, used=used, models=(how.embedder, reranker))
    say.plain(names.QUERY, fact.query)
    say.text(names.STAGE, fact.stage if fact.stage != "initial" else "")
    say.text(names.MODE, how.mode)
    say.integer(names.TOP_K, how.top_k)
    say.integer(names.CANDIDATE_COUNT, how.candidate_count)
    telling.entity(entity, PROV_COLLECTION, ())
    places = [names.evidence_of(entity, place) for place in range(1, len(fact.evidence) + 1)]
    for name in places:
        say.link(ns.PROV_HAD_MEMBER, name)
    for name, found in zip(places, fact.evidence, strict=True):
        _evidence(telling, name, found)
    for place, left in enumerate(fact.rejected, start=1):
        _rejected(telling, names.rejected_of(entity, place), left, activity)


def _evidence(telling: Telling, name: str, found: Evidence) -> None:
    say = telling.say
    say.about(name, ns.PROV_ENTITY, names.EVIDENCE)
    telling.place(found)
    say.link(ns.PROV_SPECIALIZATION_OF, names.chunk_of(found.chunk_id))
    say.integer(names.LEVEL, found.level)
    if found.parent_id:
        say.link(names.PARENT_CHUNK, names.chunk_of(found.parent_id))
    say.integer(names.MERGED_CHILDREN, found.merged_children or None)
    say.text(names.CONTENT_HASH, found.content_hash)
    say.integer(names.RANK, found.rank)
    say.integer(names.DENSE_RANK, found.dense_rank)
    say.integer(names.BM25_RANK, found.bm25_rank)
    _scores(telling, found)
    say.plain(ns.PROV_VALUE, found.text)


def _scores(telling: Telling, found: Evidence | Rejected) -> None:
    say = telling.say
    say.double(names.DENSE_SCORE, found.dense_score)
    say.double(names.BM25_SCORE, found.bm25_score)
    say.double(names.FUSED_SCORE, found.fused_score)
    say.double(names.RERANK_SCORE, found.rerank_score)


def _rejected(telling: Telling, name: str, left: Rejected, activity: str) -> None:
    """A chunk that was found and is no evidence. The retrieval made it known, as it did the evidence."""
    say = telling.say
    telling.entity(name, names.REJECTED, (), activity)
    say.link(ns.PROV_SPECIALIZATION_OF, names.chunk_of(left.chunk_id))
    say.text(names.REASON, left.reason)
    if left.document_id:
        say.link(names.DOCUMENT, names.document_of(left.document_id))
    say.integer(names.PAGE, left.page or None)
    say.integer(names.RANK, left.rank or None)
    _scores(telling, left)
    if left.into:
        say.link(names.MERGED_INTO, names.chunk_of(left.into))


def _grading(telling: Telling, fact: EvidenceGraded, entity: str) -> None:
    say, grade = telling.say, fact.grade
    found = names.exploration_of(telling.run, fact.part, fact.pass_number)
    activity = names.activity_of(entity)
    used = (telling.question, found)
    telling.activity(
        activity, names.GRADING, fact, used=used, models=(fact.grader,), prompt=fact.prompt_version
    )
    say.integer(names.OMITTED, fact.omitted or None)
    say.integer(names.TRUNCATED, fact.truncated or None)
    telling.entity(entity, names.GRADE, (found,))
    say.text(names.RELEVANCE, grade.relevance)
    say.text(names.ANSWERABILITY, grade.answerability)
    say.text(names.AMBIGUITY, grade.ambiguity)
    say.text(names.SUGGESTED_ROUTE, grade.route)
    say.double(names.CONFIDENCE, grade.confidence)
    for slot in grade.missing_slots:
        say.text(names.MISSING_SLOT, slot)
    say.text(names.REASON, grade.reason)
    _chunk_grades(telling, fact, entity, found)
    # The grader suggests, a rule decides: so the decision is another entity, of the same activity.
    telling.entity(names.decision_of(found), names.DECISION, (entity,), activity)
    say.text(names.ROUTE, fact.route)
    say.text(names.STATUS, fact.status)
    say.text(names.RESOLVED_BY, fact.resolved_by)
    say.text(names.ASKS, fact.asks)
    say.text(names.ERROR_TYPE, fact.failure)
    if fact.kept_pass:
        say.link(names.KEEPS, names.exploration_of(telling.run, fact.part, fact.kept_pass))


def _chunk_grades(telling: Telling, fact: EvidenceGraded, entity: str, found: str) -> None:
    """What the grader thinks of single chunks: each derives from the evidence it is about, if the run told of that."""
    say, activity = telling.say, names.activity_of(entity)
    count = telling.evidence_count(fact.part, fact.pass_number) if fact.grade.chunks else 0
    for at, graded in enumerate(fact.grade.chunks, start=1):
        known = 1 <= graded.place <= count
        source = names.evidence_of(found, graded.place) if known else found
        telling.entity(names.chunk_grade_of(entity, at), names.CHUNK_GRADE, (source,), activity)
        say.integer(names.NUMBER, graded.place)
        say.text(names.RELEVANCE, graded.relevance)
        say.text(names.REASON, graded.reason)
