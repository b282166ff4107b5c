"""One retrieval, told in 26 figures: what was asked for, what each stage left, and what failed.

The fields and their names are SuperMew's retrieval metadata; :func:`succeeded` and :func:`failed` fill them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from clew_schema.evidence import RetrievalMode
from clew_services.core.candidates import Pool
from clew_services.core.merging import THRESHOLD, Merging

LEAF_LEVEL = 3
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


def _set(written: str) -> str | None:
    value = written.strip()
    low = value.lower()
    is_example = low.startswith(_PLACEHOLDERS) or any(part in low for part in _PLACEHOLDERS_INSIDE)
    return value if value and not is_example else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The 26 figures of a retrieval. ``rerank_applied`` says that it was attempted, not that it succeeded."""

    rerank_enabled: bool
    rerank_applied: bool
    rerank_model: str | None
    rerank_endpoint: str
    rerank_error: str | None
    rerank_timeout_seconds: float
    rerank_min_score: float
    post_rerank_count: int
    post_threshold_count: int
    retrieval_empty: bool
    retrieval_mode: RetrievalMode
    retrieval_pipeline: str
    candidate_k: int
    candidate_k_source: str
    candidate_k_config_error: str | None
    retrieval_candidate_multiplier: int
    retrieval_top_k: int
    recall_count: int
    post_merge_candidate_count: int
    candidate_count: int
    leaf_retrieve_level: int
    auto_merge_enabled: bool
    auto_merge_applied: bool
    auto_merge_threshold: int
    auto_merge_replaced_chunks: int
    auto_merge_steps: int

    def record(self) -> dict[str, object]:
        """The figures by name, nulls included."""
        return asdict(self)


FIELDS: tuple[str, ...] = tuple(field.name for field in fields(Report))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What every report repeats: how the retrieval was configured."""

    top_k: int
    pool: Pool
    reranking: Reranking = Reranking()
    merge_enabled: bool = True
    merge_threshold: int = THRESHOLD
    leaf_level: int = LEAF_LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What each stage left: recalled, reranked, above the threshold; and whether a rerank was tried and failed."""

    recalled: int = 0
    reranked: int = 0
    above_threshold: int = 0
    rerank_attempted: bool = False
    rerank_error: str | None = None


def succeeded(asked: Asked, counts: Counts, merging: Merging, mode: RetrievalMode) -> Report:
    """The report of a retrieval that came to its end, possibly with nothing found or without its reranker."""
    merged = len(merging.candidates)
    return Report(
        rerank_enabled=asked.reranking.enabled,
        rerank_applied=counts.rerank_attempted,
        rerank_model=_set(asked.reranking.model),
        rerank_endpoint=asked.reranking.endpoint,
        rerank_error=counts.rerank_error,
        rerank_timeout_seconds=asked.reranking.patience,
        rerank_min_score=asked.reranking.minimum_score,
        post_rerank_count=counts.reranked,
        post_threshold_count=counts.above_threshold,
        retrieval_empty=counts.above_threshold == 0,
        retrieval_mode=mode,
        retrieval_pipeline="recall_merge_rerank",
        candidate_k=asked.pool.candidate_k,
        candidate_k_source=asked.pool.source,
        candidate_k_config_error=asked.pool.config_error,
        retrieval_candidate_multiplier=asked.pool.multiplier,
        retrieval_top_k=asked.top_k,
        recall_count=counts.recalled,
        post_merge_candidate_count=merged,
        candidate_count=merged,
        leaf_retrieve_level=asked.leaf_level,
        auto_merge_enabled=asked.merge_enabled,
        auto_merge_applied=merging.applied,
        auto_merge_threshold=asked.merge_threshold,
        auto_merge_replaced_chunks=merging.replaced,
        auto_merge_steps=merging.steps,
    )


def failed(asked: Asked, error: str) -> Report:
    """The report of a retrieval that did not come to its end: ``embedding_failed`` or ``retrieve_failed``."""
    return succeeded(asked, Counts(rerank_error=error), Merging(candidates=()), "failed")
