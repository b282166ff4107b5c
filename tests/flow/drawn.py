"""What generated runs are made of: questions, names, evidence, and what models say, sensible, wrong or hostile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from clew_schema.evidence import ChunkGrade, Evidence, Grade, Rejected, Rerank, Retrieval
from clew_services.core.agent import Thought
from clew_services.core.answer import Draft, Quote
from clew_services.core.complexity import PlanReply
from clew_services.core.ranking import numbered
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import (
    EmptyCollection,
    ModelBusy,
    ModelFailed,
    ModelRefused,
    ModelReplyInvalid,
    RetrievalFailed,
)
from clew_services.ports import Found

HOSTILE = (
    'quotes " \' “ ” \\" and \\',
    "<a href='x'>&amp;</a> <urn:x> {}|^`",
    "controls \x00\x01\x1f\x7f\x85\u2028",
    "half a \ud800 character",
    "🧵\U0010ffff\ufffe",
    "\ufeff\u202e回\r\nline\tbreak\n",
    "x" * 100_000,
)
"""What somebody writes who means no good, or whose text was cut."""

# A part of a text and its weight: hostile ones come now and then, so that most runs still get somewhere.
WORDS = st.sampled_from(["", "it says so", "关于线团", "  blanks ", *HOSTILE])
_MANY = (
    "Compare the thread of Ariadne with the wings of Daedalus, and say why the difference matters.",
    "Compare both threads and analyze how they were used, and what came of it afterwards.",
    "why is <urn:x> \"so\" \\ 'quoted' {}|^`, and how \x01 does \u2028 it \ufffe differ 🧵?",
)
COMPLEX = st.sampled_from(_MANY)
SOUND = st.sampled_from(["What is a clew?", "线团是什么？", "Who is Ariadne?", "Which thread is it?"])
QUESTIONS = st.sampled_from(["What is a clew?", "线团是什么？", *_MANY] * 4 + ["   ", "x" * 10_001])
SESSIONS = st.sampled_from(
    ["", "S", "a/b c", 'q"u<o>t', "ünï/%2F%", "/i1/activity", "synthesis#1?x=y", "…" * 200]
)
GARBAGE = st.sampled_from([b"", b"{}", b"[1]", b'{"query": 1}', b"\xff", b'{"query":"half \\ud800"}'])
PERSONS = st.sampled_from(["", "", "Ada", "Zoë/Q", '<urn:person> "x"', "anonymous"])
TRACEPARENTS = st.sampled_from(
    ["", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-none", "ff-" + "0" * 32]
)
PARENTS = st.sampled_from(
    ["", "urn:trustgraph:agent:other/i1", "no iri", "urn:trustgraph:agent:other", "<x>"]
)

_CLEW = "A clew is a ball of thread. Theseus used it to leave the labyrinth."
_TEXTS: list[tuple[str, dict[str, Any]]] = [
    (_CLEW, {"document_id": "urn:document:clew", "version": "v1", "filename": "clew.md", "dense_score": 0.9}),
    ("Ariadne gave him the thread.\fIt was red.", {"page": 2, "page_end": 3, "filename": "a.pdf"}),
    ("线团是忒修斯走出迷宫时用的东西。", {"document_id": "no iri", "bm25_rank": 1, "bm25_score": 3.5}),
    ("Both.", {"level": 2, "parent_id": "the whole", "merged_children": 2, "fused_score": 0.5}),
    ("", {"rerank_score": -2.5}),
    *((text, {"filename": text[:100], "version": text[:50]}) for text in HOSTILE),
]
POOL = tuple(
    Evidence(chunk_id=f"urn:chunk:{number}", text=text, end=len(text), **given)
    for number, (text, given) in enumerate(_TEXTS)
) + tuple(
    Evidence(chunk_id=name, document_id=name, text=_CLEW, end=len(_CLEW), start=0)
    for name in ("", "no iri", "<urn:x>", "urn:x:ü y", "urn:trustgraph:docrag:S/synthesis")
)
REJECTED = (
    Rejected(chunk_id="urn:chunk:r1", reason="below-threshold", page=7, rank=9, dense_score=0.25),
    Rejected(chunk_id="urn:chunk:r2", reason="merged-into-parent", into="urn:chunk:3"),
    Rejected(chunk_id="no iri", reason="duplicate", document_id="nor this", into="nor that"),
    Rejected(chunk_id="urn:chunk:0", reason="beyond-limit", rank=40),
)
RETRIEVALS = (
    Retrieval(legs=("dense", "bm25"), embedder="hashing"),
    Retrieval(mode="dense_fallback", legs=("dense",), candidate_k_config_error='"x" is no number'),
    Retrieval(
        rerank=Rerank(enabled=True, attempted=True, error="<down>", error_code="timeout", model="cross")
    ),
    Retrieval(
        rerank=Rerank(enabled=True, attempted=True, succeeded=True, model="cross", score_kind="rerank")
    ),
)


def _found(evidence: list[Evidence], rejected: list[Rejected], retrieval: Retrieval) -> Found:
    return Found(evidence=numbered(evidence), rejected=tuple(rejected), retrieval=retrieval)


def _some(values: tuple[Any, ...], most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), max_size=most, unique_by=lambda one: one.chunk_id)


FOUND = st.builds(_found, _some(POOL, 4), _some(REJECTED, 3), st.sampled_from(RETRIEVALS))
PLANS = st.builds(
    PlanReply,
    complexity=st.sampled_from(["simple", "complex", "complex", "complex"]),
    reason=WORDS,
    sub_questions=st.lists(
        st.sampled_from(["What is a clew?", "Who is Ariadne?", "线团？", " ", HOSTILE[1], "Why?"]), max_size=5
    ).map(tuple),
)
_OPINIONS = st.lists(
    st.builds(
        ChunkGrade,
        place=st.integers(0, 5),
        relevance=st.sampled_from(["none", "weak", "strong"]),
        reason=WORDS,
    ),
    max_size=4,
).map(tuple)


def grades(
    relevance: tuple[str, ...] = ("none", "weak", "strong"),
    answerability: tuple[str, ...] = ("none", "partial", "sufficient"),
    ambiguity: tuple[str, ...] = ("none", "missing_slot", "multiple_candidates"),
) -> st.SearchStrategy[Grade]:
    return st.builds(
        Grade,
        relevance=st.sampled_from(relevance),
        answerability=st.sampled_from(answerability),
        ambiguity=st.sampled_from(ambiguity),
        route=st.sampled_from(["answer", "rewrite", "clarify", "scope_select", "no_knowledge"]),
        confidence=st.sampled_from([0.0, 0.5, 1.0]),
        missing_slots=st.sampled_from([(), ("which thread",), (HOSTILE[1], "")]),
        hitl_prompt=st.sampled_from(["", "Which one?", "哪个？", HOSTILE[0]]),
        hitl_options=st.sampled_from([(), ("a", "b"), (" ", HOSTILE[1], "乙")]),
        reason=WORDS,
        chunks=_OPINIONS,
    )


CLEAR = grades(("strong",), ("sufficient",), ("none",))
ASKING = grades(("weak", "strong"), ("partial",), ("missing_slot", "multiple_candidates"))
POOR = grades(("none", "weak", "weak"), ("none", "partial", "partial"), ("none",))
ANY_GRADE = st.one_of(CLEAR, ASKING, POOR, grades())
REWRITES = st.sampled_from(
    [
        RewriteReply(method="step_back", step_back_question="What is thread used for?"),
        RewriteReply(method="hyde", hyde_document="A clew is a ball of <thread>."),
        RewriteReply(method="hyde", hyde_document=HOSTILE[2]),
        RewriteReply(method="step_back", step_back_question="", hyde_document="the wrong text"),
        ModelRefused("it rewrites no such thing"),
    ]
)
_SENTENCES = st.lists(
    st.sampled_from(
        [
            "A clew is a ball of thread. [1]",
            "Theseus never used it. [1]",
            "The thread was red and long.",
            "It is cited wrongly [2][3].",
            "Nothing has that number [9].",
            'It says “a ball of thread” [1], and "what nobody says" [2].',
            "线团是忒修斯用的。【1，2】",
            *HOSTILE,
        ]
    ),
    max_size=3,
)
_QUOTES = st.lists(
    st.builds(Quote, number=st.integers(1, 3), start=st.integers(0, 3), end=st.integers(3, 5)), max_size=2
)
_USAGE: tuple[dict[str, Any], ...] = (
    {},
    {"model": "m1", "in_token": 7, "out_token": 2},
    {"model": HOSTILE[1]},
)
DRAFTS = st.builds(
    lambda sentences, quotes, usage: Draft(text=" ".join(sentences), quotes=tuple(quotes), **usage),
    _SENTENCES,
    _QUOTES,
    st.sampled_from(_USAGE),
)
_ARGUMENTS = st.sampled_from(
    [
        {"question": "What is a clew?"},
        {},
        {"question": "Compare " + HOSTILE[1]},
        {HOSTILE[0]: HOSTILE[1]},
        {"": ""},
    ]
)
ACTS = st.builds(
    lambda thought, action, arguments, usage: Thought(
        thought=thought, action=action, arguments=arguments, **usage
    ),
    WORDS,
    st.sampled_from(["document-query", "document-query", "text-completion", "fly", "", HOSTILE[1]]),
    _ARGUMENTS,
    st.sampled_from(_USAGE),
)
ENDS = st.builds(
    lambda thought, final, usage: Thought(thought=thought, final=final, **usage),
    WORDS,
    st.sampled_from(["A ball of thread.", "", *HOSTILE]),
    st.sampled_from(_USAGE),
)
THOUGHTS = st.one_of(ACTS, ENDS)
CHATS = st.sampled_from(["yes", "", *HOSTILE])
TROUBLE: tuple[Exception, ...] = (
    ModelFailed("it did not answer <in time>"),
    ModelFailed("server \x00 error"),
    ModelBusy("come back", 3.0),
    ModelRefused("no such key"),
    ModelReplyInvalid("prose: " + HOSTILE[0]),
    RuntimeError("a bug"),
)
ADRIFT: tuple[Exception, ...] = (*(RetrievalFailed("the store is away"),) * 2, EmptyCollection("no document"))


@dataclass(frozen=True, kw_only=True)
class Theme:
    """Which runs are drawn: what callers ask, how graders tend, and how many of ten calls fail.

    Where calls fail, callers err too: deadlines that passed, addresses that are not theirs, messages that are none.
    """

    name: str
    agents: bool = False
    questions: st.SearchStrategy[str] = QUESTIONS
    grades: st.SearchStrategy[Grade] = ANY_GRADE
    failures: int = 0
