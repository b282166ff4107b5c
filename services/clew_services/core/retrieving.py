"""What becomes of the candidates of one retrieval: ranked, cut, told in figures. Pure; ``retrieve`` does the asking.

Mode strict is SuperMew's, quirks included: a reranker's reply is taken as it comes, and the least score applies to
whatever kind of score there is. Mode improved applies it to a reranker's scores alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew_schema.evidence import Evidence, Merge, Rejected, Rerank, Retrieval, RetrievalMode, ScoreKind
from clew_schema.facts import Mode
from clew_schema.limits import MERGE_THRESHOLD
from clew_services.core import ranking
from clew_services.core.candidates import Pool
from clew_services.core.merging import LEAF_LEVEL, Merging
from clew_services.core.ranking import Reranked
from clew_services.core.rejecting import rejected

EMPTY_REPLY = "empty_rerank_results"
"""What the trace says of a reranker's reply without any usable line (SuperMew's words)."""
_PLACEHOLDERS = ("your_", "your-", "replace-with")
_PLACEHOLDERS_INSIDE = ("your-rerank", "your_rerank")
_PATH = "/v1/rerank"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """The reranker's settings as they were written; what the example configuration left in them is as good as none."""

    model: str = ""
    host: str = ""
    key: str = ""
    timeout_seconds: float = 5.0
    minimum_score: float = 0.0

    @property
    def enabled(self) -> bool:
        """Whether model, host and key are all set."""
        return bool(_set(self.model) and _set(self.host) and _set(self.key))

    @property
    def endpoint(self) -> str:
        """The address that is asked; blank without a host."""
        host = (_set(self.host) or "").rstrip("/")
        return host if not host or host.endswith(_PATH) else host + _PATH

    @property
    def patience(self) -> float:
        """Seconds that an answer is waited for, at least a tenth."""
        return max(self.timeout_seconds, 0.1)

    @property
    def model_set(self) -> str:
        """The model's name; blank for none and for an example's."""
        return _set(self.model) or ""

    @property
    def key_set(self) -> str:
        """The key; blank for none and for an example's."""
        return _set(self.key) or ""


def _set(written: str) -> str | None:
    value = written.strip()
    low = value.lower()
    is_example = low.startswith(_PLACEHOLDERS) or any(part in low for part in _PLACEHOLDERS_INSIDE)
    return value if value and not is_example else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one retrieval is configured. ``reranks``: there is a reranker to ask. ``fusion`` names the fused score."""

    mode: Mode = "strict"
    top_k: int
    pool: Pool
    fusion: ScoreKind = "rrf"
    reranking: Reranking = Reranking()
    reranks: bool = False
    merge_enabled: bool = True
    merge_threshold: int = MERGE_THRESHOLD
    leaf_level: int = LEAF_LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What came of asking the reranker: its lines, or what went wrong and the code of that error."""

    lines: tuple[Reranked, ...] = ()
    error: str | None = None
    error_code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The evidence of a retrieval, what is told of the reranking, and the candidates that were left out, best first."""

    evidence: tuple[Evidence, ...]
    rerank: Rerank
    rejected: tuple[Rejected, ...] = ()


def rank(plan: Plan, candidates: tuple[Evidence, ...], attempt: Attempt | None) -> Ranked:
    """The best ``top_k`` of ``candidates`` that pass the least score; null: no reranker was asked.

    By the reranker's lines where there are any, else by the score they were recalled with. In mode strict
    ``rank`` is the place among ``candidates``, as SuperMew's ``rrf_rank`` is, in mode improved that in the result.
    """
    is_strict = plan.mode == "strict"
    succeeded = attempt is not None and bool(attempt.lines)
    if is_strict:
        candidates = ranking.numbered(candidates)
    if attempt is not None and succeeded:
        order = ranking.reranked(candidates, attempt.lines, len(attempt.lines))
    else:
        order = ranking.by_score(candidates, len(candidates))
    best = order[: plan.top_k]
    minimum = plan.reranking.minimum_score
    # 0 is the default: the scores of some rerankers are logits, of which a good half is below it.
    is_applied = is_strict or (succeeded and minimum != 0)
    kept = best
    if is_applied:
        kept = ranking.above(best, minimum) if is_strict else ranking.reranked_above(best, minimum)
    rerank = settings_told(plan).model_copy(
        update={
            "attempted": attempt is not None,
            "succeeded": succeeded,
            "error": attempt.error if attempt else None,
            "error_code": attempt.error_code if attempt else "",
            "score_kind": "rerank" if succeeded else plan.fusion,
            "threshold_applied": is_applied,
            "count": len(best),
        }
    )
    left_out = _left_out(plan, candidates, order, {each.chunk_id for each in kept})
    return Ranked(evidence=kept if is_strict else ranking.numbered(kept), rerank=rerank, rejected=left_out)


def _left_out(
    plan: Plan, candidates: Sequence[Evidence], order: Sequence[Evidence], kept: set[str]
) -> tuple[Rejected, ...]:
    """Of the best, what was not ``kept`` failed the least score; what is not among them is beyond the limit.

    A reranker that was asked for the best alone names no others: those follow as they were recalled.
    """
    out: dict[str, Rejected] = {}
    for place, each in enumerate((*order, *candidates), 1):
        if each.chunk_id not in kept and each.chunk_id not in out:
            out[each.chunk_id] = rejected(
                each,
                "below-threshold" if place <= min(plan.top_k, len(order)) else "beyond-limit",
                rank=each.rank if plan.mode == "strict" else place,
            )
    return tuple(out.values())


def settings_told(plan: Plan) -> Rerank:
    """The reranker's settings, as a trace tells them."""
    return Rerank(
        enabled=plan.reranks,
        model=plan.reranking.model_set,
        endpoint=plan.reranking.endpoint,
        timeout_seconds=plan.reranking.patience,
        minimum_score=plan.reranking.minimum_score,
    )


def succeeded(
    plan: Plan, mode: RetrievalMode, *, recalled: int, merging: Merging, given: int, ranked: Ranked
) -> Retrieval:
    """The figures of a retrieval that came to its end, possibly with nothing found or without its reranker.

    ``recalled`` is what the legs found, ``given`` what was ranked: ``merging``'s candidates, or fewer.
    """
    told = _configured(plan, mode, ranked.rerank)
    merge = told.merge.model_copy(
        update={"applied": merging.applied, "replaced": merging.replaced, "steps": merging.steps}
    )
    return told.model_copy(
        update={
            "recall_count": recalled,
            "merged_count": len(merging.candidates),
            "candidate_count": given,
            "kept_count": len(ranked.evidence),
            "merge": merge,
        }
    )


def failed(plan: Plan, error: str) -> Retrieval:
    """The figures of one that did not: ``embedding_failed`` or ``retrieve_failed``. SuperMew's alone: ours raise."""
    return _configured(plan, "failed", settings_told(plan).model_copy(update={"error": error}))


def _configured(plan: Plan, mode: RetrievalMode, rerank: Rerank) -> Retrieval:
    return Retrieval(
        mode=mode,
        candidate_k=plan.pool.candidate_k,
        candidate_k_source=plan.pool.source,
        candidate_k_config_error=plan.pool.config_error,
        candidate_multiplier=plan.pool.multiplier,
        top_k=plan.top_k,
        leaf_level=plan.leaf_level,
        merge=Merge(enabled=plan.merge_enabled, threshold=plan.merge_threshold),
        rerank=rerank,
        fusion=plan.fusion,
    )
