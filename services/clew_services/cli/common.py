"""What every command needs: settings from options, one way to run and to fail, text that is safe on a terminal."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
import uvloop
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from clew_services.errors import ClewError
from clew_services.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")

DataOption = Annotated[
    Path | None, typer.Option("--data", "-d", help="Folder of the embedded stack. [default: CLEW_DATA]")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, one value a line, and nothing else.")]
CollectionOption = Annotated[str, typer.Option("--collection", "-c", help="The collection of documents.")]

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def load(data: Path | None = None, **changes: Any) -> Settings:
    """The settings, with what the command line changes. Ends the process with 2 for a bad setting."""
    if data is not None:
        changes["data"] = data.expanduser().absolute()
    try:
        return Settings(**{name: value for name, value in changes.items() if value is not None})
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            name = "CLEW_" + ".".join(str(part) for part in problem["loc"]).upper()
            err.print(f"[red]error[/] {escape(name)}: {escape(problem['msg'])}")
        raise typer.Exit(2) from None


def start(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work``; a failure of ours is told in one line and ends the process with 1."""
    try:
        return uvloop.run(work)
    except ClewError as error:
        fail(error.type, str(error))
    except TimeoutError:
        fail("timeout", "nobody answered in time: do the services run (`clew up`, `clew run`)?")
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def fail(kind: str, message: str, code: int = 1) -> NoReturn:
    """Tell what went wrong and end the process."""
    err.print(f"[red]error[/] [bold]{escape(kind)}[/]: {clean(message)}")
    raise typer.Exit(code)


def clean(text: str) -> str:
    """``text`` from anywhere, safe to print: no markup, no control characters that move the cursor."""
    return escape("".join(c if c.isprintable() or c in "\n\t" else "�" for c in text))


def emit_json(value: object) -> None:
    """One line of JSON on standard output, at once."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def quiet_exit() -> None:
    """A reader that went away (``| head``) is no error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
