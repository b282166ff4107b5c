"""What the commands of ``clew dead`` share: which letters are meant, how one is shown, and the box itself."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from clew_services.cli.common import fail, load, out, say, start, utf8

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from clew_schema.dead_letters import LetterFilter
    from clew_schema.errors import DeadLetter
    from clew_services.dead_letters import DeadLetters

T = TypeVar("T")
LetterArgument = Annotated[str, typer.Argument(metavar="ID", help="A letter's id, or its beginning.")]
StepOption = Annotated[
    str, typer.Option("--step", help="Only letters of this step, or of this service.", metavar="NAME")
]
ErrorOption = Annotated[str, typer.Option("--error", help="Only letters with this error.", metavar="TYPE")]
LetterCollectionOption = Annotated[
    str | None,
    typer.Option("--collection", "-c", help="Only letters of this collection. [default: of every one]"),
]
NewerOption = Annotated[
    str,
    typer.Option("--newer", help="Only letters buried since this time, or in this age: 90s, 15m, 2h, 3d."),
]
OlderOption = Annotated[
    str, typer.Option("--older", help="Only letters buried before this time, or longer ago than this age.")
]
LimitOption = Annotated[
    int, typer.Option("--limit", "-n", min=0, help="At most so many, the oldest; 0: all.")
]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def filtered(
    step: str, error: str, collection: str | None, newer: str, older: str, limit: int
) -> LetterFilter:
    """What the options say. Ends the process with 2 for a time that is none."""
    from clew_schema.dead_letters import LetterFilter

    return LetterFilter(
        step=utf8(step),
        error_type=utf8(error),
        collection=utf8(collection or ""),
        all_collections=collection is None,
        newer=_time(newer, "--newer"),
        older=_time(older, "--older"),
        limit=limit,
    )


def _time(text: str, option: str) -> str:
    """A time, or so long before now, in ISO 8601."""
    from clew_services.errors import BadRequest
    from clew_services.letter_filter import moment

    try:
        if age := re.fullmatch(r"(\d{1,9})([smhd])", text, re.ASCII):
            past = datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
            return past.isoformat()
        at = moment(text, option)
    except (BadRequest, OverflowError):
        fail(
            "bad-request",
            f"{option} {text[:60]!r} is neither a time (2026-12-01T13:00:00Z) nor an age (2h)",
            2,
        )
    return at.isoformat() if at else ""


def with_letters(data: Path | None, work: Callable[[DeadLetters], Awaitable[T]]) -> T:
    """Let ``work`` have the box of the broker that the settings name. Ends the process when there is none."""
    settings = load(data)

    async def visit() -> T:
        from clew_services.cli.connect import parts_of
        from clew_services.dead_letters import DeadLetters

        async with parts_of(settings) as parts:
            return await work(DeadLetters(await parts.bus(), settings.space))

    return start(visit())


def found(letter: DeadLetter | None, letter_id: str) -> DeadLetter:
    """``letter``; ends the process with 1 when there is none."""
    if letter is None:
        fail(
            "unknown-letter",
            f"there is no dead letter {letter_id!r}: see `clew dead list`. "
            "Or somebody else has the box open: then try again",
        )
    return letter


def tell_letter(letter: DeadLetter) -> None:
    """One letter for people: what failed, where, how often, and the message as it came."""
    for name, value in _rows(letter):
        say(out, (f"{name:>10}  ", "dim"), value, whole=True)
    say(out, "")
    say(out, readable(letter), whole=True)


def readable(letter: DeadLetter) -> str:
    """The body as people read it: JSON on lines of its own, other text as it is, other bytes in base64."""
    return pretty(letter.payload) if letter.encoding == "utf-8" else letter.payload


def pretty(text: str) -> str:
    """``text`` with each value of its JSON on a line; unchanged when it is none, or when that would lose something."""
    try:
        value = json.loads(text, object_pairs_hook=_once)
        return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return text


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _rows(letter: DeadLetter) -> Iterator[tuple[str, str]]:
    yield "letter", letter.letter_id
    yield "buried", letter.buried_at or "(it does not say)"
    yield "step", letter.step or "(it does not say)"
    yield "topic", letter.topic or "(it does not say: it cannot be sent again)"
    if letter.session_id:
        yield "run", f"{letter.session_id}, collection {letter.collection or '(unknown)'}"
    if letter.trace:
        yield "trace", f"{letter.trace} (`clew trace show {letter.session_id}`)"
    yield "error", f"{letter.error.type}: {letter.error.message}"
    for one in letter.attempts:
        yield "attempt", f"{one.number}  {one.at}  {one.error.type}: {one.error.message}"
    if letter.key:
        yield "key", letter.key
    for name, value in sorted(letter.properties.items()):
        yield "property", f"{name} = {value}"
    for name in letter.withheld:
        yield "property", f"{name} was left out: a secret, or too long"
    if letter.edited_at:
        yield "edited", f"{letter.edited_at} by {letter.edited_by or '(nobody said who)'}"
    size = f"{letter.payload_bytes} bytes, SHA-256 {letter.payload_sha256}"
    yield "body", f"{size}; only the beginning is here" if letter.truncated else size
