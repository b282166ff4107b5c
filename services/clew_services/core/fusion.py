"""Fusion: two ranked lists become one, and every rank and raw score stays readable.

By reciprocal rank, or by the sum of standardised scores; both are functions of the two legs alone.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from clew_schema.limits import RRF_K

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew_schema.evidence import Evidence

Leg = Literal["dense", "bm25"]


def rrf(
    dense: Sequence[Evidence], bm25: Sequence[Evidence] | None, *, k: int = RRF_K
) -> tuple[Evidence, ...]:
    """Everything that either leg found, best first, with ``rank`` (from 1) and ``fused_score`` set.

    ``fused_score`` is the sum of 1/(k + rank) over the legs that returned the chunk (Cormack, Clarke and
    Buettcher, SIGIR 2009); both legs' ranks and raw scores are kept. ``bm25`` null: the store has no such
    leg; the dense order and scores stand, and there is no fused score. Only the ranks written in the evidence
    count, not its place in the sequence. Equal scores are ordered by the dense rank, then the BM25 rank, then
    the chunk id. Raises ValueError for a missing rank.
    """
    near, alike = _by_id(dense, "dense"), _by_id(bm25 or (), "bm25")
    if bm25 is None:
        return _alone(near)

    def score(key: str) -> float:
        total = 0.0
        if (one := near.get(key)) is not None:
            total += 1 / (k + (one.dense_rank or 0))
        if (other := alike.get(key)) is not None:
            total += 1 / (k + (other.bm25_rank or 0))
        return total

    return _fused(near, alike, score)


MISSING = 0.5
"""Standard deviations below a leg's worst candidate that a chunk is taken to be which that leg did not return."""


def zscore(dense: Sequence[Evidence], bm25: Sequence[Evidence] | None) -> tuple[Evidence, ...]:
    """As :func:`rrf`, with the sum over the legs of standardised scores: how far above its leg's mean a chunk is.

    In standard deviations of that leg's candidates for this question; 0 in a leg whose scores are all alike. A
    chunk that a leg did not return stands ``MISSING`` below the worst that it did return; a leg that found
    nothing says nothing. Raises ValueError for a missing rank or score.
    """
    near, alike = _by_id(dense, "dense"), _by_id(bm25 or (), "bm25")
    if bm25 is None:
        return _alone(near)
    by_meaning, far = _standardised({key: _score(each, "dense") for key, each in near.items()})
    by_words, strange = _standardised({key: _score(each, "bm25") for key, each in alike.items()})
    return _fused(near, alike, lambda key: by_meaning.get(key, far) + by_words.get(key, strange))


FUSIONS: Mapping[
    Literal["rrf", "zscore"],
    Callable[[Sequence[Evidence], Sequence[Evidence] | None], tuple[Evidence, ...]],
] = {"rrf": rrf, "zscore": zscore}
"""By the name of the score that they give."""


def _by_id(found: Sequence[Evidence], leg: Leg) -> dict[str, Evidence]:
    """Each chunk once, with its best rank."""
    best: dict[str, Evidence] = {}
    for each in found:
        rank = _rank(each, leg)
        if rank is None:
            raise ValueError(f"{each.chunk_id} came from the {leg} leg without {leg}_rank")
        held = best.get(each.chunk_id)
        if held is None or rank < (_rank(held, leg) or 0):
            best[each.chunk_id] = each
    return best


def _rank(evidence: Evidence, leg: Leg) -> int | None:
    return evidence.dense_rank if leg == "dense" else evidence.bm25_rank


def _score(evidence: Evidence, leg: Leg) -> float:
    score = evidence.dense_score if leg == "dense" else evidence.bm25_score
    if score is None:
        raise ValueError(f"{evidence.chunk_id} came from the {leg} leg without {leg}_score")
    return score


def _standardised(scores: Mapping[str, float]) -> tuple[dict[str, float], float]:
    """Each score as standard deviations from the mean, and what stands for a missing one."""
    if not scores:
        return {}, 0.0
    mean = fmean(scores.values())
    spread = math.sqrt(fmean((score - mean) ** 2 for score in scores.values()))
    if spread < 1e-9 * max(1.0, abs(mean)):
        return dict.fromkeys(scores, 0.0), -MISSING
    standardised = {key: (score - mean) / spread for key, score in scores.items()}
    return standardised, min(standardised.values()) - MISSING


def _alone(near: Mapping[str, Evidence]) -> tuple[Evidence, ...]:
    ordered = sorted(near.values(), key=lambda each: (each.dense_rank, each.chunk_id))
    return tuple(each.model_copy(update={"rank": rank}) for rank, each in enumerate(ordered, 1))


def _fused(
    near: Mapping[str, Evidence], alike: Mapping[str, Evidence], score: Callable[[str], float]
) -> tuple[Evidence, ...]:
    """Both legs' chunks by ``score``, each copied once."""

    def order(key: str) -> tuple[float, float, float, str]:
        one, other = near.get(key), alike.get(key)
        return (
            -score(key),
            math.inf if one is None else one.dense_rank or 0,
            math.inf if other is None else other.bm25_rank or 0,
            key,
        )

    fused = []
    for rank, (negative, _, _, key) in enumerate(sorted(map(order, {**near, **alike})), 1):
        update: dict[str, float | None] = {"rank": rank, "fused_score": -negative}
        found, other = near.get(key), alike.get(key)
        if other is not None:
            update |= {"bm25_rank": other.bm25_rank, "bm25_score": other.bm25_score}
        fused.append((found or alike[key]).model_copy(update=update))
    return tuple(fused)
