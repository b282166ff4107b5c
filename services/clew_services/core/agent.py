"""What an agent can do, and what it decides to do next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as the model sees it: its name, what it is for, and its arguments with their meaning."""

    name: str
    description: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """The next act: ``action`` with ``arguments``, or, when ``final`` is not null, the answer."""

    thought: str
    action: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    final: str | None = None
    model: str | None = None
    in_token: int | None = None
    out_token: int | None = None
