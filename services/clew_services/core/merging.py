"""Auto-merge: when enough children of one parent were found, the parent takes their place.

Two passes, from leaves to their parents and from those to theirs. Fetching parents is the caller's: in each
pass :func:`needed_parents` says which, and :func:`merge` uses what was found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clew_schema.evidence import Evidence
from clew_services.core.ranking import effective_score, with_score

PASSES = 2
"""Leaves (level 3) to level 2, level 2 to level 1."""
THRESHOLD = 2
"""Children of one parent that make it worth taking (SuperMew's AUTO_MERGE_THRESHOLD)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Evidence with the id of its parent (blank: none) and how many children it stands for (0: itself)."""

    evidence: Evidence
    parent_id: str = ""
    merged_children: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """The candidates after some passes. ``replaced`` counts children, ``steps`` the passes that replaced any."""

    candidates: tuple[Candidate, ...]
    replaced: int = 0
    steps: int = 0

    @property
    def applied(self) -> bool:
        """Whether any parent took its children's place."""
        return self.replaced > 0


def is_enabled(written: str) -> bool:
    """Whether the setting turns merging on: everything but the word "false" does, in any case."""
    return written.strip().lower() != "false"


def needed_parents(candidates: Sequence[Candidate], threshold: int = THRESHOLD) -> tuple[str, ...]:
    """Ids of the parents that at least ``threshold`` candidates share, in the order of their first child."""
    return tuple(parent for parent, count in _families(candidates).items() if count >= threshold)


def merge(merging: Merging, parents: Mapping[str, Candidate], threshold: int = THRESHOLD) -> Merging:
    """One pass: each needed parent that is in ``parents`` stands where its first child stood, once.

    Its score is the best effective score of those children. Candidates whose parent is missing stay.
    """
    families = _families(merging.candidates)
    taken = {
        parent: parents[parent]
        for parent in needed_parents(merging.candidates, threshold)
        if parent in parents
    }
    if not taken:
        return merging
    merged: dict[str, Candidate] = {}  # by parent's id, or a key of its own for what stays
    for place, candidate in enumerate(merging.candidates):
        key = candidate.parent_id.strip()
        if key not in taken:
            merged[f"\0{place}"] = candidate
        elif key not in merged:
            parent = replace(taken[key], merged_children=families[key])
            merged[key] = _scored(parent, effective_score(candidate.evidence))
        else:
            merged[key] = _scored(
                merged[key],
                _larger(effective_score(merged[key].evidence), effective_score(candidate.evidence)),
            )
    return Merging(
        candidates=tuple(merged.values()),
        replaced=merging.replaced + sum(families[parent] for parent in taken),
        steps=merging.steps + 1,
    )


def _families(candidates: Sequence[Candidate]) -> Counter[str]:
    """How many children each parent has among ``candidates``, in the order of the first child."""
    return Counter(parent for each in candidates if (parent := each.parent_id.strip()))


def _scored(candidate: Candidate, value: float | None) -> Candidate:
    return replace(candidate, evidence=with_score(candidate.evidence, value))


def _larger(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)
