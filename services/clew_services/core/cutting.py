"""Where a text is cut: into pieces as long as allowed, each ending at the strongest boundary near its limit.

A boundary belongs to the piece before it, so a sentence keeps its full stop. Lengths are code points.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BOUNDARIES: tuple[re.Pattern[str], ...] = (
    re.compile(r"\n(?=#{1,6} )"),  # a Markdown heading stands with what follows it
    re.compile(r"\n[ \t\r]*\n\s*"),
    re.compile(
        # These need no space after them.
        r"[。！？]+[”’」』）]*"
        # These do: 3.14 and clew.yaml are one word. "2. Terms" and "1.12. Terms" are not cut after their number.
        r"|(?<![.!?])(?<!\s\d)(?<!\s\d\d)(?<!\d\.\d)(?<!\d\.\d\d)[.!?]++[\"'”’)\]]*+\s+"
    ),
    re.compile(r"[\n\f]+"),
    re.compile(r"[，、；]|[,;]\s+"),
    re.compile(r"\s+"),
)
"""Where a text may be cut, strongest first; the cut is at the end of the match."""

PARAGRAPH, SENTENCE, NONE = 1, 2, len(BOUNDARIES)
"""Strengths, as indices of ``BOUNDARIES``: the weakest that ends a paragraph, a sentence's, and no boundary."""

_BEFORE = 16
"""Characters before a place in which a boundary that ends there may begin."""


@dataclass(frozen=True, slots=True)
class Span:
    """``text[start:end]`` without blanks at its ends; ``strength`` is that of the boundary before it."""

    start: int
    end: int
    strength: int = 0


def cut(text: str, span: Span, size: int) -> Iterator[Span]:
    """``span`` in consecutive pieces of at most ``size``, as long as strong boundaries let them be.

    Every character of ``span`` that is not blank is in just one of them. What is left at the end is not shorter
    than a fifth of ``size``, unless a boundary asks for it: the last two pieces are then about equally long.
    """
    start, end = trim(text, span.start, span.end)
    strength = span.strength
    while end - start > size:
        at, following = _boundary(text, start, end, size)
        yield Span(*trim(text, start, at), strength)
        start, strength = _past_blanks(text, at, end), following
    if start < end:
        yield Span(start, end, strength)


def lead_in(text: str, span: Span, floor: int) -> int:
    """Where a chunk begins that repeats what stands before ``span``, at ``floor`` or after it.

    It is what completes the thought: whole sentences of the same paragraph, and the part of a sentence only
    when ``span`` itself begins within one. ``span.start`` when nothing of that kind fits.
    """
    if floor >= span.start or span.strength <= PARAGRAPH:
        return span.start
    begun = [at for strength in range(PARAGRAPH + 1) for at in _ends(text, strength, floor, span.start)]
    if begun or floor == 0:  # the paragraph began not long ago
        return _past_blanks(text, max(begun, default=0), span.start)
    for strength in range(SENTENCE, min(span.strength, NONE - 1) + 1):
        ends = _ends(text, strength, floor, span.start)
        if ends:
            return _past_blanks(text, ends[0], span.start)
    return _past_blanks(text, floor, span.start) if span.strength == NONE else span.start


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blanks at its ends; empty when nothing is left."""
    start = _past_blanks(text, start, end)
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _boundary(text: str, start: int, end: int, size: int) -> tuple[int, int]:
    """Where to cut a first piece of at most ``size`` off, and how strong the boundary there is."""
    rest = end - start
    target = start + (size if rest > size + size // 5 else -(-rest // 2))
    near = (max(start + 1, target - size // 5), min(start + size, target + size // 5))
    anywhere = (start + 1 + size // 4, start + size)
    # A sentence is cut only where none ends for three quarters of the size, a word only where no word does.
    for (low, high), strengths in (
        (near, range(SENTENCE + 1)),
        (anywhere, range(SENTENCE + 1)),
        (near, range(SENTENCE + 1, NONE)),
        (anywhere, range(SENTENCE + 1, NONE)),
    ):
        limit = _past_blanks(text, high, end)  # blanks at the end are not part of the piece
        for strength in strengths:
            ends = _ends(text, strength, low, limit)
            if ends:
                return min(ends, key=lambda at: abs(min(at, high) - target)), strength
    return target, NONE


def _ends(text: str, strength: int, low: int, limit: int) -> list[int]:
    """The ends of the boundaries of that strength from ``low`` to ``limit``, in order."""
    found = BOUNDARIES[strength].finditer(text, max(0, low - _BEFORE), limit)
    return [match.end() for match in found if low <= match.end()]


def _past_blanks(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start
