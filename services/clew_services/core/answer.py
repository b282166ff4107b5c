"""An answer before it is published: text that cites evidence as ``[n]``."""

from dataclasses import dataclass


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
