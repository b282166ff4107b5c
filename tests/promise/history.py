"""What happened in a test run, as a file: one JSON object a line, written at once, so that it outlives who wrote it.

Whoever attacks the services (the simulation, the chaos of processes, the bad network, the soak) writes these events,
and :mod:`tests.promise.checker` judges them. Several processes may append to one file.

Times are seconds since 1970 by the clock of who writes; digests are the first 16 characters of a SHA-256 in hex.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Literal

Outcome = Literal["answer", "refusal", "ticket", "error"]


def digest(payload: bytes) -> str:
    """What a payload is known by."""
    return sha256(payload).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that the broker accepted. ``id`` is the caller's correlation id, different for each request."""

    kind: ClassVar[str] = "asked"
    at: float
    id: str
    topic: str
    session_id: str
    collection: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A response as a caller got it. ``outcome`` is set on what ends the request, and only there."""

    kind: ClassVar[str] = "heard"
    at: float
    id: str
    topic: str
    message_id: str
    digest: str
    outcome: Outcome | None = None
    error: str = ""
    empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A message that a service published and the broker took. ``message_id`` names its effect."""

    kind: ClassVar[str] = "published"
    at: float
    topic: str
    message_id: str
    attempt: int
    digest: str
    step: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A model that was asked while ``step`` handled the message of that ``cause``. ``key``: digest of what was asked.

    ``since`` is when that handling began, if it is known: two who handle one message at the same time know nothing of
    each other's records.
    """

    kind: ClassVar[str] = "called"
    at: float
    step: str
    cause: str
    model: str
    key: str
    since: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A row that the ledger kept: the effects of one message in one step."""

    kind: ClassVar[str] = "recorded"
    at: float
    step: str
    cause: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Acked:
    """A message that a step acknowledged."""

    kind: ClassVar[str] = "acked"
    at: float
    step: str
    topic: str
    broker_id: str
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Buried:
    """A dead letter that was written, with the digest of the body it keeps. ``id``: whose request it was a part of."""

    kind: ClassVar[str] = "buried"
    at: float
    letter_id: str
    cause: str
    step: str
    digest: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxed:
    """A dead letter that lies in the box at the end, or left it on purpose (``gone``: requeued or dropped)."""

    kind: ClassVar[str] = "boxed"
    at: float
    letter_id: str
    digest: str
    gone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch of triples that went to the explainability topic. ``name`` is its message id."""

    kind: ClassVar[str] = "batch"
    at: float
    run: str
    name: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A trace as the store holds it at the end. ``ended``: it tells how the run ended, or that it waits for a person."""

    kind: ClassVar[str] = "traced"
    at: float
    run: str
    session_id: str
    ended: bool
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something was done to the services: ``what`` says what (kill, pause, restart …) to ``whom``."""

    kind: ClassVar[str] = "fault"
    at: float
    what: str
    whom: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """The first work after a fault, so many ``seconds`` after ``whom`` was up again."""

    kind: ClassVar[str] = "recovered"
    at: float
    whom: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The run is over: ``backlog`` counts, per subscription, the messages that nobody acknowledged."""

    kind: ClassVar[str] = "ended"
    at: float
    backlog: dict[str, int]


Event = (
    Asked
    | Heard
    | Published
    | Called
    | Recorded
    | Acked
    | Buried
    | Boxed
    | Batch
    | Traced
    | Fault
    | Recovered
    | Ended
)
_KINDS: dict[str, Any] = {
    each.kind: each
    for each in (
        Asked,
        Heard,
        Published,
        Called,
        Recorded,
        Acked,
        Buried,
        Boxed,
        Batch,
        Traced,
        Fault,
        Recovered,
        Ended,
    )
}


class History:
    """Appends events to a file, each with one write, so that a killed process leaves whole lines."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def add(self, event: Event) -> None:
        """Write ``event`` down."""
        os.write(self._file, line(event).encode())

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def line(event: Event) -> str:
    """``event`` as a line of the file."""
    return json.dumps({"kind": event.kind} | asdict(event), ensure_ascii=False, separators=(",", ":")) + "\n"


def read(lines: Iterable[str]) -> Iterator[Event]:
    """The events of ``lines``. Raises ValueError for a line that is none, but for a last one that was cut off."""
    held = ""
    for number, text in enumerate(lines, 1):
        if held:
            raise ValueError(f"line {number - 1} is no event: {held[:100]!r}")
        try:
            fields = json.loads(text)
            made = _KINDS[fields.pop("kind")](**fields)
        except (ValueError, KeyError, TypeError):
            held = text
            continue
        yield made if not isinstance(made, Traced) else _traced(fields)


def _traced(fields: dict[str, Any]) -> Traced:
    return Traced(**fields | {"findings": tuple(fields["findings"])})
