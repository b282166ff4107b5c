"""Reading the facts of a run so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from clew_services.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact

F = TypeVar("F")


def latest(trail: Sequence[Fact], kind: type[F]) -> F:
    """The newest fact of ``kind``. Raises Unreadable when there is none: then this is no message of a run."""
    for fact in reversed(trail):
        if isinstance(fact, kind):
            return fact
    raise Unreadable(f"the trail holds no {kind.__name__}: the message was not written by a step of a run")
