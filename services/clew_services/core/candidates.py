"""How many candidates a retrieval takes before they are merged, reranked and cut down to the limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clew_schema.limits import CANDIDATE_MULTIPLIER

INVALID = "invalid RETRIEVAL_CANDIDATE_K"
"""What the trace says when the configured number is none (SuperMew's words)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The number of candidates, where it comes from, and what was wrong with the configured one."""

    candidate_k: int
    source: Literal["env", "multiplier"]
    multiplier: int
    config_error: str | None = None


def pool(top_k: int, *, configured: str | None = None, multiplier: str | None = None) -> Pool:
    """The pool for ``top_k`` results, never smaller than those.

    Both settings come as they were written; blank means not set. A ``configured`` number that cannot be
    read is reported and the multiple taken; a multiplier that cannot be read is the default, the least is 1.
    """
    factor = _number(multiplier)
    times = CANDIDATE_MULTIPLIER if factor is None else max(factor, 1)
    number = _number(configured)
    if number is not None:
        return Pool(candidate_k=max(number, top_k), source="env", multiplier=times)
    return Pool(
        candidate_k=max(top_k * times, top_k),
        source="multiplier",
        multiplier=times,
        config_error=INVALID if configured and configured.strip() else None,
    )


def _number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None
