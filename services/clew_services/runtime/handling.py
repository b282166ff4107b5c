"""A message in hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

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


def iso(seconds: float) -> str:
    """``seconds`` since 1970 as UTC in ISO 8601, with microseconds and a Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
