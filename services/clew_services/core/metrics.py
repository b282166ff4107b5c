"""Figures for retrieval and answers, each with its 95 % interval: pure functions of judged results.

A ranking is told as one set for each place: the targets (numbered from 0) that what stands there holds. A target
counts where it first appears; that two neighbours hold the same one earns nothing twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

Ranking: TypeAlias = "Sequence[AbstractSet[int]]"

Z95 = 1.959964
"""The normal distribution's two-sided 95 % point."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``n`` questions, and where the true one lies with 95 % confidence."""

    value: float
    low: float
    high: float
    n: int


def recall(ranking: Ranking, targets: int, k: int) -> float:
    """The share of the targets that the first ``k`` places hold. Raises ValueError without a target."""
    return len(_first_places(ranking, targets, k)) / targets


def hit(ranking: Ranking, targets: int, k: int) -> float:
    """1 if any of the first ``k`` places holds any target, else 0. Raises ValueError without a target."""
    return 1.0 if _first_places(ranking, targets, k) else 0.0


def reciprocal_rank(ranking: Ranking, targets: int, k: int) -> float:
    """1 / the first place, from 1, that holds a target; 0 when that is beyond ``k``. Raises ValueError likewise."""
    places = _first_places(ranking, targets, k)
    return 1 / min(places.values()) if places else 0.0


def ndcg(ranking: Ranking, targets: int, k: int) -> float:
    """Normalised discounted cumulative gain: the sum over targets of ``1 / log2(1 + place)``, over the best possible.

    Jaervelin and Kekaelaeinen, 2002, with gains of 0 and 1. The best possible has each target at a place of its own;
    places that hold several may reach it sooner, so the quotient is capped at 1. Raises ValueError without a target.
    """
    gained = sum(1 / math.log2(1 + place) for place in _first_places(ranking, targets, k).values())
    best = sum(1 / math.log2(1 + place) for place in range(1, min(targets, k) + 1))
    return min(1.0, gained / best)


def _first_places(ranking: Ranking, targets: int, k: int) -> dict[int, int]:
    """For each target found in the first ``k`` places, the first of them."""
    if targets < 1 or k < 1:
        raise ValueError(f"a ranking is judged by at least one target and place, got {targets} and {k}")
    places: dict[int, int] = {}
    for place, held in enumerate(ranking[:k], 1):
        for target in held:
            places.setdefault(target, place)
    return places


def mean(values: Sequence[float]) -> Mean | None:
    """The mean of values between 0 and 1 with its interval; null for no value.

    Where all are 0 or 1 the interval is Wilson's (1927), which stays sound near the ends; otherwise the normal one
    from the sample's standard deviation, cut at 0 and 1. Raises ValueError for a value outside.
    """
    if any(not 0 <= value <= 1 for value in values):
        raise ValueError("a share lies between 0 and 1")
    if not values:
        return None
    if all(value in {0, 1} for value in values):
        return Mean(fmean(values), *_wilson(sum(values), len(values)), len(values))
    found = _normal(values)
    return Mean(found.value, max(0.0, found.low), min(1.0, found.high), found.n)


def difference(first: Sequence[float], second: Sequence[float]) -> Mean | None:
    """How much larger ``second`` is than ``first``, question by question, in the same order; null for none.

    Pairing takes away what makes some questions harder for both. Raises ValueError for unequal lengths.
    """
    pairs = [after - before for before, after in zip(first, second, strict=True)]
    return _normal(pairs) if pairs else None


def _wilson(successes: float, n: int) -> tuple[float, float]:
    share, z2 = successes / n, Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def _normal(values: Sequence[float]) -> Mean:
    value = fmean(values)
    half = Z95 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return Mean(value, value - half, value + half, len(values))


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that at least ``share`` (above 0, at most 1) of ``values`` do not exceed: nearest rank.

    Raises ValueError for no value, or for another share.
    """
    if not values or not 0 < share <= 1:
        raise ValueError(f"a percentile needs values and a share above 0 up to 1, got {share}")
    return sorted(values)[math.ceil(share * len(values)) - 1]
