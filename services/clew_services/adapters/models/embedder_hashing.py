"""An embedder without a model: signed feature hashing. Instant and exact, for tests, CI and smoke runs.

It sees shared words, not meaning; the BM25 leg knows more. It exists so that everything else can run.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import TYPE_CHECKING

from clew_services.core.sentences import words
from clew_translators.memo import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence


class HashingEmbedder:
    """Each word adds sqrt(its count), with a sign, to one of the dimensions; the sum is scaled to length 1.

    Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009. A text without
    words counts as one word, so every vector is a unit vector. The same text gives the same vector
    on every machine. Questions and passages are treated alike.
    """

    def __init__(self, dimensions: int = 256) -> None:
        """``dimensions``: from 1. Vectors of different sizes cannot be compared, so it is part of the name."""
        if dimensions < 1:
            raise ValueError(f"dimensions must be at least 1, got {dimensions}")
        self.dimensions = dimensions
        self.name = f"hashing-{dimensions}"

    async def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return self._vector(text)

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of passages, in order."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        sums = [0.0] * self.dimensions
        for word, count in (Counter(words(text)) or Counter([f"\0{text}"])).items():
            feature = _feature(word)
            sums[(feature >> 1) % self.dimensions] += math.sqrt(count) if feature & 1 else -math.sqrt(count)
        length = math.sqrt(sum(value * value for value in sums))
        if length == 0.0:  # every word met its opposite: say so in one fixed direction
            return [1.0] + [0.0] * (self.dimensions - 1)
        return [value / length for value in sums]


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())


_feature = remembered(_hash, entries=65_536)
