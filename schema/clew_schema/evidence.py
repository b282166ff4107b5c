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
ScoreKind = Literal["rrf", "zscore", "cosine", "rerank", ""]
Verdict = Literal["supported", "unsupported", "misattributed"]
ClaimVerdict = Literal["supported", "unsupported", "misattributed", "uncited", "unchecked"]
RejectionReason = Literal["below-threshold", "beyond-limit", "merged-into-parent", "duplicate"]


class Evidence(Message):
    """One chunk as it was retrieved.

    ``start`` and ``end`` are character offsets into the extracted text of the document version
    (``text == document[start:end]``); pages count from 1, 0 means the format has none. Ranks count
    from 1 and are null when a leg did not return the chunk; scores are that leg's own, unscaled. ``level`` 3
    is a leaf, 2 and 1 its parents; ``parent_id`` is the chunk above (``""``: none), and ``merged_children``
    how many of its children a parent stands for (0: it was found itself).
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
    parent_id: str = ""
    merged_children: int = 0
    content_hash: str = ""
    text: str = ""
    rank: int = 0
    dense_rank: int | None = None
    dense_score: float | None = None
    bm25_rank: int | None = None
    bm25_score: float | None = None
    fused_score: float | None = None
    rerank_score: float | None = None


class Merge(Message):
    """Auto-merge: ``replaced`` children gave way to their parents, in ``steps`` of at most two passes."""

    enabled: bool = True
    applied: bool = False
    threshold: int = 2
    replaced: int = 0
    steps: int = 0


class Rerank(Message):
    """Reranking. ``attempted`` says that a reranker was asked, ``succeeded`` that its order was taken.

    ``error`` is for operators: it may hold what the reranker's service said. ``error_code`` is one of ours.
    ``count`` is how many were left before the threshold. ``minimum_score`` was applied to scores of
    ``score_kind``; ``threshold_applied`` is false where that kind cannot be compared with it.
    """

    enabled: bool = False
    attempted: bool = False
    succeeded: bool = False
    model: str = ""
    endpoint: str = ""
    error: str | None = None
    error_code: str = ""
    timeout_seconds: float = 5.0
    minimum_score: float = 0.0
    score_kind: ScoreKind = ""
    threshold_applied: bool = True
    count: int = 0


class Retrieval(Message):
    """How one retrieval went: the settings and counts that a reader needs to judge its evidence.

    ``recall_count`` is what the legs found together, ``merged_count`` what auto-merge left of it,
    ``candidate_count`` what the reranker was given, ``kept_count`` what passed the threshold: the evidence.
    The queries are what each leg and the reranker were asked, where that is not the question.
    """

    pipeline: str = "recall_merge_rerank"
    mode: RetrievalMode = "hybrid"
    candidate_k: int = 0
    candidate_k_source: Literal["env", "multiplier"] = "multiplier"
    candidate_k_config_error: str | None = None
    candidate_multiplier: int = 3
    top_k: int = 0
    recall_count: int = 0
    merged_count: int = 0
    candidate_count: int = 0
    kept_count: int = 0
    leaf_level: int = 3
    merge: Merge = Merge()
    rerank: Rerank = Rerank()
    fusion: ScoreKind = "rrf"
    embedder: str = ""
    legs: Items[str] = ()
    dense_query: str = ""
    sparse_query: str = ""
    rerank_query: str = ""


class Rejected(Message):
    """A chunk that a retrieval found and did not return. Ranks and scores as in Evidence.

    ``into`` is the parent that took its place, where the reason is ``merged-into-parent``.
    """

    chunk_id: str
    reason: RejectionReason
    document_id: str = ""
    page: int = 0
    rank: int = 0
    dense_score: float | None = None
    bm25_score: float | None = None
    fused_score: float | None = None
    rerank_score: float | None = None
    into: str = ""


class ChunkGrade(Message):
    """What a grader thinks of one chunk: the ``place``-th of the evidence, from 1. ``reason`` is for people."""

    place: int
    relevance: Relevance
    reason: str = ""


class Grade(Message):
    """What a grader thinks of the evidence for a question. ``route`` is its suggestion, not the decision.

    ``chunks`` is what it thinks of single chunks, as far as it says.
    """

    relevance: Relevance
    answerability: Answerability
    ambiguity: Ambiguity = "none"
    route: Route
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)
    missing_slots: Items[str] = ()
    hitl_prompt: str = ""
    hitl_options: Items[str] = ()
    reason: str = ""
    chunks: Items[ChunkGrade] = ()


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


class Claim(Message):
    """A sentence of the answer that states something: ``answer[start:end]``, the ``number``-th from 1.

    ``citations`` are the ``[n]`` in it. It is ``supported`` when one of them supports it, ``misattributed`` when none
    does but other evidence would, ``uncited`` without any, and ``unchecked`` where nothing was measured. ``id`` is its
    name in the trace, the same whether the answer was streamed or not (``""`` in facts: the trace names it).
    """

    number: int
    start: int
    end: int
    verdict: ClaimVerdict
    citations: Items[int] = ()
    id: str = ""


class CitationCheck(Message):
    """Whether the evidence that a sentence of the answer cites says what the sentence says.

    ``answer[start:end]`` is the sentence, ``number`` the cited ``[n]``. ``lexical`` is the share of the
    sentence's words that the chunk holds, ``similarity`` the cosine of sentence and chunk (null: not
    measured). ``quoted`` says whether what stands in quotation marks is there word for word (null: nothing
    does). ``better`` is the number of the evidence that does support a misattributed sentence, else 0.
    """

    number: int
    start: int
    end: int
    verdict: Verdict
    lexical: float = 0.0
    similarity: float | None = None
    quoted: bool | None = None
    better: int = 0
