"""``clew dead``: messages that could not be handled, to be looked at, repaired and sent again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from clew_services.cli.common import DataOption, JsonOption, emit_json, err, fail, load, out, say, start

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from clew_schema.errors import DeadLetter
    from clew_services.dead_letters import DeadLetters

T = TypeVar("T")
app = typer.Typer(
    help="Look at messages that could not be handled, repair them and send them again.", no_args_is_help=True
)
LetterArgument = Annotated[str, typer.Argument(metavar="ID", help="A letter's id, or its beginning.")]


@app.command("list")
def list_(json: JsonOption = False, data: DataOption = None) -> None:
    """List every dead letter, the oldest first."""
    from clew_services.cli.trace_view import clipped, one_line

    letters = _with(data, lambda dead: dead.letters())
    if json:
        for letter in letters:
            emit_json(letter.model_dump(mode="json"))
        return
    if not letters:
        out.print("no dead letters")
        return
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
    out.print(table)


@app.command()
def show(letter_id: LetterArgument, data: DataOption = None) -> None:
    """Show one letter whole, as JSON: the message, its properties, and why it failed."""
    emit_json(_found(_with(data, lambda dead: dead.find(letter_id)), letter_id).model_dump(mode="json"))


@app.command()
def requeue(
    letter_id: LetterArgument,
    payload: Annotated[
        Path | None,
        typer.Option("--payload", exists=True, dir_okay=False, help="File with a repaired body."),
    ] = None,
    data: DataOption = None,
) -> None:
    """Send the message again where it came from, and take the letter away."""
    body = payload.read_bytes() if payload else None
    letter = _found(_with(data, lambda dead: dead.requeue(letter_id, body)), letter_id)
    say(err, f"sent again to {letter.topic}", whole=True)


@app.command()
def drop(letter_id: LetterArgument, data: DataOption = None) -> None:
    """Throw one letter away."""
    letter = _found(_with(data, lambda dead: dead.drop(letter_id)), letter_id)
    say(err, f"dropped {letter.letter_id}", whole=True)


def _with(data: Path | None, work: Callable[[DeadLetters], Awaitable[T]]) -> T:
    settings = load(data)

    async def visit() -> T:
        from clew_services.cli.connect import parts_of
        from clew_services.dead_letters import DeadLetters

        async with parts_of(settings) as parts:
            return await work(DeadLetters(await parts.bus(), settings.space))

    return start(visit())


def _found(letter: DeadLetter | None, letter_id: str) -> DeadLetter:
    if letter is None:
        fail("unknown-letter", f"there is no dead letter {letter_id!r}: see `clew dead list`")
    return letter
