"""cli.md: every command with its arguments and options, from the Typer application itself."""

from __future__ import annotations

import re
from typing import Any

import typer.main

from clew_services.cli.main import app
from generators.markdown import code, page, prose, table

INTRO = """
Commands that need running services find them over the data folder (`clew up`) or at `CLEW_PULSAR_URL`. Settings are
variables: see [Settings](settings.md). Exit status: 0 done, 1 the request failed, 2 a wrong option or setting, 130
Ctrl-C. Answers go to standard output, progress and messages to standard error.
"""


def render() -> str:
    """The page."""
    sections = [section(name, command) for name, command in commands(typer.main.get_command(app), "clew")]
    return page("Command line", "`clew_services.cli`", INTRO, *sections)


def commands(command: Any, name: str) -> list[tuple[str, Any]]:
    """(full name, command) of ``command`` and everything below it."""
    below = getattr(command, "commands", {})
    found = [(name, command)]
    for part, child in below.items():
        found += commands(child, f"{name} {part}")
    return found


def section(name: str, command: Any) -> str:
    """One command."""
    parts = [f"## `{name}`", prose(_help(command))]
    if children := getattr(command, "commands", None):
        rows = [
            [f"[`{part}`](#{f'{name} {part}'.replace(' ', '-')})", _first(child)]
            for part, child in children.items()
        ]
        parts.append(table(["command", "does"], rows))
    options = [param for param in command.params if "completion" not in param.name]
    arguments = [_argument(param) for param in options if param.opts[0][0] != "-"]
    if arguments:
        parts.append(table(["argument", "meaning"], arguments))
    switches = [_option(param) for param in options if param.opts[0][0] == "-"]
    if switches:
        parts.append(table(["option", "default", "meaning"], switches))
    return "\n\n".join(parts)


def _help(command: Any) -> str:
    text: str = command.help or ""
    return text.replace("\f", "").strip()


def _first(command: Any) -> str:
    return prose(_help(command).split("\n\n")[0])


def _argument(param: Any) -> list[str]:
    name = (param.metavar or param.name).upper() + ("..." if param.nargs == -1 else "")
    return [code(name), prose(param.help or "") + ("" if param.required else " (optional)")]


def _option(param: Any) -> list[str]:
    names = ", ".join(code(name) for name in [*param.opts, *param.secondary_opts])
    told = re.match(r"(.*?)(?: \[default: (.+)\])?$", prose(param.help or ""), re.DOTALL)
    text, said = told.groups() if told else ("", None)
    default = said or param.default
    silent = default is None or default is False or default == "" or callable(default)
    shown = "" if silent else code(default)
    return [names, shown, text]
