"""The 26 figures that a RAGTrace has of one retrieval, from our record of it and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clew_schema.evidence import Merge, Rerank, Retrieval


def figures(retrieval: Retrieval) -> dict[str, Any]:
    """The figures by name; those that are null in SuperMew (no model, no error) are left out.

    ``rerank_applied`` says that a reranker was asked, as it does there, not that it succeeded.
    """
    merge, rerank = retrieval.merge, retrieval.rerank
    told = {
        "rerank_enabled": rerank.enabled,
        "rerank_applied": rerank.attempted,
        "rerank_endpoint": rerank.endpoint,
        "rerank_timeout_seconds": rerank.timeout_seconds,
        "rerank_min_score": rerank.minimum_score,
        "post_rerank_count": rerank.count,
        "post_threshold_count": retrieval.kept_count,
        "retrieval_empty": retrieval.kept_count == 0,
        "retrieval_mode": retrieval.mode,
        "retrieval_pipeline": retrieval.pipeline,
        "candidate_k": retrieval.candidate_k,
        "candidate_k_source": retrieval.candidate_k_source,
        "retrieval_candidate_multiplier": retrieval.candidate_multiplier,
        "retrieval_top_k": retrieval.top_k,
        "recall_count": retrieval.recall_count,
        "post_merge_candidate_count": retrieval.merged_count,
        "candidate_count": retrieval.candidate_count,
        "leaf_retrieve_level": retrieval.leaf_level,
        "auto_merge_enabled": merge.enabled,
        "auto_merge_applied": merge.applied,
        "auto_merge_threshold": merge.threshold,
        "auto_merge_replaced_chunks": merge.replaced,
        "auto_merge_steps": merge.steps,
    }
    if rerank.model:
        told["rerank_model"] = rerank.model
    if rerank.error is not None:
        told["rerank_error"] = rerank.error
    if retrieval.candidate_k_config_error is not None:
        told["candidate_k_config_error"] = retrieval.candidate_k_config_error
    return told


def public_figures(retrieval: Retrieval) -> dict[str, Any]:
    """The same without what is for operators alone: no endpoint, and instead of an error's text its code."""
    told = figures(retrieval) | {"rerank_endpoint": ""}
    told.pop("rerank_error", None)
    return told | ({"rerank_error": retrieval.rerank.error_code} if retrieval.rerank.error_code else {})


def retrieval_of(figures: Mapping[str, Any]) -> Retrieval:
    """The retrieval that reports ``figures``: what :func:`figures` undoes. A missing one is the default.

    Raises pydantic's ValidationError for a value that no retrieval has.
    """
    error = figures.get("rerank_error")
    attempted = bool(figures.get("rerank_applied"))
    given = _named(
        figures,
        mode="retrieval_mode",
        pipeline="retrieval_pipeline",
        candidate_k="candidate_k",
        candidate_k_source="candidate_k_source",
        candidate_k_config_error="candidate_k_config_error",
        candidate_multiplier="retrieval_candidate_multiplier",
        top_k="retrieval_top_k",
        recall_count="recall_count",
        merged_count="post_merge_candidate_count",
        candidate_count="candidate_count",
        kept_count="post_threshold_count",
        leaf_level="leaf_retrieve_level",
    )
    merge = _named(
        figures,
        enabled="auto_merge_enabled",
        applied="auto_merge_applied",
        threshold="auto_merge_threshold",
        replaced="auto_merge_replaced_chunks",
        steps="auto_merge_steps",
    )
    rerank = _named(
        figures,
        enabled="rerank_enabled",
        model="rerank_model",
        endpoint="rerank_endpoint",
        error="rerank_error",
        timeout_seconds="rerank_timeout_seconds",
        minimum_score="rerank_min_score",
        count="post_rerank_count",
    )
    succeeded = attempted and error is None
    return Retrieval(
        **given,
        merge=Merge(**merge),
        rerank=Rerank(**rerank, attempted=attempted, succeeded=succeeded),
    )


def _named(figures: Mapping[str, Any], **names: str) -> dict[str, Any]:
    return {ours: figures[name] for ours, name in names.items() if figures.get(name) is not None}
