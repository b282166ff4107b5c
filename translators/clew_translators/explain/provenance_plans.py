"""Agents that plan, or ask other agents, as PROV-O: how it was decided to work, the plan and its steps, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import (
    FindingReceived,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QuestionDecomposed,
)
from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.explain.telling import run_at

if TYPE_CHECKING:
    from clew_translators.explain.telling import Telling

_Planned = PatternChosen | PlanMade | PlanStepDone | QuestionDecomposed | FindingReceived


def plan(telling: Telling, fact: _Planned, entity: str) -> None:
    """What an agent decided about its work, and what came of it."""
    match fact:
        case PatternChosen():
            _pattern(telling, fact, entity)
        case PlanMade():
            _made(telling, fact, entity)
        case PlanStepDone():
            _done(telling, fact, entity)
        case QuestionDecomposed():
            _decomposed(telling, fact, entity)
        case FindingReceived():
            _finding(telling, fact, entity)


def _pattern(telling: Telling, fact: PatternChosen, entity: str) -> None:
    telling.activity(names.activity_of(entity), names.PATTERN_CHOOSING, fact, used=(telling.question,))
    telling.entity(entity, names.PATTERN, (telling.question,))
    telling.say.text(names.PATTERN_NAME, fact.pattern)
    telling.say.text(names.TASK_TYPE, fact.task_type)


def _made(telling: Telling, fact: PlanMade, entity: str) -> None:
    say, activity = telling.say, names.activity_of(entity)
    used = (telling.question, *telling.told_last(PatternChosen))
    telling.activity(activity, names.PLAN_MAKING, fact, used=used, models=(fact.model,))
    telling.entity(entity, names.AGENT_PLAN, (telling.question,))
    telling.tokens(fact)
    steps = [names.planned_step_of(entity, number) for number in range(1, len(fact.steps) + 1)]
    for name in steps:
        say.link(names.HAS_STEP, name)
    for number, (name, text) in enumerate(zip(steps, fact.steps, strict=True), start=1):
        telling.entity(name, names.PLANNED_STEP, (telling.question,), activity)
        say.integer(names.NUMBER, number)
        say.plain(ns.PROV_VALUE, text)


def _done(telling: Telling, fact: PlanStepDone, entity: str) -> None:
    """A step was done because it was planned, and with what the steps before it came to."""
    say = telling.say
    planned = telling.planned_step(fact.number) or telling.told_last(PlanMade) or (telling.question,)
    used = (*planned, *telling.entities(PlanStepDone))
    telling.activity(names.activity_of(entity), names.STEP_DOING, fact, used=used, models=(fact.model,))
    telling.entity(entity, names.STEP_RESULT, planned)
    say.integer(names.NUMBER, fact.number)
    say.plain(names.GOAL_TEXT, fact.goal)
    telling.tokens(fact)
    say.plain(ns.PROV_VALUE, fact.result)


def _decomposed(telling: Telling, fact: QuestionDecomposed, entity: str) -> None:
    say, activity = telling.say, names.activity_of(entity)
    used = (telling.question, *telling.told_last(PatternChosen))
    telling.activity(activity, names.DECOMPOSING, fact, used=used, models=(fact.model,))
    telling.entity(entity, names.DECOMPOSITION, (telling.question,))
    telling.tokens(fact)
    goals = [names.goal_of(entity, number) for number in range(1, len(fact.goals) + 1)]
    for name in goals:
        say.link(names.HAS_GOAL, name)
    for number, (name, text) in enumerate(zip(goals, fact.goals, strict=True), start=1):
        telling.entity(name, names.GOAL, (telling.question,), activity)
        say.integer(names.NUMBER, number)
        say.plain(ns.PROV_VALUE, text)


def _finding(telling: Telling, fact: FindingReceived, entity: str) -> None:
    say, trace = telling.say, names.safe_iri(fact.trace_uri)
    asked = telling.goal(fact.number) or telling.told_last(QuestionDecomposed) or (telling.question,)
    telling.activity(names.activity_of(entity), names.RECEIVING, fact, used=asked)
    say.link(ns.PROV_WAS_INFORMED_BY, run_at(trace))
    telling.entity(entity, names.FINDING, asked)
    say.integer(names.NUMBER, fact.number)
    say.plain(names.GOAL_TEXT, fact.goal)
    say.link(names.TOOL_TRACE, trace)
    say.plain(ns.PROV_VALUE, fact.answer)
