"""What agents do, and how runs fail, as TrustGraph's batches: entity and statements of each."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from clew_translators import uris
from clew_translators.explain import names
from clew_translators.explain import trustgraph_agent as agent
from clew_translators.explain.statements import parse_time

if TYPE_CHECKING:
    from clew_schema.facts import (
        Concluded,
        FindingReceived,
        PatternChosen,
        PlanMade,
        PlanStepDone,
        QuestionDecomposed,
        RunFailed,
        ToolChosen,
        ToolObserved,
    )
    from clew_schema.stamp import Stamp
    from clew_translators.explain.trustgraph_course import Batches, Course

# --- agents ---------------------------------------------------------------------------------------


def pattern(fact: PatternChosen, course: Course) -> Batches:
    """How the agent works."""
    say, entity = course.say(), names.entity_of(fact, course.question)
    agent.pattern_decision(say, entity, course.question, fact.pattern, fact.task_type)
    yield entity, say


def chosen(fact: ToolChosen, course: Course) -> Batches:
    """An iteration, and its thought: in the same batch as TrustGraph does, or in one of its own."""
    say, entity = course.say(), uris.iteration_of(course.question, fact.number)
    thought = uris.thought_of(course.question, fact.number) if fact.thought else None
    agent.iteration(
        say,
        entity,
        previous_uri=course.seen(fact.number - 1),
        action=fact.action,
        arguments=fact.arguments,
        thought_uri=thought,
        thought_document_id=thought,
        tool_candidates=fact.candidates,
        step_number=fact.number,
        llm_duration_ms=_milliseconds(fact),
        in_token=fact.in_token,
        out_token=fact.out_token,
        model=fact.model,
        with_thought=not course.repaired,
    )
    yield entity, say
    if thought and course.repaired:
        say = course.say()
        agent.thought(say, thought, entity, thought)
        yield thought, say


def observed(fact: ToolObserved, course: Course) -> Batches:
    """What the tool said. It derives from the end of its own trace, where it has one."""
    say, entity = course.say(), uris.observation_of(course.question, fact.number)
    source = names.safe_iri(fact.trace_end) or uris.iteration_of(course.question, fact.number)
    error = (fact.error or fact.observation.removeprefix("Error: ")) if fact.failed else None
    document = entity if fact.observation else None
    agent.observation(say, entity, source, document, tool_duration_ms=_milliseconds(fact), tool_error=error)
    yield entity, say


def concluded(fact: Concluded, course: Course) -> Batches:
    """The end that an agent came to; of the others TrustGraph tells nothing."""
    question = course.question
    say = course.say()
    if fact.reason in {"plan-complete", "subagents-complete"}:
        entity = uris.synthesis_of(question)
        sources = course.findings if fact.reason == "subagents-complete" else [course.step]
        agent.synthesis(say, entity, list(filter(None, sources)) or course.last, f"{entity}/doc", fact.reason)
    else:
        is_answer = fact.reason == "final-answer"
        if not is_answer and not course.repaired:
            return  # TrustGraph answers an error then, and its trace just stops
        entity = uris.final_of(question)
        source = course.seen(fact.after) if is_answer else course.last
        document = uris.answer_of(question) if fact.answer else None
        agent.final(say, entity, previous_uri=source, document_id=document, termination_reason=fact.reason)
    yield entity, say


def plan(fact: PlanMade, course: Course) -> Batches:
    """The plan."""
    say, entity = course.say(), names.entity_of(fact, course.question)
    agent.plan(say, entity, course.start, fact.steps)
    yield entity, say


def step(fact: PlanStepDone, course: Course) -> Batches:
    """A step of it that is done."""
    say, entity = course.say(), names.entity_of(fact, course.question)
    agent.step_result(say, entity, course.plan or course.start, fact.goal, f"{entity}/doc")
    yield entity, say


def decomposed(fact: QuestionDecomposed, course: Course) -> Batches:
    """What other agents were asked."""
    say, entity = course.say(), names.entity_of(fact, course.question)
    agent.decomposition(say, entity, course.start, fact.goals)
    yield entity, say


def finding(fact: FindingReceived, course: Course) -> Batches:
    """What one of them answered."""
    say, entity = course.say(), names.entity_of(fact, course.question)
    trace = names.safe_iri(fact.trace_uri)
    source = uris.final_of(trace) if trace else course.decomposition or course.start
    agent.finding(say, entity, source, fact.goal, f"{entity}/doc")
    yield entity, say


def failed(fact: RunFailed, course: Course) -> Batches:
    """The end of a run that failed, of which TrustGraph tells nothing."""
    if not course.repaired:
        return
    # Beside the answer, not in its place: whoever repairs what failed lets the run go on to one.
    say, entity = course.say(), names.entity_of(fact, course.question, course.pauses)
    if course.mechanism == "agent":
        agent.final(say, entity, previous_uri=course.last, termination_reason="error")
    else:
        agent.synthesis(say, entity, course.last, termination_reason="error")
    yield entity, say


def _milliseconds(stamp: Stamp) -> int | None:
    """How long a step took; None where its times do not say."""
    start, end = parse_time(stamp.started_at), parse_time(stamp.ended_at)
    return (end - start) // timedelta(milliseconds=1) if start and end and start <= end else None
