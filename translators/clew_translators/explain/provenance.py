"""``urn:graph:provenance``: the same run in conformant PROV-O, with everything that the seed's page has no term for.

Every step is an activity with typed times and the agents that took part; what it made is an entity of another name, so
nothing is both. The run itself is an activity, and its question the entity ``{run}/question`` that the steps used.
Entities that both graphs tell of (exploration, synthesis, analysis, conclusion) have one name in both; texts that the
retrieval graph already holds (answer, thought, observation) are not repeated, but told here where it holds none. With
the records of :mod:`clew_translators.explain.record` the two graphs hold all that the facts do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from clew_translators import namespaces as ns
from clew_translators.explain import (
    names,
    provenance_agent,
    provenance_answer,
    provenance_course,
    provenance_graph,
    provenance_plans,
    provenance_retrieval,
)
from clew_translators.explain.statements import Statements
from clew_translators.explain.telling import Telling, entity_at, run_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact


def provenance_statements(
    facts: Sequence[Fact], question: str, collection: str, trail: Sequence[Fact], *, texts: bool = False
) -> Statements:
    """``facts`` as PROV-O; ``trail`` is what the run established before them.

    With ``texts`` the answer, and what an agent thought, chose and saw, are told here too: of a run whose retrieval
    graph points to documents instead.
    """
    say = Statements(ns.GRAPH_PROVENANCE)
    so_far = tuple(trail)
    for fact in facts:
        telling = Telling(say=say, run=question, collection=collection, so_far=so_far, texts=texts)
        _tell(telling, fact)
        so_far = (*so_far, fact)
    return say


def _tell(telling: Telling, fact: Fact) -> None:
    entity = names.entity_of(fact, telling.run, telling.so_far)
    match fact:
        case QuestionAsked():
            _question(telling, fact)
        case EvidenceRetrieved() | EvidenceGraded():
            provenance_retrieval.evidence(telling, fact, entity)
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
        case PatternChosen() | PlanMade() | PlanStepDone() | QuestionDecomposed() | FindingReceived():
            provenance_plans.plan(telling, fact, entity)
        case QuestionGrounded() | EdgesRetrieved() | EdgesSelected():
            provenance_graph.graph(telling, fact, entity)


def _question(telling: Telling, fact: QuestionAsked) -> None:
    say, parent = telling.say, names.safe_iri(fact.parent_uri)
    # A question that an agent asked for its own ends is no person's.
    person = telling.person(fact.person) if fact.person or not parent else ""
    say.about(telling.question, ns.PROV_ENTITY, names.QUESTION)
    say.plain(ns.PROV_VALUE, fact.query)
    say.link(ns.PROV_WAS_ATTRIBUTED_TO, person)
    # The run goes on after this step, and may go on after a failure: it has a start and no end.
    telling.activity(telling.run, names.RUN, fact, used=(telling.question,))
    say.text(names.COLLECTION, telling.collection)
    say.text(names.TRACEPARENT, fact.traceparent)
    say.link(names.PARENT, parent)
    # What starts an activity is an entity; another run is an activity, and informs.
    say.link(ns.PROV_WAS_STARTED_BY, entity_at(parent))
    say.link(ns.PROV_WAS_INFORMED_BY, run_at(parent))


def _failure(telling: Telling, fact: RunFailed, entity: str) -> None:
    say = telling.say
    if not any(isinstance(earlier, QuestionAsked) for earlier in telling.so_far):
        # What failed could not even be read: the run can be found still. When it began nobody knows.
        say.about(telling.run, ns.PROV_ACTIVITY, names.RUN)
        say.text(names.COLLECTION, telling.collection)
    telling.activity(names.activity_of(entity), names.FAILING, fact)
    telling.entity(entity, names.FAILURE, ())
    say.text(names.ERROR_TYPE, fact.error_type)
    say.text(names.MESSAGE, fact.message)
    say.text(names.DEAD_LETTER, fact.letter)
    say.integer(names.ATTEMPT, fact.attempt)
