"""An answer before it is published: text that cites evidence as ``[n]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew_services.core.sentences import Language

GAPS_LINE: Mapping[Language, str] = {"en": "Not covered by the documents: ", "zh": "文档未涉及："}
"""How the embedded writer begins the line that names what the evidence does not cover; it cites nothing."""

OPEN_LINE: Mapping[Language, str] = {"en": "Left open by the question: ", "zh": "问题未说明："}
"""How it begins the line that names the conditions which the question leaves open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A verbatim span of the ``number``-th piece of evidence: ``text == evidence.text[start:end]``."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a writer wrote. ``quotes`` may be empty: then a citation stands for the whole chunk."""

    text: str
    quotes: tuple[Quote, ...] = ()
    model: str | None = None
    in_token: int | None = None
    out_token: int | None = None
