"""Seals: each fact of a run is tied to the one before it, so that a gap or an edit shows.

The seal of a fact is SHA-256 over the seal before it and the fact's own content, as JSON without defaults: what a
later version adds with a default leaves old seals as they are. Whoever keeps the last seal of a run elsewhere can
prove that nothing was changed; without that, an edit shows unless all later seals were made anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact


@dataclass(frozen=True, slots=True)
class BrokenSeal:
    """The fact at ``position`` (from 1) has another seal than follows from it and what is before it."""

    position: int
    kind: str
    found: str
    expected: str


def seal_of(fact: Fact, before: str) -> str:
    """The seal of ``fact`` after one whose seal is ``before`` (``""``: it is the first)."""
    content = fact.model_dump_json(exclude={"seal"}, exclude_defaults=True)
    return sha256(f"{before}\n{content}".encode("utf-8", "surrogatepass")).hexdigest()


def sealed(facts: Sequence[Fact], trail: Sequence[Fact] = ()) -> tuple[Fact, ...]:
    """``facts``, which follow ``trail``, with their seals."""
    before = trail[-1].seal if trail else ""
    out = []
    for fact in facts:
        before = seal_of(fact, before)
        out.append(fact.model_copy(update={"seal": before}))
    return tuple(out)


def broken_seals(facts: Sequence[Fact]) -> tuple[BrokenSeal, ...]:
    """What does not fit in a whole run, in its order; nothing for a run without any seal (an older Clew made it).

    A failure stands beside the run: its message was tried again, and what came of that follows the same fact as it did.
    """
    if not any(fact.seal for fact in facts):
        return ()
    broken = []
    before = ""
    for position, fact in enumerate(facts, start=1):
        expected = seal_of(fact, before)
        if fact.seal != expected:
            broken.append(BrokenSeal(position, fact.kind, fact.seal, expected))
        if fact.kind != "run_failed":
            before = fact.seal
    return tuple(broken)
