"""``clew dead edit``: a message is repaired in an editor, or from a file, and sent again or kept."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import DataOption, JsonOption, emit_json, err, fail, out, say, utf8
from clew_services.cli.letters import LetterArgument, found, pretty, with_letters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.errors import DeadLetter
    from clew_services.dead_letters import DeadLetters, Repair


BodyOption = Annotated[
    Path | None,
    typer.Option("--body", exists=True, dir_okay=False, help="File with the repaired body: no editor."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set-property", metavar="NAME=VALUE", help="Set a property; NAME= takes it away. May be repeated."
    ),
]
EditorOption = Annotated[
    str,
    typer.Option("--editor", envvar=["VISUAL", "EDITOR"], metavar="COMMAND", help="Your editor."),
]


def edit(
    letter_id: LetterArgument,
    body: BodyOption = None,
    changes: SetOption = None,
    editor: EditorOption = "",
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep it in the box as it is then, and send nothing.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Send it although its service cannot read it.")
    ] = False,
    user: Annotated[
        str, typer.Option("--user", metavar="NAME", help="Who repairs it; a kept letter says so.")
    ] = "",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Repair a message in your editor ($VISUAL or $EDITOR), see what changed, and send it again.

    JSON is laid out for reading. A message that its service could not read even now is not sent.
    """
    from clew_services.dead_letters import Repair

    properties = _properties(changes or [])
    letter = found(with_letters(data, lambda dead: dead.find(letter_id)), letter_id)
    after, written = body.read_bytes() if body else None, None
    if body is None and not properties:
        after, written = _edited(letter, editor)
    repair = Repair(payload=after, properties=properties or None)
    lines = _difference(letter, repair)
    for line in () if json else lines:
        say(out, line, whole=True)
    done = ""
    if lines and not dry_run:
        _settle(letter, repair, keep=keep, force=force, user=utf8(user), data=data, written=written)
        done = "kept" if keep else "sent again"
    if written is not None:
        written.unlink(missing_ok=True)
    _tell(letter, done, lines, json)


def _settle(
    letter: DeadLetter,
    repair: Repair,
    *,
    keep: bool,
    force: bool,
    user: str,
    data: Path | None,
    written: Path | None,
) -> None:
    """Send or keep it; where that fails, what the person wrote stays on disk and is named."""
    from clew_services.dead_letters import unreadable

    if not (keep or force) and (why := unreadable(letter, repair)):
        fail("unreadable", f"{why}. --force sends it all the same{_left(written)}")

    async def work(dead: DeadLetters) -> DeadLetter | None:
        if keep:
            return await dead.edit(letter.letter_id, repair, by=user, at=datetime.now(UTC).isoformat())
        return await dead.requeue(letter.letter_id, repair.payload, properties=repair.properties)

    try:
        found(with_letters(data, work), letter.letter_id)
    except typer.Exit:
        if written is not None:
            say(err, f"what you wrote is in {written}", whole=True)
        raise


def _properties(changes: Sequence[str]) -> Mapping[str, str]:
    wanted: dict[str, str] = {}
    for change in changes:
        name, equals, value = utf8(change).partition("=")
        if not (name and equals):
            fail(
                "bad-request",
                f"--set-property {change!r}: write it as NAME=VALUE, or NAME= to take it away",
                2,
            )
        wanted[name] = value
    return wanted


def _edited(letter: DeadLetter, editor: str) -> tuple[bytes | None, Path]:
    """What a person made of the body (null: nothing), and the file where it lies. Nobody else can read that."""
    from clew_services.letter_box import whole_body

    if not editor.strip():
        fail("no-editor", "set VISUAL or EDITOR to your editor, or give the repaired body with --body FILE")
    before = whole_body(letter)
    shown = pretty(letter.payload).encode() if letter.encoding == "utf-8" else before
    number, name = tempfile.mkstemp(prefix=f"letter-{letter.letter_id[:8]}-", suffix=".json")
    path = Path(name)
    with os.fdopen(number, "wb") as file:
        file.write(shown)
    try:
        code = subprocess.run([*shlex.split(editor), name], check=False).returncode  # noqa: S603 - the person's own editor
    except (OSError, ValueError) as error:
        path.unlink()
        fail("no-editor", f"{editor!r} cannot be started ({error}): set VISUAL or EDITOR to your editor")
    if code != 0:
        fail("editor-failed", f"the editor ended with {code}: the letter stays as it is{_left(path)}")
    after = path.read_bytes()
    # Editors end a file with a new line; that alone is no repair.
    return (None if after.rstrip(b"\n") == shown.rstrip(b"\n") else after), path


def _difference(letter: DeadLetter, repair: Repair) -> list[str]:
    """The lines that differ, body and properties; none when nothing does."""
    from clew_services.dead_letters import repaired

    after = repaired(letter, repair)
    lines = list(unified_diff(_lines(letter), _lines(after), "as it came", "as it will be", lineterm=""))
    if not lines and (after.payload, after.encoding) != (letter.payload, letter.encoding):
        lines = ["the same JSON, laid out otherwise"]
    return lines


def _lines(letter: DeadLetter) -> list[str]:
    properties = [f"property {name} = {value}" for name, value in sorted(letter.properties.items())]
    text = pretty(letter.payload) if letter.encoding == "utf-8" else letter.payload
    return [*properties, *text.split("\n")]


def _tell(letter: DeadLetter, done: str, lines: Sequence[str], json: bool) -> None:
    if json:
        changes = list(lines)
        emit_json({"letter_id": letter.letter_id, "topic": letter.topic, "done": done, "changes": changes})
    elif done:
        say(err, "kept in the box" if done == "kept" else f"sent again to {letter.topic}", whole=True)
    else:
        say(err, "a dry run: nothing was done" if lines else "nothing changed, and nothing was done")


def _left(written: Path | None) -> str:
    return f"; what you wrote is in {written}" if written is not None else ""
