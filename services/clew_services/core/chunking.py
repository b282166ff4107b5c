"""Cutting a document into chunks of three levels whose offsets are exact: ``text == document[start:end]``.

The *cores* of the leaves (level 3) tile the document: every character that is not blank is in just one. Leaves are
cut first, as long as their size and the sentences allow; consecutive leaves make a chunk of level 2 up to its size,
and consecutive chunks of level 2 one of level 1. Before its core a chunk repeats what completes the thought: at most
its level's overlap, as far as its size leaves room, and never across a paragraph, nor across the start of its parent.
(SuperMew cuts each level out of overlapping chunks of the one above: on the documents of this project a fifth of its
leaves lay wholly inside of another.)

Full leaves rather than equal ones, because taking documents in costs an embedding a leaf. Measured on the five texts
and 472 questions of chunking_evaluation, by BM25 alone, 24 candidates, the share of the characters that answer: ::

                                leaves   length   8 leaves   8 merged   merged, 6400 characters
    level by level, equal         2776      528       .847       .914   .895
    full (this)                   2087      698       .888       .934   .890

Eight of the longer leaves are more text (merged 8294 characters rather than 6844): in the same room for the context
they find no more. Almost every chunk of level 2 has two leaves or more (99.8 %), so it can take their place. Of level
1 only 4 % have two of level 2: with sizes of 2400, 1600 and 800 two full ones do not fit. Where they do, as with 3200
for level 1, they are joined. Level 1 of three leaves each would not help: the third is alone in its chunk of level 2,
which no merging can reach, and merging found .920.

Each leaf has an ancestor on both levels, though it be the only child. Lengths are code points.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from clew_schema import ids
from clew_schema.evidence import Evidence
from clew_schema.limits import CHUNK_OVERLAPS, CHUNK_SIZES
from clew_services.core.cutting import Span, cut, lead_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE_BREAK = "\f"
"""Stands between two pages of an extracted text, and nowhere else: so a span's page can be counted."""

_CUTS = 3
"""Changes whenever the same text and options are cut in another way: then documents have other versions."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an extracted text: its number from 1, and ``text[start:end]``."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """How long a chunk of level 1, 2 and 3 is at most, and how much of what is before it it may repeat.

    In code points. Raises ValueError unless sizes do not grow from level to level and 0 <= overlap < size.
    """

    sizes: tuple[int, int, int] = CHUNK_SIZES
    overlaps: tuple[int, int, int] = CHUNK_OVERLAPS

    def __post_init__(self) -> None:
        if not self.sizes[0] >= self.sizes[1] >= self.sizes[2]:
            raise ValueError(
                f"chunk sizes must not grow from level 1 to level 3, got {', '.join(map(str, self.sizes))}"
            )
        for level, (size, overlap) in enumerate(zip(self.sizes, self.overlaps, strict=True), 1):
            if not 0 <= overlap < size:
                raise ValueError(
                    f"chunks of level {level} need 0 <= overlap < size, got overlap {overlap}, size {size}"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """``document[start:end]``, no blank at either end. ``ordinal`` and ``parent`` count from 0 in their levels.

    ``parent`` is -1 on level 1; ``children`` counts chunks of the level below, and is 0 for a leaf. Pages count
    from 1; 0 means that the format has none.
    """

    level: int
    ordinal: int
    start: int
    end: int
    parent: int
    children: int
    page: int
    page_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What all chunks of a document version have in common."""

    document_id: str
    version: str
    filename: str
    file_type: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A core on its way to a chunk, which begins at ``start``."""

    core: Span
    start: int
    parent: int


Levels = tuple[tuple[Chunk, ...], tuple[Chunk, ...], tuple[Chunk, ...]]
"""The chunks of level 1, 2 and 3 of a document, each in order."""


def split(text: str, options: Chunking, pages: Sequence[Page] = ()) -> Levels:
    """The chunks of ``text``; no level has any for a text of blanks."""
    sizes, overlaps = options.sizes, options.overlaps
    leaves = list(cut(text, Span(0, len(text)), sizes[2]))
    middle, of_leaves = _packed(leaves, sizes[1])
    top, of_middle = _packed(middle, sizes[0])
    whole = [_Piece(Span(0, len(text)), 0, -1)]
    first = list(_led_in(text, (top, [0] * len(top)), whole, sizes[0], overlaps[0]))
    second = list(_led_in(text, (middle, of_middle), first, sizes[1], overlaps[1]))
    third = list(_led_in(text, (leaves, of_leaves), second, sizes[2], overlaps[2]))
    starts = [page.start for page in pages]

    def page_at(offset: int) -> int:
        return pages[max(0, bisect_right(starts, offset) - 1)].number if pages else 0

    def chunks(level: int, pieces: Sequence[_Piece], below: Sequence[_Piece]) -> tuple[Chunk, ...]:
        children = Counter(piece.parent for piece in below)
        return tuple(
            Chunk(
                level=level,
                ordinal=ordinal,
                start=piece.start,
                end=piece.core.end,
                parent=piece.parent if level > 1 else -1,
                children=children[ordinal],
                page=page_at(piece.start),
                page_end=page_at(piece.core.end - 1),
            )
            for ordinal, piece in enumerate(pieces)
        )

    return chunks(1, first, second), chunks(2, second, third), chunks(3, third, ())


def _packed(cores: Sequence[Span], room: int) -> tuple[list[Span], list[int]]:
    """Consecutive ``cores`` joined up to a length of ``room``, and for each core the number of what it is in.

    A last one that would be alone takes a neighbour over from three or more: two can be merged, one cannot.
    """
    begins: list[int] = []
    for n, core in enumerate(cores):
        if not begins or core.end - cores[begins[-1]].start > room:
            begins.append(n)
    is_lone = len(begins) > 1 and begins[-1] == len(cores) - 1 and begins[-1] - begins[-2] > 2
    if is_lone and cores[-1].end - cores[-2].start <= room:
        begins[-1] -= 1
    joined, numbers = [], []
    for number, (low, high) in enumerate(pairwise([*begins, len(cores)])):
        joined.append(Span(cores[low].start, cores[high - 1].end, cores[low].strength))
        numbers += [number] * (high - low)
    return joined, numbers


def _led_in(
    text: str, joined: tuple[list[Span], list[int]], parents: Sequence[_Piece], size: int, overlap: int
) -> Iterator[_Piece]:
    """The pieces of a level, in order: each core, of the parent with that number, with what it repeats."""
    before = -1
    for core, parent in zip(*joined, strict=True):
        # Not before the core of the neighbour begins, so that no chunk lies inside of another.
        floor = max(core.start - overlap, core.end - size, parents[parent].start, before + 1)
        yield _Piece(core, lead_in(text, core, floor), parent)
        before = core.start


def content_hash(text: str) -> str:
    """The first 128 bits of the text's SHA-256, in hexadecimal: the key under which its vector is remembered."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def document_id(collection: str, name: str) -> str:
    """The id of the document that ``collection`` knows as ``name``, whatever its content."""
    return f"urn:document:{ids.derive(collection, name)}"


def version_of(text: str, options: Chunking, embedder: str) -> str:
    """The version of a document: a function of all that decides its chunks and vectors, 64 bits in hexadecimal."""
    how = ":".join(map(str, chain((_CUTS,), options.sizes, options.overlaps)))
    return content_hash(f"{how}:{embedder}:{text}")[:16]


def evidence(chunk: Chunk, text: str, source: Source, parent_id: str = "") -> Evidence:
    """``chunk`` of ``text`` as evidence. Its id is a function of document, version, level, ordinal and content."""
    content = content_hash(text[chunk.start : chunk.end])
    place = ids.derive(source.document_id, source.version, chunk.level, chunk.ordinal, content)
    return Evidence(
        chunk_id=f"urn:chunk:{place}",
        document_id=source.document_id,
        version=source.version,
        filename=source.filename,
        file_type=source.file_type,
        page=chunk.page,
        page_end=chunk.page_end,
        start=chunk.start,
        end=chunk.end,
        ordinal=chunk.ordinal,
        level=chunk.level,
        parent_id=parent_id,
        content_hash=content,
        text=text[chunk.start : chunk.end],
    )
