"""``clew doctor``: what is here, what answers, and what to do about the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from clew_services.cli.common import DataOption, JsonOption, emit_json, load, out, start
from clew_services.redaction import hide

if TYPE_CHECKING:
    from clew_services.doctor import Check

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


def doctor(json: JsonOption = False, data: DataOption = None) -> None:
    """Check the installation: packages, data folder, broker, database, vector store and models.

    Each check is a line that says ok, warn or fail, and what to do. The exit code is 1 when something fails.
    """
    from clew_services.doctor import examine

    failed = False

    def tell(check: Check) -> None:
        nonlocal failed
        failed = failed or check.state == "fail"
        check = replace(check, message=hide(check.message), advice=hide(check.advice))
        if json:
            emit_json(
                {"check": check.name, "state": check.state, "message": check.message, "advice": check.advice}
            )
            return
        out.print(_line(check), soft_wrap=not out.is_terminal)

    start(examine(load(data), tell))
    if failed:
        raise typer.Exit(1)


def _line(check: Check) -> Text:
    from clew_services.cli.trace_view import one_line

    line = Text.assemble(
        (f"{check.state:<4}", STYLES[check.state]), f"  {check.name:<12}", one_line(check.message)
    )
    return line.append(f"\n      {'':<12}→ {one_line(check.advice)}", style="bold") if check.advice else line
