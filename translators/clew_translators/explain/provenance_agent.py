"""An agent's iterations and its conclusion as PROV-O. Their texts stand in the retrieval graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import Concluded, ToolChosen, ToolObserved
from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain import names

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
    source = _seen(telling, fact.number - 1)
    activity = names.activity_of(entity)
    telling.activity(activity, names.THINKING, fact, used=(source,), models=(fact.model,))
    telling.entity(entity, names.CHOICE, (source,))
    telling.say.integer(names.NUMBER, fact.number)
    telling.say.integer(names.IN_TOKEN, fact.in_token)
    telling.say.integer(names.OUT_TOKEN, fact.out_token)


def _observation(telling: Telling, fact: ToolObserved, entity: str) -> None:
    say = telling.say
    observation = uris.observation_of(telling.run, fact.number)
    trace = names.safe_iri(fact.trace_uri)
    telling.activity(names.activity_of(observation), names.TOOL_USE, fact, used=(entity,))
    if (asked := uris.run_of(trace)) and uris.question_of(*asked) == trace:
        say.link(ns.PROV_WAS_INFORMED_BY, trace)
    telling.entity(observation, names.OBSERVATION, (entity,))
    say.integer(names.NUMBER, fact.number)
    say.boolean(names.FAILED, fact.failed)
    say.link(names.TOOL_TRACE, trace)


def _conclusion(telling: Telling, fact: Concluded, entity: str) -> None:
    source = _seen(telling, fact.after)
    telling.activity(names.activity_of(entity), names.CONCLUDING, fact, used=(source,))
    telling.entity(entity, names.CONCLUSION, (source,))
    telling.say.text(names.TERMINATION, fact.reason)
    telling.say.text(names.THOUGHT, fact.thought)


def _seen(telling: Telling, number: int) -> str:
    """What the agent saw last after its ``number``-th iteration: nothing but the question at first."""
    return uris.observation_of(telling.run, number) if number > 0 else telling.question
