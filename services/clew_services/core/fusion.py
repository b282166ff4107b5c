"""Reciprocal rank fusion: two ranked lists become one, and every rank and raw score stays readable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.limits import RRF_K

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence


def fuse(
    dense: Sequence[Evidence], bm25: Sequence[Evidence] | None, *, k: int = RRF_K
) -> tuple[Evidence, ...]:
    """Everything that either leg found, best first, with ``rank`` (from 1) and ``fused_score`` set.

    ``fused_score`` is the sum of 1/(k + rank) over the legs that returned the chunk (Cormack, Clarke and
    Buettcher, SIGIR 2009); both legs' ranks and raw scores are kept. ``bm25`` null: the store has no such
    leg. Only the ranks written in the evidence count, not its place in the sequence. Equal scores are
    ordered by the dense rank, then the BM25 rank, then the chunk id. Raises ValueError for a missing rank.
    """
    by_id: dict[str, Evidence] = {}
    for found in dense:
        if found.dense_rank is None:
            raise ValueError(f"{found.chunk_id} came from the dense leg without dense_rank")
        held = by_id.get(found.chunk_id)
        if held is None or (held.dense_rank or 0) > found.dense_rank:
            by_id[found.chunk_id] = found
    for found in bm25 or ():
        if found.bm25_rank is None:
            raise ValueError(f"{found.chunk_id} came from the BM25 leg without bm25_rank")
        held = by_id.get(found.chunk_id)
        if held is None or held.bm25_rank is None or held.bm25_rank > found.bm25_rank:
            by_id[found.chunk_id] = (held or found).model_copy(
                update={"bm25_rank": found.bm25_rank, "bm25_score": found.bm25_score}
            )
    scored = sorted((_order(evidence, k), evidence) for evidence in by_id.values())
    return tuple(
        evidence.model_copy(update={"rank": rank, "fused_score": -order[0]})
        for rank, (order, evidence) in enumerate(scored, 1)
    )


def _order(evidence: Evidence, k: int) -> tuple[float, float, float, str]:
    """What sorts first is best; the id makes it unique, so evidence itself is never compared."""
    ranks = (evidence.dense_rank, evidence.bm25_rank)
    dense, bm25 = (float("inf") if rank is None else rank for rank in ranks)
    return -sum(1 / (k + rank) for rank in ranks if rank is not None), dense, bm25, evidence.chunk_id
