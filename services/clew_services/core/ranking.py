"""The order of evidence: by score, or as a reranker says; the threshold; and the number each piece carries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew_schema.evidence import Evidence
from clew_services.errors import ModelReplyInvalid


def score(evidence: Evidence) -> float | None:
    """The score it was recalled with: fused, else that of the dense leg; null when it has none."""
    return evidence.dense_score if evidence.fused_score is None else evidence.fused_score


def effective_score(evidence: Evidence) -> float | None:
    """The reranker's score, else the one it was recalled with."""
    return score(evidence) if evidence.rerank_score is None else evidence.rerank_score


def with_score(evidence: Evidence, value: float | None) -> Evidence:
    """``evidence`` recalled with ``value``: what :func:`score` then returns."""
    if evidence.fused_score is None and evidence.dense_score is not None and value is not None:
        return evidence.model_copy(update={"dense_score": value})
    return evidence.model_copy(update={"fused_score": value})


def numbered(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """``evidence`` in its order, with ``rank`` counting from 1."""
    return tuple(each.model_copy(update={"rank": rank}) for rank, each in enumerate(evidence, 1))


def by_score(evidence: Sequence[Evidence], limit: int) -> tuple[Evidence, ...]:
    """The ``limit`` best by effective score, equals in their order; no score counts as 0."""
    return tuple(sorted(evidence, key=lambda each: -(effective_score(each) or 0.0))[:limit])


@dataclass(frozen=True, slots=True)
class Reranked:
    """One line of a reranker's reply: which passage (from 0), and its score if it gave one."""

    index: int
    score: float | None


def read_rerank(body: object, count: int) -> tuple[Reranked, ...]:
    """The usable lines of a ``/v1/rerank`` reply about ``count`` passages, in the provider's order.

    A line whose index is no number or none of ours is left out; a passage may come twice. Raises
    ModelReplyInvalid when the body is not an object with a list of objects, or a score is not a number.
    """
    results = (body.get("results") or []) if isinstance(body, dict) else None
    if not isinstance(results, list) or not all(isinstance(line, dict) for line in results):
        raise ModelReplyInvalid("the reranker's reply is no object with a list of results")
    return tuple(
        Reranked(line["index"], _score(line.get("relevance_score")))
        for line in results
        if isinstance(line.get("index"), int) and 0 <= line["index"] < count
    )


def _score(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float | str):
        try:
            return float(value)
        except ValueError:
            pass
    raise ModelReplyInvalid(f"the reranker gave a score that is no number: {str(value)[:40]!r}")


def by_rerank(scores: Sequence[float | None], count: int) -> tuple[Reranked, ...]:
    """One line for each of ``count`` passages, best first: those without a score last, equals in their order.

    Raises ModelReplyInvalid unless there is one score for each, finite or null, and any at all.
    """
    if len(scores) != count:
        raise ModelReplyInvalid(f"the reranker gave {len(scores)} scores for {count} passages")
    if any(score is not None and not math.isfinite(score) for score in scores):
        raise ModelReplyInvalid("the reranker gave a score that is no finite number")
    if all(score is None for score in scores):
        raise ModelReplyInvalid("the reranker gave no score to any passage")
    lines = [Reranked(index, score) for index, score in enumerate(scores)]
    return tuple(sorted(lines, key=lambda line: math.inf if line.score is None else -line.score))


def reranked(evidence: Sequence[Evidence], lines: Iterable[Reranked], limit: int) -> tuple[Evidence, ...]:
    """``evidence`` in the order of ``lines``, at most ``limit``; what they do not name is left out."""
    return tuple(
        evidence[line.index].model_copy(update={"rerank_score": line.score}) for line in list(lines)[:limit]
    )


def above(evidence: Iterable[Evidence], minimum: float) -> tuple[Evidence, ...]:
    """What scores at least ``minimum``, whatever kind the score is of; without a score, only if 0 would do."""

    def passes(value: float | None) -> bool:
        return minimum <= 0 if value is None else value >= minimum

    return tuple(each for each in evidence if passes(effective_score(each)))


def reranked_above(evidence: Iterable[Evidence], minimum: float) -> tuple[Evidence, ...]:
    """What the reranker itself gave at least ``minimum``; what it gave no score is left out."""
    return tuple(each for each in evidence if each.rerank_score is not None and each.rerank_score >= minimum)
