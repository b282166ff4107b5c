"""``urn:graph:provenance``: the same run in conformant PROV-O, with everything that the seed's page has no term for.

Every step is an activity with typed times and the agents that took part; what it made is an entity of another name, so
nothing is both. The run itself is an activity, and its question the entity ``{run}/question`` that the steps used.
Entities that both graphs tell of (exploration, synthesis, analysis, conclusion) have one name in both; texts that the
retrieval graph already holds (answer, thought, observation) are not repeated. With the records of
:mod:`clew_translators.explain.record` the two graphs hold all that the facts do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    Concluded,
    EvidenceGraded,
    EvidenceRetrieved,
    PartsJoined,
    QueryRewritten,
    QuestionAsked,
    QuestionPlanned,
    RunFailed,
    RunPaused,
    RunResumed,
    TicketCancelled,
    ToolChosen,
    ToolObserved,
)
from clew_translators import namespaces as ns
from clew_translators.explain import names, provenance_agent, provenance_answer, provenance_course
from clew_translators.explain.statements import Statements
from clew_translators.explain.telling import PROV_COLLECTION, Telling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence
    from clew_schema.facts import Fact


def provenance_statements(
    facts: Sequence[Fact], question: str, collection: str, trail: Sequence[Fact]
) -> Statements:
    """``facts`` as PROV-O; ``trail`` is what the run established before them."""
    say = Statements(ns.GRAPH_PROVENANCE)
    so_far = list(trail)
    for fact in facts:
        _tell(Telling(say=say, run=question, collection=collection, so_far=tuple(so_far)), fact)
        so_far.append(fact)
    return say


def _tell(telling: Telling, fact: Fact) -> None:
    entity = names.entity_of(fact, telling.run, telling.so_far)
    match fact:
        case QuestionAsked():
            _question(telling, fact)
        case EvidenceRetrieved():
            _retrieval(telling, fact, entity)
        case EvidenceGraded():
            _grading(telling, fact, entity)
        case AnswerWritten():
            provenance_answer.answer(telling, fact, entity)
        case RunFailed():
            _failure(telling, fact, entity)
        case QuestionPlanned() | QueryRewritten() | PartsJoined() | BudgetExhausted():
            provenance_course.course(telling, fact, entity)
        case RunPaused() | RunResumed() | TicketCancelled():
            provenance_course.pause(telling, fact, entity)
        case ToolChosen() | ToolObserved() | Concluded():
            provenance_agent.iteration(telling, fact, entity)


def _question(telling: Telling, fact: QuestionAsked) -> None:
    say = telling.say
    say.about(telling.question, ns.PROV_ENTITY, names.QUESTION)
    say.plain(ns.PROV_VALUE, fact.query)
    # The run goes on after this step, and may go on after a failure: it has a start and no end.
    telling.activity(telling.run, names.RUN, fact, used=(telling.question,))
    say.text(names.COLLECTION, telling.collection)
    say.link(names.PARENT, names.safe_iri(fact.parent_uri))


def _retrieval(telling: Telling, fact: EvidenceRetrieved, entity: str) -> None:
    say, how = telling.say, fact.retrieval
    # A second pass happens because of what was decided about the first.
    used = (telling.question, *telling.occasions(fact))
    telling.activity(names.activity_of(entity), names.RETRIEVAL, fact, used=used, models=(how.embedder,))
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
    say.double(names.DENSE_SCORE, found.dense_score)
    say.integer(names.BM25_RANK, found.bm25_rank)
    say.double(names.BM25_SCORE, found.bm25_score)
    say.double(names.FUSED_SCORE, found.fused_score)
    say.double(names.RERANK_SCORE, found.rerank_score)
    say.plain(ns.PROV_VALUE, found.text)


def _grading(telling: Telling, fact: EvidenceGraded, entity: str) -> None:
    say, grade = telling.say, fact.grade
    evidence = names.exploration_of(telling.run, fact.part, fact.pass_number)
    activity = names.activity_of(entity)
    used = (telling.question, evidence)
    telling.activity(activity, names.GRADING, fact, used=used, models=(fact.grader,))
    say.text(names.PROMPT_VERSION, fact.prompt_version)
    say.integer(names.OMITTED, fact.omitted or None)
    say.integer(names.TRUNCATED, fact.truncated or None)
    telling.entity(entity, names.GRADE, (evidence,))
    say.text(names.RELEVANCE, grade.relevance)
    say.text(names.ANSWERABILITY, grade.answerability)
    say.text(names.AMBIGUITY, grade.ambiguity)
    say.text(names.SUGGESTED_ROUTE, grade.route)
    say.double(names.CONFIDENCE, grade.confidence)
    for slot in grade.missing_slots:
        say.text(names.MISSING_SLOT, slot)
    say.text(names.REASON, grade.reason)
    # The grader suggests, a rule decides: so the decision is another entity, of the same activity.
    telling.entity(names.decision_of(evidence), names.DECISION, (entity,), activity)
    say.text(names.ROUTE, fact.route)
    say.text(names.STATUS, fact.status)
    say.text(names.RESOLVED_BY, fact.resolved_by)
    say.text(names.ASKS, fact.asks)
    say.text(names.ERROR_TYPE, fact.failure)
    if fact.kept_pass:
        say.link(names.KEEPS, names.exploration_of(telling.run, fact.part, fact.kept_pass))


def _failure(telling: Telling, fact: RunFailed, entity: str) -> None:
    say = telling.say
    if not any(isinstance(earlier, QuestionAsked) for earlier in telling.so_far):
        # What failed could not even be read: the run still has a beginning that can be found.
        say.about(telling.run, ns.PROV_ACTIVITY, names.RUN)
        say.time(ns.PROV_STARTED_AT_TIME, fact.started_at)
        say.text(names.COLLECTION, telling.collection)
    telling.activity(names.activity_of(entity), names.FAILING, fact)
    telling.entity(entity, names.FAILURE, ())
    say.text(names.ERROR_TYPE, fact.error_type)
    say.text(names.MESSAGE, fact.message)
