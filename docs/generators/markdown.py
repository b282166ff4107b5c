"""Docstrings and values as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

NOTE = "<!-- Made by `python docs/generate.py` from {source}. Change it there. -->"


_TABLE = re.compile(r"^=+  =+\n(.*?)^=+  =+$", re.DOTALL | re.MULTILINE)


def page(title: str, source: str, *parts: str) -> str:
    """A page: its title, where it comes from, its parts."""
    return (
        "\n\n".join([f"# {title}", NOTE.format(source=source), *(part.strip("\n") for part in parts)]) + "\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; a bar in a cell is escaped, a line break becomes a blank."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell(text) for text in line) + " |" for line in lines)


def cell(text: str) -> str:
    """``text`` on one line."""
    return re.sub(r"\s+", " ", text).strip().replace("|", r"\|")


def doc(thing: object) -> str:
    """The docstring of ``thing``, as Markdown. Raises ValueError when it has none: the reference needs it."""
    text = inspect.getdoc(thing)
    if not text:
        msg = f"{thing} has no docstring"
        raise ValueError(msg)
    return prose(text)


def prose(text: str) -> str:
    """reStructuredText as our docstrings use it, as Markdown: roles, code, and tables of two columns."""
    text = _TABLE.sub(_two_columns, text)
    text = re.sub(r":\w+:`~?\.?([^`]+)`", lambda found: f"`{found[1].rpartition('.')[2]}`", text)
    return text.replace("``", "`")


def _two_columns(found: re.Match[str]) -> str:
    return table(["", ""], [re.split(r"\s{2,}", line) for line in found[1].splitlines()])


def summary(thing: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return cell(doc(thing).split("\n\n")[0])


def code(text: object) -> str:
    """``text`` as code."""
    return f"`{text}`"
