"""What every command needs: settings from options, one way to run and to fail, text that is safe on a terminal."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from clew_services.redaction import hide, without_secrets

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from clew_services.settings import Settings

T = TypeVar("T")

DataOption = Annotated[
    Path | None, typer.Option("--data", "-d", help="Folder of the embedded stack. [default: CLEW_DATA]")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one value a line, and nothing else.")]
CollectionOption = Annotated[str, typer.Option("--collection", "-c", help="The collection of documents.")]

PIPE_WIDTH = 100
"""Columns of what goes into a pipe or a file, unless COLUMNS says otherwise."""


def console(stream: TextIO, *, stderr: bool = False) -> Console:
    """A console on ``stream``: as wide as the terminal, plain and PIPE_WIDTH wide where there is none."""
    width = None if stream.isatty() else shutil.get_terminal_size((PIPE_WIDTH, 24)).columns
    return Console(stderr=stderr, highlight=False, emoji=False, width=width)


out = console(sys.stdout)
err = console(sys.stderr, stderr=True)


def prepare_streams() -> None:
    """What a terminal cannot show is replaced, never an error: its character set is not ours to choose."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def load(data: Path | None = None, **changes: Any) -> Settings:
    """The settings, with what the command line changes. Ends the process with 2 for a bad setting."""
    from pydantic import ValidationError

    from clew_services.settings import Settings

    if data is not None:
        changes["data"] = data.expanduser().absolute()
    try:
        return Settings(**{name: value for name, value in changes.items() if value is not None})
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            given = problem["input"] if isinstance(problem["input"], str | int | float) else ""
            name = "_".join(("CLEW", *map(str, problem["loc"]))).upper()
            secret = any(f"CLEW_{field}".upper() == name for field in Settings.secret_fields())
            given = "***" if secret else without_secrets(re.sub(r"//[^/@]*@", "//***@", str(given)))
            where = f"{name}={given}: " if problem["loc"] else ""
            tell_error("bad-setting", where + problem["msg"].removeprefix("Value error, "))
        raise typer.Exit(2) from None


def start(work: Coroutine[Any, Any, T], *, trouble: int = 1) -> T:
    """Run ``work``; a failure of ours, or of the machine, is told in one line and ends the process with ``trouble``.

    That is 2 for a command that ends with 1 to say something else.
    """
    import uvloop

    from clew_services.errors import ClewError

    try:
        return uvloop.run(_until_terminated(work))
    except typer.Exit as ended:  # it was told already
        raise typer.Exit(trouble if ended.exit_code == 1 else ended.exit_code) from None
    except ClewError as error:
        fail(error.type, str(error), trouble)
    except TimeoutError:
        message = "nobody answered in time: do the services run, and are they well? `clew doctor` says"
        fail("timeout", message, trouble)
    except BrokenPipeError:
        raise  # whoever read our output went away; the command line ends without a word
    except OSError as error:
        fail("unusable", f"{error.filename}: {error.strerror}" if error.filename else str(error), trouble)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except asyncio.CancelledError:
        raise typer.Exit(143) from None


async def _until_terminated(work: Coroutine[Any, Any, T]) -> T:
    """SIGTERM is taken like Ctrl-C: what was opened is closed. A command that serves replaces this."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def fail(kind: str, message: str, code: int = 1) -> NoReturn:
    """Tell what went wrong and end the process."""
    tell_error(kind, message)
    raise typer.Exit(code)


def tell_error(kind: str, message: str) -> None:
    """Tell what went wrong, without secrets, and go on."""
    say(err, ("error", "red"), " ", (kind, "bold"), f": {hide(message)}", whole=True)


def say(console: Console, *parts: str | tuple[str, str], end: str = "\n", whole: bool = False) -> None:
    """Print texts, or pairs of a text and its style, exactly as they are: nothing in them is taken for markup.

    On a terminal lines are broken between words, unless ``whole``: what is meant to be copied. In a pipe they are not.
    """
    text = Text.assemble(
        *((clean(part), "") if isinstance(part, str) else (clean(part[0]), part[1]) for part in parts)
    )
    console.print(text, end=end, soft_wrap=whole or not console.is_terminal)


def clean(text: str) -> str:
    """``text`` from anywhere, without control characters, which move the cursor, and marks that turn the writing."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


def utf8(text: str) -> str:
    """``text`` from the command line or a file's name; bytes in it that are no UTF-8 are replaced."""
    return text.encode(errors="replace").decode()


def emit_json(value: object) -> None:
    """One line of JSON on standard output, at once and whole; in ASCII where the output can carry no more."""
    wide = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    line = memoryview(f"{json.dumps(value, ensure_ascii=not wide)}\n".encode())
    sys.stdout.flush()
    # An unbuffered output (PYTHONUNBUFFERED) that does not block takes what fits into the pipe, and says how much.
    while line:
        taken = sys.stdout.buffer.write(line)
        if not taken:
            time.sleep(0.005)  # the pipe is full: until its reader has read
        line = line[taken or 0 :]
    sys.stdout.buffer.flush()
