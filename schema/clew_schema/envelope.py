"""The properties beside a message body: who asked, what this is an effect of, how often it was tried.

A publisher needs none of them. ``id`` is the caller's own correlation id and comes back on every
response; the rest the services set for each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from clew_schema.limits import MAX_PROPERTIES, MAX_PROPERTY_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

ID = "id"
SESSION_ID = "session-id"
MESSAGE_ID = "message-id"
ATTEMPT = "attempt"
DUE = "due"
REPLY_TO = "reply-to"
TRACEPARENT = "traceparent"
DEADLINE = "deadline"
TRACE = "trace"
SEQUENCE = "sequence"
STREAM = "stream"
ASKED_AT = "asked-at"
FAILURES = "failures"

KNOWN = frozenset(
    {ID, SESSION_ID, MESSAGE_ID, ATTEMPT, DUE, REPLY_TO, TRACEPARENT, DEADLINE, TRACE, ASKED_AT, FAILURES}
)
"""The properties that an Envelope reads by name, and the one that tells of earlier attempts."""

_MOST_ATTEMPTS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A message's properties, read.

    ``attempt`` counts from 1. ``due`` and ``deadline`` are milliseconds since 1970 (0: none).
    ``traced`` is false for a run whose caller does not want a trace. ``asked_at`` is when the run began, for a
    message that is sent again. Properties that are not ours are kept in ``other`` and travel on with
    a retry or a dead letter, not with effects.
    """

    id: str = ""
    session_id: str = ""
    message_id: str = ""
    attempt: int = 1
    due: int = 0
    reply_to: str = ""
    traceparent: str = ""
    deadline: int = 0
    traced: bool = True
    asked_at: str = ""
    other: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, properties: Mapping[str, str]) -> Envelope:
        """Read ``properties``: a courtesy, not a contract, so nothing in them is an error.

        A number that is none, and a value longer than MAX_PROPERTY_CHARACTERS, count as absent; of
        those that are not ours, the first MAX_PROPERTIES are kept.
        """
        properties = {k: v for k, v in properties.items() if len(k) + len(v) <= MAX_PROPERTY_CHARACTERS}
        return cls(
            id=properties.get(ID, ""),
            session_id=properties.get(SESSION_ID, ""),
            message_id=properties.get(MESSAGE_ID, ""),
            attempt=min(max(1, _number(properties, ATTEMPT)), _MOST_ATTEMPTS),
            due=_number(properties, DUE),
            reply_to=properties.get(REPLY_TO, ""),
            traceparent=properties.get(TRACEPARENT, ""),
            deadline=_number(properties, DEADLINE),
            traced=properties.get(TRACE, "") != "off",
            asked_at=properties.get(ASKED_AT, ""),
            other=dict(islice(((k, v) for k, v in properties.items() if k not in KNOWN), MAX_PROPERTIES)),
        )

    def properties(self) -> dict[str, str]:
        """Write the properties down; absent ones are left out."""
        named = {
            ID: self.id,
            SESSION_ID: self.session_id,
            MESSAGE_ID: self.message_id,
            ATTEMPT: str(self.attempt) if self.attempt > 1 else "",
            DUE: str(self.due) if self.due else "",
            REPLY_TO: self.reply_to,
            TRACEPARENT: self.traceparent,
            DEADLINE: str(self.deadline) if self.deadline else "",
            TRACE: "" if self.traced else "off",
            ASKED_AT: self.asked_at,
        }
        return dict(self.other) | {k: v for k, v in named.items() if v}

    def effect(self, message_id: str, session_id: str) -> Envelope:
        """The envelope of a message that this one causes: same caller, same deadline, first attempt."""
        return replace(
            self, message_id=message_id, session_id=session_id, attempt=1, due=0, asked_at="", other={}
        )

    def retry(self, due: int) -> Envelope:
        """The envelope of the delayed copy that is tried next, at ``due``."""
        return replace(self, attempt=self.attempt + 1, due=due)


def _number(properties: Mapping[str, str], name: str) -> int:
    text = properties.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0
