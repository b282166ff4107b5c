"""Evidence: a piece of a document, where it stands, and how each retrieval leg ranked it."""

from typing import Literal

from pydantic import Field

from clew_schema.base import Items, Message

Relevance = Literal["none", "weak", "strong"]
Answerability = Literal["none", "partial", "sufficient"]
Ambiguity = Literal["none", "missing_slot", "multiple_candidates"]
Route = Literal["answer", "rewrite", "clarify", "scope_select", "no_knowledge"]
RetrievalStatus = Literal[
    "answerable", "partial", "needs_rewrite", "needs_clarification", "needs_scope_selection", "no_knowledge"
]
RetrievalMode = Literal["hybrid", "dense_fallback", "failed"]


class Evidence(Message):
    """One chunk as it was retrieved.

    ``start`` and ``end`` are character offsets into the extracted text of the document version
    (``text == document[start:end]``); pages count from 1, 0 means the format has none. Ranks count
    from 1 and are null when a leg did not return the chunk; scores are that leg's own, unscaled.
    """

    chunk_id: str
    document_id: str = ""
    version: str = ""
    filename: str = ""
    file_type: str = ""
    page: int = 0
    page_end: int = 0
    start: int = 0
    end: int = 0
    ordinal: int = 0
    level: int = 3
    content_hash: str = ""
    text: str = ""
    rank: int = 0
    dense_rank: int | None = None
    dense_score: float | None = None
    bm25_rank: int | None = None
    bm25_score: float | None = None
    fused_score: float | None = None
    rerank_score: float | None = None


class Retrieval(Message):
    """How one retrieval went: the counts and settings a reader needs to judge its evidence."""

    pipeline: str = "recall_merge_rerank"
    mode: RetrievalMode = "hybrid"
    candidate_k: int = 0
    candidate_k_source: Literal["env", "multiplier"] = "multiplier"
    candidate_multiplier: int = 3
    top_k: int = 0
    recall_count: int = 0
    candidate_count: int = 0
    leaf_level: int = 3
    embedder: str = ""
    legs: Items[str] = ()


class Grade(Message):
    """What a grader thinks of the evidence for a question. ``route`` is its suggestion, not the decision."""

    relevance: Relevance
    answerability: Answerability
    ambiguity: Ambiguity = "none"
    route: Route
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    missing_slots: Items[str] = ()
    hitl_prompt: str = ""
    hitl_options: Items[str] = ()
    reason: str = ""


class Citation(Message):
    """The ``[n]`` of an answer, resolved: the document, the page and the exact span that is quoted.

    ``start`` and ``end`` are character offsets into the document's extracted text; ``quote`` is that text.
    """

    number: int
    chunk_id: str
    document_id: str = ""
    version: str = ""
    filename: str = ""
    page: int = 0
    start: int = 0
    end: int = 0
    quote: str = ""
