"""``clew dead``: messages that could not be handled, to be looked at, repaired and sent again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.table import Table

from clew_services.cli.common import DataOption, JsonOption, clean, emit_json, err, fail, load, out, start
from clew_services.cli.connect import parts_of
from clew_services.dead_letters import DeadLetters

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from clew_schema.errors import DeadLetter
    from clew_services.settings import Settings

T = TypeVar("T")
app = typer.Typer(help="Messages that could not be handled.", no_args_is_help=True)
LetterArgument = Annotated[str, typer.Argument(metavar="ID", help="A letter's id, or its beginning.")]


@app.command("list")
def list_(json: JsonOption = False, data: DataOption = None) -> None:
    """Every dead letter, the oldest first."""
    letters = start(_with(load(data), DeadLetters.letters))
    if json:
        for letter in letters:
            emit_json(letter.model_dump(mode="json"))
        return
    if not letters:
        out.print("no dead letters")
        return
    table = Table("Letter", "Step", "Error", "Message", "Attempt", "Buried", box=None, header_style="bold")
    for letter in letters:
        table.add_row(
            letter.letter_id[:8],
            clean(letter.step),
            clean(letter.error.type),
            clean(letter.error.message[:80]),
            str(letter.attempt),
            clean(letter.buried_at),
        )
    out.print(table)


@app.command()
def show(letter_id: LetterArgument, data: DataOption = None) -> None:
    """One letter whole, as JSON: the message, its properties, and why it failed."""
    letter = _found(start(_with(load(data), lambda box: box.find(letter_id))), letter_id)
    emit_json(letter.model_dump(mode="json"))


@app.command()
def requeue(
    letter_id: LetterArgument,
    payload: Annotated[
        Path | None, typer.Option("--payload", exists=True, dir_okay=False, help="File with a repaired body.")
    ] = None,
    data: DataOption = None,
) -> None:
    """Send the message again where it came from, and take the letter away."""
    body = payload.read_text() if payload else None
    letter = _found(start(_with(load(data), lambda box: box.requeue(letter_id, body))), letter_id)
    err.print(f"sent again to {clean(letter.topic)}")


@app.command()
def drop(letter_id: LetterArgument, data: DataOption = None) -> None:
    """Throw the letter away."""
    letter = _found(start(_with(load(data), lambda box: box.drop(letter_id))), letter_id)
    err.print(f"dropped {letter.letter_id}")


async def _with(settings: Settings, work: Callable[[DeadLetters], Awaitable[T]]) -> T:
    async with parts_of(settings) as parts:
        return await work(DeadLetters(await parts.bus(), settings.space))


def _found(letter: DeadLetter | None, letter_id: str) -> DeadLetter:
    if letter is None:
        fail("unknown-letter", f"there is no dead letter {letter_id!r}: see `clew dead list`")
    return letter
