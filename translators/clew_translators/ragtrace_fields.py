"""RAGTrace's fields: names, types and order are those of SuperMew 0.1.0, which other programs read.

Types are lax as SuperMew's are (``"12"`` is a number), unknown fields are refused, every field may be missing.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class RagChunk(BaseModel):
    """Six fields of a piece of evidence. ``rrf_rank`` is its place after merging, before reranking."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    filename: str | None = None
    page_number: int | str | None = None
    text: str | None = None
    score: float | None = None
    rrf_rank: int | None = None
    rerank_score: float | None = None


class RagSubTrace(BaseModel):
    """The 58 fields that a whole question and a part of one share. Routes, statuses and stages are any text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_used: bool | None = None
    tool_name: str | None = None
    query: str | None = None
    rewrite_method: Literal["step_back", "hyde"] | None = None
    rewritten_query: str | None = None
    step_back_question: str | None = None
    hyde_document: str | None = None
    retrieval_stage: str | None = None
    route: str | None = None
    retrieval_status: str | None = None
    evidence_relevance: str | None = None
    evidence_answerability: str | None = None
    evidence_ambiguity: str | None = None
    evidence_confidence: float | None = None
    evidence_reason: str | None = None
    missing_slots: list[str] | None = None
    hitl_prompt: str | None = None
    hitl_options: list[str] | None = None
    hitl_resumed: bool | None = None
    hitl_answer: str | None = None
    hitl_resume_strategy: str | None = None
    hitl_resume_from_status: str | None = None
    hitl_resume_from_route: str | None = None
    hitl_targeted_retrieved_chunks: list[RagChunk] | None = None
    rerank_enabled: bool | None = None
    rerank_applied: bool | None = None
    rerank_model: str | None = None
    rerank_endpoint: str | None = None
    rerank_error: str | None = None
    rerank_timeout_seconds: float | None = None
    rerank_min_score: float | None = None
    post_rerank_count: int | None = None
    post_threshold_count: int | None = None
    retrieval_empty: bool | None = None
    retrieval_mode: str | None = None
    retrieval_pipeline: str | None = None
    candidate_k: int | None = None
    candidate_k_source: str | None = None
    candidate_k_config_error: str | None = None
    retrieval_candidate_multiplier: int | None = None
    retrieval_top_k: int | None = None
    recall_count: int | None = None
    post_merge_candidate_count: int | None = None
    candidate_count: int | None = None
    leaf_retrieve_level: int | None = None
    auto_merge_enabled: bool | None = None
    auto_merge_applied: bool | None = None
    auto_merge_threshold: int | None = None
    auto_merge_replaced_chunks: int | None = None
    auto_merge_steps: int | None = None
    retrieved_chunks: list[RagChunk] | None = None
    initial_retrieved_chunks: list[RagChunk] | None = None
    rewrite_retrieved_chunks: list[RagChunk] | None = None
    complexity: str | None = None
    complexity_reason: str | None = None
    sub_questions: list[str] | None = None
    sub_agent_count: int | None = None
    synthesis_merged_count: int | None = None


class RagTrace(RagSubTrace):
    """All 59 fields. A part's trace holds no further parts."""

    sub_traces: list[RagSubTrace] | None = None


CHUNK_FIELDS: tuple[str, ...] = tuple(RagChunk.model_fields)
CHUNK_LISTS: tuple[str, ...] = (
    "hitl_targeted_retrieved_chunks",
    "retrieved_chunks",
    "initial_retrieved_chunks",
    "rewrite_retrieved_chunks",
)
"""The fields that hold evidence: the current one, and that of each stage."""

_NAMES = tuple(RagSubTrace.model_fields)
RETRIEVAL_FIELDS: tuple[str, ...] = _NAMES[
    _NAMES.index("rerank_enabled") : _NAMES.index("auto_merge_steps") + 1
]
"""The 26 figures that one retrieval reports of itself."""
