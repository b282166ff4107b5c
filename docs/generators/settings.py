"""settings.md: every setting, from clew_services.settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from clew_services import settings
from clew_services.settings import Settings
from generators.markdown import code, doc, page, table

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

GROUPS = (
    ("Where things are", ("data",)),
    ("Broker", ("pulsar", "tenant", "namespace", "topic_profile", "trustgraph")),
    ("Stores", ("database", "milvus", "analyzer", "traces")),
    ("Models", ("embed", "chat", "model")),
    ("Services", ()),
    ("Operations", ("ops", "log")),
)
"""Heading → beginnings of the names below it; the group without any takes what is left."""


def render() -> str:
    """The page."""
    rows = [(row[0].removeprefix("CLEW_").lower(), row) for row in _described()]
    parts = []
    for title, _ in GROUPS:
        mine = [row for name, row in rows if _group(name) == title]
        cells = [[code(name), _default(default), meaning] for name, default, meaning in mine]
        parts += [f"## {title}", table(["variable", "default", "meaning"], cells)]
    intro = [
        doc(settings),
        doc(Settings),
        "Options of a command go before variables, variables before defaults.",
    ]
    return page("Settings", "`clew_services.settings`", *intro, *parts)


def _group(name: str) -> str:
    """The group whose beginning fits ``name`` best; the rest where there is none."""
    fits = [(len(start), title) for title, starts in GROUPS for start in starts if name.startswith(start)]
    return max(fits)[1] if fits else next(title for title, starts in GROUPS if not starts)


def _default(text: str) -> str:
    return code(text) if text else "(empty)"


def _described() -> list[tuple[str, str, str]]:
    """(variable, default, meaning) of every setting."""
    return [
        (f"CLEW_{name.upper()}", _default_of(field), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def _default_of(field: FieldInfo) -> str:
    value = field.default
    if isinstance(value, SecretStr):
        return ""
    return "~/.local/share/clew" if isinstance(value, Path) else str(value)
