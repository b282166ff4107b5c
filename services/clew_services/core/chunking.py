"""Cutting a document into leaves whose offsets are exact: ``chunk.text == document[chunk.start:chunk.end]``.

A recursive splitter: a piece that is too long is cut at the strongest boundary that it contains (blank
line, sentence, line, clause, word), and neighbouring pieces are then joined up to the size. A boundary
belongs to the piece before it, so a sentence keeps its full stop. Lengths are code points.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import ids
from clew_schema.evidence import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE_BREAK = "\f"
"""Stands between two pages of an extracted text, and nowhere else: so a span's page can be counted."""

_BOUNDARIES: tuple[re.Pattern[str], ...] = (
    re.compile(r"\n[ \t\r]*\n\s*"),
    re.compile(r"[。！？]+[”’」』）]*"),  # these need no space after them
    # These do: 3.14 and clew.yaml are one word. "2. Terms" and "1.12. Terms" are not cut after their number.
    re.compile(r"(?<!\s\d)(?<!\s\d\d)(?<!\d\.\d)(?<!\d\.\d\d)[.!?]+[\"'”’)\]]*\s+"),
    re.compile(r"[\n\f]+"),
    re.compile(r"[，、；]"),
    re.compile(r"\s+"),
)
"""Where a text may be cut, strongest first; the cut is at the end of the match."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an extracted text: its number from 1, and ``text[start:end]``."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """How long a leaf is and how much of its end the next one repeats, in code points.

    The overlap is made of whole pieces, so it may be shorter than asked for, never longer, and nothing
    is repeated across a paragraph that fits as a whole. Raises ValueError unless 0 <= overlap < size.
    """

    size: int = 800
    overlap: int = 100

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise ValueError(
                f"chunking needs 0 <= overlap < size, got overlap {self.overlap}, size {self.size}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A leaf: ``text == document[start:end]``, no blank at either end; pages from 1, 0 means none."""

    ordinal: int
    start: int
    end: int
    text: str
    page: int = 0
    page_end: int = 0


def split(text: str, options: Chunking, pages: Sequence[Page] = ()) -> tuple[Chunk, ...]:
    """The leaves of ``text`` in order, each at most ``options.size`` long; every non-blank character is in one."""
    starts = [page.start for page in pages]

    def page_at(offset: int) -> int:
        return pages[max(0, bisect_right(starts, offset) - 1)].number if pages else 0

    spans = (_trim(text, start, end) for start, end in _join(_pieces(text, options.size), options))
    return tuple(
        Chunk(
            ordinal=ordinal,
            start=start,
            end=end,
            text=text[start:end],
            page=page_at(start),
            page_end=page_at(end - 1),
        )
        for ordinal, (start, end) in enumerate(_advancing(spans))
    )


def _pieces(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Consecutive spans that cover ``text``, none longer than ``size``; iterative, for texts of any shape."""
    pending = [(0, len(text), 0)]
    while pending:
        start, end, level = pending.pop()
        if end - start <= size:
            if start < end:
                yield start, end
        elif level == len(_BOUNDARIES):
            yield from ((cut, min(cut + size, end)) for cut in range(start, end, size))
        else:
            cuts = [start, *(found.end() for found in _BOUNDARIES[level].finditer(text, start, end)), end]
            pending += [(a, b, level + 1) for a, b in zip(cuts[-2::-1], cuts[:0:-1], strict=True)]


def _join(pieces: Iterator[tuple[int, int]], options: Chunking) -> Iterator[tuple[int, int]]:
    """Join neighbours up to the size; the next span begins with the last pieces that fit into the overlap."""
    held: list[tuple[int, int]] = []
    for piece in pieces:
        if held and piece[1] - held[0][0] > options.size:
            end = held[-1][1]
            yield held[0][0], end
            while held and (end - held[0][0] > options.overlap or piece[1] - held[0][0] > options.size):
                held.pop(0)
        held.append(piece)
    if held:
        yield held[0][0], held[-1][1]


def _advancing(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans that say something new: without their blanks, a small one may lie inside of its neighbour."""
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if start >= end or (kept and end <= kept[-1][1]):
            continue
        while kept and start <= kept[-1][0]:
            kept.pop()
        kept.append((start, end))
    return kept


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blanks at its ends; empty when nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def content_hash(text: str) -> str:
    """The first 128 bits of the text's SHA-256, in hexadecimal: the key under which its vector is remembered."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def document_id(collection: str, name: str) -> str:
    """The id of the document that ``collection`` knows as ``name``, whatever its content."""
    return f"urn:document:{ids.derive(collection, name)}"


def version_of(text: str, options: Chunking, embedder: str) -> str:
    """The version of a document: a function of all that decides its leaves and vectors, 64 bits in hexadecimal."""
    return content_hash(f"{options.size}:{options.overlap}:{embedder}:{text}")[:16]


def leaf(chunk: Chunk, *, document: str, version: str, filename: str, file_type: str) -> Evidence:
    """``chunk`` as evidence. Its id is a function of document, version, ordinal and content."""
    content = content_hash(chunk.text)
    return Evidence(
        chunk_id=f"urn:chunk:{ids.derive(document, version, chunk.ordinal, content)}",
        document_id=document,
        version=version,
        filename=filename,
        file_type=file_type,
        page=chunk.page,
        page_end=chunk.page_end,
        start=chunk.start,
        end=chunk.end,
        ordinal=chunk.ordinal,
        content_hash=content,
        text=chunk.text,
    )
