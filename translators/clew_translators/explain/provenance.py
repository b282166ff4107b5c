"""``urn:graph:provenance``: the same run in conformant PROV-O, with everything that the seed's page has no term for.

Every step is an activity with typed times and the agents that took part; what it made is an entity of another name, so
nothing is both. The run itself is an activity, and its question the entity ``{run}/question`` that the steps used.
Entities that both graphs tell of (exploration, synthesis, analysis, conclusion) have one name in both; texts that the
retrieval graph already holds (answer, thought, observation) are not repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EvidenceGraded,
    EvidenceRetrieved,
    QuestionAsked,
    RunFailed,
    ToolChosen,
    ToolObserved,
)
from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain import names
from clew_translators.explain.spec import explorations
from clew_translators.explain.statements import Statements, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew_schema.evidence import Citation, Evidence
    from clew_schema.facts import Fact


PROV_COLLECTION = ns.PROV + "Collection"


def provenance_statements(
    facts: Sequence[Fact], question: str, collection: str, trail: Sequence[Fact]
) -> Statements:
    """``facts`` as PROV-O; ``trail`` is what the run established before them."""
    say = Statements(ns.GRAPH_PROVENANCE)
    so_far = list(trail)
    for fact in facts:
        _Telling(say=say, run=question, collection=collection, so_far=tuple(so_far)).tell(fact)
        so_far.append(fact)
    return say


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """One fact being told, after ``so_far``."""

    say: Statements
    run: str
    collection: str
    so_far: tuple[Fact, ...]

    @property
    def question(self) -> str:
        return f"{self.run}/question"

    def tell(self, fact: Fact) -> None:
        entity = names.entity_of(fact, self.run)
        match fact:
            case QuestionAsked():
                self._question(fact)
            case EvidenceRetrieved():
                self._retrieval(fact, entity)
            case EvidenceGraded():
                self._grading(fact, entity)
            case AnswerWritten():
                self._answer(fact, entity)
            case ToolChosen():
                self._choice(fact, entity)
            case ToolObserved():
                self._observation(fact, entity)
            case Concluded():
                self._conclusion(fact, entity)
            case RunFailed():
                self._failure(fact, entity)

    # --- what every step has in common ------------------------------------------------------------

    def _activity(
        self,
        name: str,
        type_: str,
        fact: Fact,
        *,
        used: Iterable[str] = (),
        models: Iterable[str | None] = (),
    ) -> None:
        """The activity that made ``fact`` true. An end before its start (a clock set back) is not told."""
        agents = {names.model_of(model): model for model in models if model}
        if service := fact.step.partition(".")[0]:
            agents = {names.service_of(service): service} | agents
        for agent, label in agents.items():
            self.say.about(agent, ns.PROV_AGENT, ns.PROV_SOFTWARE_AGENT)
            self.say.text(ns.RDFS_LABEL, label)
        self.say.about(name, ns.PROV_ACTIVITY, type_)
        self.say.text(ns.RDFS_LABEL, fact.step)
        self.say.time(ns.PROV_STARTED_AT_TIME, fact.started_at)
        if type_ != names.RUN and _in_order(fact.started_at, fact.ended_at):
            self.say.time(ns.PROV_ENDED_AT_TIME, fact.ended_at)
        for agent in agents:
            self.say.link(ns.PROV_WAS_ASSOCIATED_WITH, agent)
        for entity in used:
            self.say.link(ns.PROV_USED, entity)

    def _entity(self, name: str, type_: str, sources: Iterable[str]) -> None:
        self.say.about(name, ns.PROV_ENTITY, type_)
        self.say.link(ns.PROV_WAS_GENERATED_BY, names.activity_of(name))
        for source in sources:
            self.say.link(ns.PROV_WAS_DERIVED_FROM, source)

    # --- the kinds of fact ------------------------------------------------------------------------

    def _question(self, fact: QuestionAsked) -> None:
        self.say.about(self.question, ns.PROV_ENTITY, names.QUESTION)
        self.say.plain(ns.PROV_VALUE, fact.query)
        # The run goes on after this step, and may go on after a failure: it has a start and no end.
        self._activity(self.run, names.RUN, fact, used=(self.question,))
        self.say.text(names.COLLECTION, self.collection)
        self.say.link(names.PARENT, names.safe_iri(fact.parent_uri))

    def _retrieval(self, fact: EvidenceRetrieved, entity: str) -> None:
        how = fact.retrieval
        # A second pass happens because of what was decided about the first.
        used = (self.question, *_decisions(self.so_far, self.run, fact.part))
        self._activity(names.activity_of(entity), names.RETRIEVAL, fact, used=used, models=(how.embedder,))
        self.say.plain(names.QUERY, fact.query)
        self.say.text(names.MODE, how.mode)
        self.say.integer(names.TOP_K, how.top_k)
        self.say.integer(names.CANDIDATE_COUNT, how.candidate_count)
        self._entity(entity, PROV_COLLECTION, ())
        places = [names.evidence_of(entity, place) for place in range(1, len(fact.evidence) + 1)]
        for name in places:
            self.say.link(ns.PROV_HAD_MEMBER, name)
        for name, found in zip(places, fact.evidence, strict=True):
            self._evidence(name, found)

    def _evidence(self, name: str, found: Evidence) -> None:
        say = self.say
        say.about(name, ns.PROV_ENTITY, names.EVIDENCE)
        self._place(found)
        say.link(ns.PROV_SPECIALIZATION_OF, names.chunk_of(found.chunk_id))
        say.text(names.CONTENT_HASH, found.content_hash)
        say.integer(names.RANK, found.rank)
        say.integer(names.DENSE_RANK, found.dense_rank)
        say.double(names.DENSE_SCORE, found.dense_score)
        say.integer(names.BM25_RANK, found.bm25_rank)
        say.double(names.BM25_SCORE, found.bm25_score)
        say.double(names.FUSED_SCORE, found.fused_score)
        say.double(names.RERANK_SCORE, found.rerank_score)
        say.plain(ns.PROV_VALUE, found.text)

    def _place(self, span: Evidence | Citation) -> None:
        say = self.say
        if span.document_id:
            say.link(names.DOCUMENT, names.document_of(span.document_id))
        say.text(names.VERSION, span.version)
        say.text(names.FILENAME, span.filename)
        say.integer(names.PAGE, span.page or None)
        say.integer(names.START, span.start)
        say.integer(names.END, span.end)

    def _grading(self, fact: EvidenceGraded, entity: str) -> None:
        say, grade = self.say, fact.grade
        evidence = names.exploration_of(self.run, fact.part, fact.pass_number)
        activity = names.activity_of(entity)
        self._activity(activity, names.GRADING, fact, used=(self.question, evidence), models=(fact.grader,))
        self._entity(entity, names.GRADE, (evidence,))
        say.text(names.RELEVANCE, grade.relevance)
        say.text(names.ANSWERABILITY, grade.answerability)
        say.text(names.AMBIGUITY, grade.ambiguity)
        say.text(names.SUGGESTED_ROUTE, grade.route)
        say.double(names.CONFIDENCE, grade.confidence)
        for slot in grade.missing_slots:
            say.text(names.MISSING_SLOT, slot)
        say.text(names.REASON, grade.reason)
        # The grader suggests, a rule decides: so the decision is another entity, of the same activity.
        say.about(names.decision_of(evidence), ns.PROV_ENTITY, names.DECISION)
        say.link(ns.PROV_WAS_GENERATED_BY, activity)
        say.link(ns.PROV_WAS_DERIVED_FROM, entity)
        say.text(names.ROUTE, fact.route)
        say.text(names.STATUS, fact.status)
        say.text(names.RESOLVED_BY, fact.resolved_by)

    def _answer(self, fact: AnswerWritten, entity: str) -> None:
        say = self.say
        sources = explorations(self.so_far, self.run)
        decisions = _decisions(self.so_far, self.run)
        activity = names.activity_of(entity)
        used = (self.question, *sources, *decisions)
        self._activity(activity, names.WRITING, fact, used=used, models=(fact.writer, fact.model))
        self._entity(entity, names.ANSWER, (*sources, *decisions) or (self.question,))
        say.text(names.OUTCOME, fact.outcome)
        say.integer(names.IN_TOKEN, fact.in_token)
        say.integer(names.OUT_TOKEN, fact.out_token)
        cited = [f"{entity}/citation/{place}" for place in range(1, len(fact.citations) + 1)]
        for name in cited:
            say.link(names.CITES, name)
        for name, citation in zip(cited, fact.citations, strict=True):
            self._citation(name, citation, activity)

    def _citation(self, name: str, citation: Citation, activity: str) -> None:
        say = self.say
        say.about(name, ns.PROV_ENTITY, names.CITATION)
        say.link(ns.PROV_WAS_GENERATED_BY, activity)
        say.integer(names.NUMBER, citation.number)
        self._place(citation)
        say.link(ns.PROV_WAS_QUOTED_FROM, names.chunk_of(citation.chunk_id))
        for evidence in _retrieved(self.so_far, self.run, citation.chunk_id):
            say.link(ns.PROV_WAS_DERIVED_FROM, evidence)
        say.plain(ns.PROV_VALUE, citation.quote)

    def _choice(self, fact: ToolChosen, entity: str) -> None:
        source = self._seen(fact.number - 1)
        self._activity(names.activity_of(entity), names.THINKING, fact, used=(source,), models=(fact.model,))
        self._entity(entity, names.CHOICE, (source,))
        self.say.integer(names.NUMBER, fact.number)
        self.say.integer(names.IN_TOKEN, fact.in_token)
        self.say.integer(names.OUT_TOKEN, fact.out_token)

    def _observation(self, fact: ToolObserved, entity: str) -> None:
        observation = uris.observation_of(self.run, fact.number)
        trace = names.safe_iri(fact.trace_uri)
        self._activity(names.activity_of(observation), names.TOOL_USE, fact, used=(entity,))
        if (asked := uris.run_of(trace)) and uris.question_of(*asked) == trace:
            self.say.link(ns.PROV_WAS_INFORMED_BY, trace)
        self._entity(observation, names.OBSERVATION, (entity,))
        self.say.integer(names.NUMBER, fact.number)
        self.say.boolean(names.FAILED, fact.failed)
        self.say.link(names.TOOL_TRACE, trace)

    def _conclusion(self, fact: Concluded, entity: str) -> None:
        source = self._seen(fact.after)
        self._activity(names.activity_of(entity), names.CONCLUDING, fact, used=(source,))
        self._entity(entity, names.CONCLUSION, (source,))
        self.say.text(names.TERMINATION, fact.reason)
        self.say.text(names.THOUGHT, fact.thought)

    def _failure(self, fact: RunFailed, entity: str) -> None:
        if not any(isinstance(earlier, QuestionAsked) for earlier in self.so_far):
            # What failed could not even be read: the run still has a beginning that can be found.
            self.say.about(self.run, ns.PROV_ACTIVITY, names.RUN)
            self.say.time(ns.PROV_STARTED_AT_TIME, fact.started_at)
            self.say.text(names.COLLECTION, self.collection)
        self._activity(names.activity_of(entity), names.FAILING, fact)
        self._entity(entity, names.FAILURE, ())
        self.say.text(names.ERROR_TYPE, fact.error_type)
        self.say.text(names.MESSAGE, fact.message)

    def _seen(self, number: int) -> str:
        """What the agent saw last after its ``number``-th iteration: nothing but the question at first."""
        return uris.observation_of(self.run, number) if number > 0 else self.question


def _in_order(start: str, end: str) -> bool:
    began, ended = parse_time(start), parse_time(end)
    return ended is not None and (began is None or began <= ended)


def _decisions(facts: Sequence[Fact], run: str, part: int | None = None) -> tuple[str, ...]:
    """The decisions that stand after ``facts``: the latest of ``part``, or of each part."""
    latest: dict[int, int] = {}
    for fact in facts:
        if isinstance(fact, EvidenceGraded) and part in {None, fact.part}:
            latest[fact.part] = max(fact.pass_number, latest.get(fact.part, fact.pass_number))
    return tuple(names.decision_of(names.exploration_of(run, *key)) for key in sorted(latest.items()))


def _retrieved(facts: Sequence[Fact], run: str, chunk_id: str) -> tuple[str, ...]:
    """The chunk as the run retrieved it last; nothing when it never did."""
    for fact in reversed(facts):
        if isinstance(fact, EvidenceRetrieved):
            for place, found in enumerate(fact.evidence, start=1):
                if found.chunk_id == chunk_id:
                    entity = names.exploration_of(run, fact.part, fact.pass_number)
                    return (names.evidence_of(entity, place),)
    return ()
