"""What several calls cost together."""

from __future__ import annotations

from clew_services.ports import Usage


def total(first: Usage, second: Usage) -> Usage:
    """The sum of two calls, under the second one's model; null where neither service told."""
    return Usage(
        model=second.model,
        in_token=_sum(first.in_token, second.in_token),
        out_token=_sum(first.out_token, second.out_token),
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)
