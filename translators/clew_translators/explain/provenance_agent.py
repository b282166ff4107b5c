"""An agent's iterations and its conclusion as PROV-O. Their texts stand in the retrieval graph, if that holds texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import (
    Concluded,
    FindingReceived,
    PatternChosen,
    PlanStepDone,
    ToolChosen,
    ToolObserved,
)
from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain import names
from clew_translators.explain.telling import entity_at, run_at

if TYPE_CHECKING:
    from clew_translators.explain.telling import Telling


def iteration(telling: Telling, fact: ToolChosen | ToolObserved | Concluded, entity: str) -> None:
    """What the agent chose, saw or concluded."""
    match fact:
        case ToolChosen():
            _choice(telling, fact, entity)
        case ToolObserved():
            _observation(telling, fact, entity)
        case Concluded():
            _conclusion(telling, fact, entity)


def _choice(telling: Telling, fact: ToolChosen, entity: str) -> None:
    say = telling.say
    sources = telling.observations(fact.number, fact.uses) or (telling.question,)
    used = (*sources, *telling.told_last(PatternChosen))
    activity = names.activity_of(entity)
    telling.activity(
        activity, names.THINKING, fact, used=used, models=(fact.model,), prompt=fact.prompt_version
    )
    telling.entity(entity, names.CHOICE, sources)
    say.integer(names.NUMBER, fact.number)
    for candidate in fact.candidates:
        say.text(names.CANDIDATE, candidate)
    telling.tokens(fact)
    if telling.texts:
        say.plain(names.THOUGHT, fact.thought)
        say.plain(names.ACTION, fact.action)
        say.document(names.ARGUMENTS, fact.arguments)


def _observation(telling: Telling, fact: ToolObserved, entity: str) -> None:
    say = telling.say
    observation = uris.observation_of(telling.run, fact.number)
    trace, end = names.safe_iri(fact.trace_uri), names.safe_iri(fact.trace_end)
    telling.activity(names.activity_of(observation), names.TOOL_USE, fact, used=(entity, entity_at(end)))
    say.link(ns.PROV_WAS_INFORMED_BY, run_at(trace))
    telling.entity(observation, names.OBSERVATION, (entity, entity_at(end)))
    say.integer(names.NUMBER, fact.number)
    say.boolean(names.FAILED, fact.failed)
    say.text(names.MESSAGE, fact.error)
    say.link(names.TOOL_TRACE, trace)
    say.link(names.TRACE_END, end)
    if telling.texts:
        say.plain(ns.PROV_VALUE, fact.observation)


def _conclusion(telling: Telling, fact: Concluded, entity: str) -> None:
    say = telling.say
    sources = telling.observations(fact.after + 1, fact.uses)
    sources = (*sources, *telling.entities(PlanStepDone, FindingReceived)) or (telling.question,)
    telling.activity(
        names.activity_of(entity),
        names.CONCLUDING,
        fact,
        used=sources,
        models=(fact.model,),
        prompt=fact.prompt_version,
    )
    telling.entity(entity, names.CONCLUSION, sources)
    say.text(names.TERMINATION, fact.reason)
    say.text(names.THOUGHT, fact.thought)
    telling.tokens(fact)
    if telling.texts:
        say.plain(ns.PROV_VALUE, fact.answer)
