"""``clew dead``: messages that could not be handled, to be looked at, repaired and sent again."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from clew_services.cli import dead_edit
from clew_services.cli.common import DataOption, JsonOption, emit_json, err, fail, out, say
from clew_services.cli.letters import (
    ErrorOption,
    LetterArgument,
    LetterCollectionOption,
    LimitOption,
    NewerOption,
    OlderOption,
    StepOption,
    filtered,
    found,
    tell_letter,
    with_letters,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from clew_schema.dead_letters import LetterFilter
    from clew_schema.errors import DeadLetter
    from clew_services.dead_letters import DeadLetters, Settled

app = typer.Typer(
    help="Look at messages that could not be handled, repair them and send them again. For operators.",
    no_args_is_help=True,
)
LettersArgument = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Letters' ids, or their beginnings.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Every letter that the other options let through.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say which letters are meant.")]
TOLD_EVERY = 100
"""Letters after which progress is told."""


@app.command("list")
def list_(
    step: StepOption = "",
    error: ErrorOption = "",
    collection: LetterCollectionOption = None,
    newer: NewerOption = "",
    older: OlderOption = "",
    limit: LimitOption = 0,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """List dead letters, the oldest first."""
    wanted = filtered(step, error, collection, newer, older, limit)
    letters = with_letters(data, lambda dead: dead.letters(wanted))
    if json:
        for letter in letters:
            emit_json(letter.model_dump(mode="json"))
    elif letters:
        out.print(_table(letters))
    else:
        out.print(
            "no dead letters" if wanted == filtered("", "", None, "", "", 0) else "no such dead letters"
        )


@app.command()
def show(
    letter_id: LetterArgument,
    body: Annotated[
        bool, typer.Option("--body", help="Print the message's body and nothing else, byte for byte.")
    ] = False,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Show one letter whole: the message, its properties, every attempt and why it failed."""
    from clew_services.letter_box import whole_body

    letter = found(with_letters(data, lambda dead: dead.find(letter_id)), letter_id)
    if body:
        sys.stdout.flush()
        sys.stdout.buffer.write(whole_body(letter))
        sys.stdout.buffer.flush()
    elif json:
        emit_json(letter.model_dump(mode="json"))
    else:
        tell_letter(letter)


@app.command()
def requeue(
    letter_ids: LettersArgument = None,
    every: AllOption = False,
    payload: Annotated[
        Path | None,
        typer.Option(
            "--payload", exists=True, dir_okay=False, help="File with a repaired body, for one letter."
        ),
    ] = None,
    step: StepOption = "",
    error: ErrorOption = "",
    collection: LetterCollectionOption = None,
    newer: NewerOption = "",
    older: OlderOption = "",
    limit: LimitOption = 0,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Send messages again where they came from, and take their letters away.

    Whoever waits for the answer still gets it. If this is interrupted, run it again: each message has one effect.
    """
    wanted = filtered(step, error, collection, newer, older, limit)
    ids = _which(letter_ids, every, wanted)
    if payload is not None and len(ids) != 1:
        fail("bad-request", "--payload is the body of one letter: name that one", 2)
    body = payload.read_bytes() if payload else None
    if every or dry_run:
        _many(data, wanted, ids, "sent again", json, lambda dead: dead.requeue_all, dry_run)
        return
    for letter_id in ids:
        letter = _one(data, letter_id, partial(_send, letter_id, body))
        _told(letter, f"sent again to {letter.topic}", "sent again", json)


@app.command()
def drop(
    letter_ids: LettersArgument = None,
    every: AllOption = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --all: do not ask.")] = False,
    step: StepOption = "",
    error: ErrorOption = "",
    collection: LetterCollectionOption = None,
    newer: NewerOption = "",
    older: OlderOption = "",
    limit: LimitOption = 0,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Throw letters away. What was in them is gone."""
    wanted = filtered(step, error, collection, newer, older, limit)
    ids = _which(letter_ids, every, wanted)
    if every or dry_run:
        if not (dry_run or yes):
            _confirm()
        _many(data, wanted, ids, "dropped", json, lambda dead: dead.drop_all, dry_run)
        return
    for letter_id in ids:
        letter = _one(data, letter_id, partial(_throw_away, letter_id))
        _told(letter, f"dropped {letter.letter_id}", "dropped", json)


app.command("edit")(dead_edit.edit)


async def _send(letter_id: str, body: bytes | None, dead: DeadLetters) -> DeadLetter | None:
    return await dead.requeue(letter_id, body)


async def _throw_away(letter_id: str, dead: DeadLetters) -> DeadLetter | None:
    return await dead.drop(letter_id)


def _one(
    data: Path | None, letter_id: str, work: Callable[[DeadLetters], Awaitable[DeadLetter | None]]
) -> DeadLetter:
    return found(with_letters(data, work), letter_id)


def _which(letter_ids: Sequence[str] | None, every: bool, wanted: LetterFilter) -> Sequence[str]:
    """The ids that were named; none with --all. Ends the process with 2 for both, neither, or a filter alone."""
    ids = letter_ids or []
    if bool(ids) == every:
        fail("bad-request", "name letters by their ids, or say --all; one of the two", 2)
    if ids and wanted != filtered("", "", None, "", "", 0):
        fail("bad-request", "options that choose letters go with --all, not with ids", 2)
    return ids


def _confirm() -> None:
    if not sys.stdin.isatty():
        fail("bad-request", "say --yes to drop every letter that is meant; --dry-run shows them", 2)
    typer.confirm("Throw away every dead letter that is meant?", abort=True, err=True)


def _many(
    data: Path | None,
    wanted: LetterFilter,
    ids: Sequence[str],
    done: str,
    json: bool,
    work: Callable[
        [DeadLetters],
        Callable[[LetterFilter, Callable[[Settled], Awaitable[None]]], Awaitable[Sequence[Settled]]],
    ],
    dry_run: bool,
) -> None:
    """Do ``work`` with all that are wanted and tell of it; ends the process with 1 when some could not be settled."""
    if dry_run:
        _say_which(data, wanted, ids, done, json)
        return

    async def hear(one: Settled) -> None:
        if one.error is not None and not json:
            say(err, f"{one.letter.letter_id} stays: {one.error.type}: {one.error.message}", whole=True)
        if json:
            problem = one.error.model_dump(mode="json") if one.error else None
            emit_json(_as_json(one.letter, "" if one.error else done, problem))
        elif one.done % TOLD_EVERY == 0 and one.done < one.matched:
            say(err, f"{one.done} of {one.matched}")

    settled = with_letters(data, lambda dead: work(dead)(wanted, hear))
    good = sum(one.error is None for one in settled)
    if not json:
        say(err, f"{done}: {good} of {len(settled)} letters")
    if good < len(settled):
        raise typer.Exit(1)


def _say_which(data: Path | None, wanted: LetterFilter, ids: Sequence[str], done: str, json: bool) -> None:
    letters = with_letters(data, lambda dead: dead.letters(wanted))
    if ids:
        from clew_services.letter_filter import named

        letters = [found(named(letters, letter_id), letter_id) for letter_id in ids]
    for letter in letters:
        if json:
            emit_json(_as_json(letter, "", None))
    if not json:
        if letters:
            out.print(_table(letters))
        say(err, f"would be {done}: {len(letters)} letters")


def _told(letter: DeadLetter, words: str, done: str, json: bool) -> None:
    if json:
        emit_json(_as_json(letter, done, None))
    else:
        say(err, words, whole=True)


def _as_json(letter: DeadLetter, done: str, error: object) -> dict[str, object]:
    names = ("letter_id", "topic", "step", "session_id", "collection")
    return {name: getattr(letter, name) for name in names} | {"done": done, "error": error}


def _table(letters: Sequence[DeadLetter]) -> Table:
    from clew_services.cli.trace_view import clipped, one_line

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name in ("Letter", "Buried", "Step", "Error"):
        table.add_column(name, no_wrap=True)
    table.add_column("Message", ratio=1, overflow="fold")
    for letter in letters:
        cells = (
            letter.letter_id[:8],
            letter.buried_at[:19].replace("T", " "),
            letter.step,
            letter.error.type,
        )
        table.add_row(*(Text(one_line(cell)) for cell in cells), Text(clipped(letter.error.message, 200)))
    return table
