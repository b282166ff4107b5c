"""How SuperMew 0.1.0 cuts a document, so that what it does can be compared: level by level, quirks included.

Nothing that runs cuts this way: an ingest uses :mod:`clew_services.core.chunking` in both modes, because how a
document is cut is no decision of a question. What is told here: each page is cut for itself; a separator stands
at the start of the *next* piece, so a sentence loses its full stop to its neighbour; each level is cut out of the
text of the level above, with an overlap of its own, so one sentence stands in several leaves; and pages whose
number cannot be read all count as page 0, so that their ids collide.

The cutting is that of LangChain's ``RecursiveCharacterTextSplitter`` with its defaults (``keep_separator`` at the
start, lengths in code points), written anew.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema.limits import CHUNK_OVERLAPS, CHUNK_SIZES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEPARATORS = ("\n\n", "。", "！", "？", "\n", "，", "、", " ", "")
"""Where a text may be cut, in this order; the last one is between any two characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrictChunk:
    """A chunk as SuperMew stores it. ``index`` counts the chunks of a document, those of all levels together."""

    level: int
    chunk_id: str
    parent_id: str
    index: int
    text: str


def split_document(
    filename: str,
    pages: Sequence[tuple[object, str]],
    sizes: Sequence[int] = CHUNK_SIZES,
    overlaps: Sequence[int] = CHUNK_OVERLAPS,
) -> tuple[StrictChunk, ...]:
    """The chunks of ``pages``, pairs of a page's number (see :func:`page_number`) and its text, parents first.

    Ids are not unique when two pages have the same number, or none that can be read.
    """
    return tuple(
        StrictChunk(level=level, chunk_id=chunk_id, parent_id=parent_id, index=index, text=text)
        for index, (level, chunk_id, parent_id, text) in enumerate(
            chunk
            for number, text in pages
            for chunk in _Page(f"{filename}::p{page_number(number)}", sizes, overlaps).chunks(text)
        )
    )


class _Page:
    """One page on its way: how many chunks of each level it has so far."""

    def __init__(self, prefix: str, sizes: Sequence[int], overlaps: Sequence[int]) -> None:
        self._prefix = prefix
        self._options = tuple(zip(sizes, overlaps, strict=True))
        self._counts = [0] * len(sizes)

    def chunks(self, text: str, level: int = 1, parent_id: str = "") -> Iterator[tuple[int, str, str, str]]:
        """Level, id, parent's id and text of each chunk of ``text``, each followed by those that are cut out of it."""
        if level > len(self._options):
            return
        for piece in pieces(text, *self._options[level - 1]):
            chunk_id = f"{self._prefix}::l{level}::{self._counts[level - 1]}"
            self._counts[level - 1] += 1
            yield level, chunk_id, parent_id, piece
            yield from self.chunks(piece, level + 1, chunk_id)


def page_number(written: object) -> int:
    """A page's number, from 0, as its loader wrote it; 0 for what is no number."""
    try:
        return int(written)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError, OverflowError):
        return 0


def pieces(text: str, size: int, overlap: int, separators: Sequence[str] = SEPARATORS) -> list[str]:
    """The pieces of ``text``, at most ``size`` long, without blanks at their ends; blank ones are left out."""
    at = next((n for n, each in enumerate(separators) if each in text), len(separators) - 1)
    found: list[str] = []
    short: list[str] = []
    for part in _parts(text, separators[at]):
        if len(part) < size:  # not <=: a part of just this size is cut further, and joined again
            short.append(part)
            continue
        found += _joined(short, size, overlap)
        short = []
        weaker = separators[at + 1 :]
        found += pieces(part, size, overlap, weaker) if weaker else [part.strip()]
    return [piece for piece in (*found, *_joined(short, size, overlap)) if piece]


def _parts(text: str, separator: str) -> list[str]:
    """``text`` cut before each ``separator``; in single characters for the empty one."""
    if not separator:
        return list(text)
    first, *others = re.split(re.escape(separator), text)
    return [part for part in (first, *(separator + other for other in others)) if part]


def _joined(parts: Sequence[str], size: int, overlap: int) -> Iterator[str]:
    """Neighbours joined up to ``size``; the next piece begins with the last parts that fit into ``overlap``."""
    held: list[str] = []
    length = 0
    for part in parts:
        if held and length + len(part) > size:
            yield "".join(held).strip()
            while length > overlap or (length and length + len(part) > size):
                length -= len(held.pop(0))
        held.append(part)
        length += len(part)
    if held:
        yield "".join(held).strip()
