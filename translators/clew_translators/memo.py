"""Remembering what was made of a text, and holding no caller's text for it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

LONGEST = 200
"""Characters of a text that is remembered: our own names are shorter, and a full cache of such texts stays small."""


def remembered(function: Callable[[str], T], *, entries: int, longest: int = LONGEST) -> Callable[[str], T]:
    """``function``, which must be pure, with the ``entries`` latest results for texts up to ``longest`` characters.

    A longer text is worked out each time. ``lru_cache`` alone counts entries, not bytes: callers who send long texts
    would have it hold thousands of those.
    """
    known = lru_cache(maxsize=entries)(function)

    def recall(text: str) -> T:
        return known(text) if len(text) <= longest else function(text)

    return recall
