"""A message in hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from clew_schema.limits import DEFAULT_COLLECTION

if TYPE_CHECKING:
    from clew_schema.base import Message, RunMessage
    from clew_schema.envelope import Envelope
    from clew_services.runtime.step import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Handling:
    """A message in hand: which step has it, whose effect it is, and of which run. Times are seconds since 1970.

    ``run`` is null for a message that belongs to no run or could not be read.
    """

    step: Step[Any]
    envelope: Envelope
    cause: str
    session_id: str
    collection: str
    run: RunMessage | None
    started: float
    body: Message | None = None
    ended: float = 0.0

    def under(self, run: RunMessage | None) -> Handling:
        """This handling as a part of ``run``, when that is another run than the message named; else unchanged.

        Who asked, until when and by which correlation id stay those of the message in hand. Raises TypeError for a
        run of another collection: no message may reach into one.
        """
        if run is None:
            return self
        if (run.collection or DEFAULT_COLLECTION) != self.collection:
            msg = f"a message of collection {self.collection!r} cannot continue a run of {run.collection!r}"
            raise TypeError(msg)
        return replace(self, run=run, session_id=run.session_id)


def iso(seconds: float) -> str:
    """``seconds`` since 1970 as UTC in ISO 8601, with microseconds and a Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
