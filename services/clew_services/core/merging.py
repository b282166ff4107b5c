"""Auto-merge: when enough children of one parent were found, the parent takes their place.

Two passes, from leaves to their parents and from those to theirs. Fetching parents is the caller's: in each
pass :func:`needed_parents` says which, and :func:`merge` uses what was found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from clew_schema.evidence import Evidence
from clew_schema.limits import MERGE_THRESHOLD
from clew_services.core.ranking import effective_score

PASSES = 2
"""Leaves (level 3) to level 2, level 2 to level 1."""
LEAF_LEVEL = 3
"""The level of the chunks that are searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """The candidates after some passes. ``replaced`` counts children, ``steps`` the passes that replaced any.

    ``parents`` says of each replaced chunk, by its id, whose place it gave way to.
    """

    candidates: tuple[Evidence, ...]
    replaced: int = 0
    steps: int = 0
    parents: Mapping[str, str] = field(default_factory=dict)

    @property
    def applied(self) -> bool:
        """Whether any parent took its children's place."""
        return self.replaced > 0


def is_enabled(written: str) -> bool:
    """Whether the setting turns merging on: everything but the word "false" does, in any case."""
    return written.strip().lower() != "false"


def families(candidates: Iterable[Evidence]) -> Counter[str]:
    """How many children each parent has among ``candidates``, in the order of the first child."""
    return Counter(parent for each in candidates if (parent := each.parent_id.strip()))


def needed_parents(candidates: Iterable[Evidence], threshold: int = MERGE_THRESHOLD) -> tuple[str, ...]:
    """Ids of the parents that at least ``threshold`` candidates share, in the order of their first child."""
    return tuple(parent for parent, count in families(candidates).items() if count >= threshold)


def is_most(found: int, children: int) -> bool:
    """Whether ``found`` children are at least half of the ``children`` that a parent has; 0: it is not known."""
    return 2 * found >= children


def merge(merging: Merging, parents: Mapping[str, Evidence], threshold: int = MERGE_THRESHOLD) -> Merging:
    """One pass: each needed parent that is in ``parents`` stands where its first child stood, once.

    Its score is the best effective score of those children, its rank and score of each leg their best. What
    has no parent in ``parents`` stays.
    """
    needed = needed_parents(merging.candidates, threshold)
    children: dict[str, list[Evidence]] = {each: [] for each in needed if each in parents}
    if not children:
        return merging
    order: list[Evidence | str] = []
    for candidate in merging.candidates:
        parent = candidate.parent_id.strip()
        if parent not in children:
            order.append(candidate)
            continue
        if not children[parent]:
            order.append(parent)
        children[parent].append(candidate)
    return Merging(
        candidates=tuple(
            _standing_for(parents[each], children[each]) if isinstance(each, str) else each for each in order
        ),
        replaced=merging.replaced + sum(map(len, children.values())),
        steps=merging.steps + 1,
        parents=dict(merging.parents)
        | {child.chunk_id: parent for parent, found in children.items() for child in found},
    )


def without_contained(candidates: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """``candidates`` without those whose span lies inside a parent that is among them: they would add nothing.

    A parent takes over the place and the scores of what it holds, where those are better.
    """
    if all(each.level >= LEAF_LEVEL for each in candidates):
        return tuple(candidates)
    parents = [each for each in candidates if each.level < LEAF_LEVEL]
    holders = [next((p for p in parents if holds(p, each)), each) for each in candidates]
    # What holds a parent was not merged over it, so one more step finds the outermost.
    outermost = {each.chunk_id: holder for each, holder in zip(candidates, holders, strict=True)}
    held: dict[str, list[Evidence]] = {}
    for each, holder in zip(candidates, holders, strict=True):
        held.setdefault(outermost[holder.chunk_id].chunk_id, []).append(each)
    own = {each.chunk_id: each for each in candidates}
    return tuple(own[key] if len(inside) == 1 else _best_of(own[key], inside) for key, inside in held.items())


def holds(parent: Evidence, other: Evidence) -> bool:
    """Whether ``other`` lies inside ``parent``: a smaller piece of the same version of the same document."""
    return (
        parent.level < other.level
        and parent.document_id == other.document_id
        and parent.version == other.version
        and parent.start <= other.start
        and other.end <= parent.end
    )


def _standing_for(parent: Evidence, children: Sequence[Evidence]) -> Evidence:
    return _best_of(parent, children).model_copy(update={"merged_children": len(children)})


def _best_of(parent: Evidence, pieces: Sequence[Evidence]) -> Evidence:
    """``parent`` with the best score and, for each leg, the best rank and score of ``pieces``."""
    update: dict[str, float | None] = {}
    for leg in ("dense", "bm25"):
        ranks = [rank for each in pieces if (rank := getattr(each, f"{leg}_rank")) is not None]
        scores = [score for each in pieces if (score := getattr(each, f"{leg}_score")) is not None]
        update[f"{leg}_rank"] = min(ranks, default=None)
        update[f"{leg}_score"] = max(scores, default=None)
    # Evidence of a dense leg alone has no fused score: the dense one is its score.
    is_fused = any(each.fused_score is not None or each.rerank_score is not None for each in pieces)
    known = [score for each in pieces if (score := effective_score(each)) is not None]
    update["fused_score"] = max(known, default=None) if is_fused else None
    return parent.model_copy(update=update)
