"""What a retrieval found and did not return, and why: for the trace, without texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.evidence import Rejected
from clew_services.core.merging import PASSES, holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from clew_schema.evidence import Evidence, RejectionReason
    from clew_services.core.merging import Merging


def rejected(
    evidence: Evidence, reason: RejectionReason, *, rank: int | None = None, into: str = ""
) -> Rejected:
    """``evidence`` as it was left out, with its scores and its rank, unless another ``rank`` is given."""
    return Rejected(
        chunk_id=evidence.chunk_id,
        reason=reason,
        document_id=evidence.document_id,
        page=evidence.page,
        rank=evidence.rank if rank is None else rank,
        dense_score=evidence.dense_score,
        bm25_score=evidence.bm25_score,
        fused_score=evidence.fused_score,
        rerank_score=evidence.rerank_score,
        into=into,
    )


def rejections(
    recalled: Iterable[Evidence],
    *,
    merging: Merging,
    candidates: Sequence[Evidence],
    returned: Iterable[Evidence],
    ranked_out: Sequence[Rejected],
    limit: int,
) -> tuple[Rejected, ...]:
    """At most ``limit``: first ``ranked_out``, what the ranking left of ``candidates``; then the rest of ``recalled``.

    Of the rest, ``merging`` put a parent in the place of some, or one of ``candidates`` holds them whole: ``into`` is
    that parent, which may itself be among those that were left out. What is neither was too much to be ranked.
    """
    known = {each.chunk_id for each in returned} | {each.chunk_id for each in ranked_out}
    standing = {each.chunk_id for each in candidates}
    out = list(ranked_out[:limit])
    for each in recalled:
        if len(out) >= limit:
            break
        if each.chunk_id not in known:
            into = _stands_for(each, merging, candidates, standing)
            out.append(rejected(each, "merged-into-parent" if into else "beyond-limit", into=into))
    return tuple(out)


def _stands_for(
    each: Evidence, merging: Merging, candidates: Sequence[Evidence], standing: AbstractSet[str]
) -> str:
    """The candidate that took the place of ``each``; ``""`` for none."""
    name = each.chunk_id
    for _ in range(PASSES):
        name = merging.parents.get(name, name)
    if name in standing:
        return name
    held = next((one for one in merging.candidates if one.chunk_id == name), None)
    return next((one.chunk_id for one in candidates if held and holds(one, held)), "")
