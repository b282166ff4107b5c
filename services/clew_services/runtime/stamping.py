"""What a step established, as it is told: stamped, and sealed after the facts before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic_core import PydanticSerializationError

from clew_services.runtime.handling import Handling, iso
from clew_translators import bus
from clew_translators.explain.seal import sealed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact

_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
"""W3C Trace Context, 3.2.2: version, trace, parent, flags. What a later version adds follows a dash."""


def trail_of(handling: Handling) -> tuple[Fact, ...]:
    """The facts of the run before this step, as they travelled; none where there is no run."""
    caller, run = handling.step.caller, handling.run
    return caller.trail(run) if caller and run else ()


def established(handling: Handling, facts: Sequence[Fact], version: str) -> tuple[Fact, ...]:
    """``facts``, stamped by a service of ``version``, after the fact that the run began, if this message began it.

    Sealed: the chain goes on from the last fact of the trail. The same handling gives the same facts.
    """
    told = (*_opening(handling), *(_stamped(fact, handling, version) for fact in facts))
    try:
        return sealed(told, trail_of(handling))
    except PydanticSerializationError:
        # Half a character, from a model that was cut: what is sealed is what the bus makes of it.
        travelled: list[Fact] = [bus.decode(type(fact), bus.encode(fact)) for fact in told]  # type: ignore[misc]
        return sealed(travelled, trail_of(handling))


def _opening(handling: Handling) -> tuple[Fact, ...]:
    """The fact that the run began, the same whenever its message is sent again, so that no seal after it breaks.

    It began when the message first came, in an instant, and under no version: a newer one may repair what failed.
    """
    caller, run = handling.step.caller, handling.run
    opening = caller.opening(run) if caller and run else None
    if opening is None:
        return ()
    envelope = handling.envelope
    asked_at = envelope.asked_at or iso(handling.started)
    stamp = {"step": handling.step.name, "started_at": asked_at, "ended_at": asked_at}
    return (opening.model_copy(update=stamp | {"traceparent": traceparent_of(envelope.traceparent)}),)


def traceparent_of(text: str) -> str:
    """The part of ``text`` that every version of W3C Trace Context reads alike; ``""`` when it is no traceparent."""
    found = _TRACEPARENT.match(text)
    if found is None or text[found.end() :][:1] not in {"", "-"}:
        return ""
    return "" if text.startswith("00") and len(text) > found.end() else found.group()


def _stamped(fact: Fact, handling: Handling, version: str) -> Fact:
    return fact.model_copy(
        update={
            "step": handling.step.name,
            "started_at": iso(handling.started),
            "ended_at": iso(handling.ended),
            "version": version,
        }
    )
