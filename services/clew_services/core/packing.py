"""How much evidence a model is given: whole pieces in their order, as many characters as the budget has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_services.core.chunking import PAGE_BREAK
from clew_services.core.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence

UNBOUNDED = 2**63
"""A budget that everything fits into."""

_WORTH = 1 / 3
"""The share of a piece that must be left for a cut one to be of use: a lead-in without its rule misleads."""

_BLANK = re.compile(r"\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What fits. ``[n]`` of whatever is made from it is the n-th of ``evidence``, from 1, and of nothing else.

    The order is that of the evidence given, and ``places`` says where each piece stood there, from 1. So numbers
    are the same up to the first piece that is missing. ``omitted`` pieces are missing, ``truncated`` (0 or 1) are cut.
    """

    evidence: tuple[Evidence, ...]
    places: tuple[int, ...]
    omitted: int = 0
    truncated: int = 0


def pack(evidence: Sequence[Evidence], budget_characters: int) -> Packed:
    """The pieces that fit into ``budget_characters`` of text, in their order; the same for the same input.

    The first that does not fit is cut after its last sentence that does, unless less than a third of it would be
    left: then it is omitted. Later, shorter pieces may still fit. The very first piece is never omitted: it is
    cut, at a blank if need be, so that there is evidence whenever some was given. A cut piece keeps its id and its
    rank; its ``text`` and ``end`` (and ``page_end``) are those of what is left. Raises ValueError for a budget below 1.
    """
    if budget_characters < 1:
        raise ValueError(f"a budget of {budget_characters} characters holds no evidence; give at least 1")
    kept: list[Evidence] = []
    places: list[int] = []
    left, truncated, tried = budget_characters, 0, False
    for place, item in enumerate(evidence, 1):
        fitting: Evidence | None = item
        if len(item.text) > left:
            fitting = None if tried else _cut(item, left, must=not kept)
            truncated += fitting is not None
            tried = True
        if fitting is not None:
            kept.append(fitting)
            places.append(place)
            left -= len(fitting.text)
    return Packed(
        evidence=tuple(kept), places=tuple(places), omitted=len(evidence) - len(kept), truncated=truncated
    )


def _cut(item: Evidence, room: int, *, must: bool) -> Evidence | None:
    """``item`` up to the last sentence end within ``room``; null when too little is left and it need not be."""
    end = max((sentence.end for sentence in sentences(item.text) if sentence.end <= room), default=0)
    if end < _WORTH * len(item.text):
        if not must:
            return None
        # A first sentence longer than the whole budget, or a table: half a sentence is better than no evidence.
        end = end or max((blank.start() for blank in _BLANK.finditer(item.text, 0, room)), default=0) or room
    text = item.text[:end]
    pages = {"page_end": item.page + text.count(PAGE_BREAK)} if item.page_end else {}
    return item.model_copy(update={"text": text, "end": item.start + end, **pages})
