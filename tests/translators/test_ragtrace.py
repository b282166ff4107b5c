"""RAGTrace: its fields, the form in which it is stored, and what each step of a run writes into it."""

from __future__ import annotations

import copy
import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from clew_schema.evidence import Evidence, Grade, RetrievalStatus, Route
from clew_translators.ragtrace import chunk, envelope, normalise, normalise_part
from clew_translators.ragtrace_fields import CHUNK_LISTS, RETRIEVAL_FIELDS, RagChunk, RagSubTrace, RagTrace
from clew_translators.ragtrace_steps import (
    Graded,
    Resumed,
    Retrieved,
    RetrievedAgain,
    RetrievedTargeted,
    RewriteRefused,
    Rewritten,
    Step,
    Synthesised,
    fold,
)
from clew_translators.refusal import NotThisMessage

PARTIAL = Grade(relevance="weak", answerability="partial", route="rewrite", confidence=0.4, reason="thin")


def values(field: FieldInfo) -> st.SearchStrategy[Any]:
    """Anything that a field may hold."""
    return st.from_type(cast("type[Any]", field.annotation))


CHUNKS = st.fixed_dictionaries(
    {}, optional={name: values(field) for name, field in RagChunk.model_fields.items()}
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(CHUNKS, max_size=3) | st.none() if name in CHUNK_LISTS else values(field)
        for name, field in RagSubTrace.model_fields.items()
    },
)
TRACES = st.builds(
    lambda trace, parts: trace | {"sub_traces": parts and [{"query": "part"} | part for part in parts]},
    PARTS,
    st.lists(PARTS.filter(lambda part: part.get("query", "") is not None), max_size=2) | st.none(),
)
"""A part without any value is stored as an empty one, which is dropped when it is stored again (SuperMew's way)."""


def piece(name: str, *, rank: int = 1, score: float = 0.03, rerank: float | None = None) -> Evidence:
    return Evidence(
        chunk_id=name,
        filename="a.pdf",
        page=1,
        text=name,
        rank=rank,
        fused_score=score,
        rerank_score=rerank,
    )


def retrieved(*evidence: Evidence, **figures: Any) -> Retrieved:
    return Retrieved(
        query="q", evidence=evidence, retrieval=figures, complexity="simple", complexity_reason="r"
    )


def graded(route: Route, status: RetrievalStatus, grade: Grade = PARTIAL) -> Graded:
    return Graded(grade=grade, route=route, status=status)


def test_there_are_59_fields_and_26_of_them_are_a_retrievals() -> None:
    assert len(RagTrace.model_fields) == 59
    assert [*RagSubTrace.model_fields, "sub_traces"] == list(RagTrace.model_fields)
    assert len(RETRIEVAL_FIELDS) == 26
    assert list(RagChunk.model_fields) == [
        "filename",
        "page_number",
        "text",
        "score",
        "rrf_rank",
        "rerank_score",
    ]
    assert set(CHUNK_LISTS) == {name for name in RagTrace.model_fields if name.endswith("retrieved_chunks")}


@given(TRACES)
def test_what_is_stored_stays_as_it_is(trace: dict[str, Any]) -> None:
    stored = normalise(trace)
    assert stored is not None
    assert json.dumps(normalise(stored) or {}) == json.dumps(stored)
    assert list(stored) == [name for name in RagTrace.model_fields if name in stored]
    assert None not in stored.values()


@pytest.mark.parametrize("name", [*CHUNK_LISTS, "sub_traces"])
@pytest.mark.parametrize("value", [None, 3, {"filename": "a"}])
def test_a_list_that_is_none_becomes_empty(name: str, value: object) -> None:
    assert normalise({name: value}) == {name: []}


def test_a_blank_filename_is_one_and_an_empty_one_is_not() -> None:
    trace = {"retrieved_chunks": [{"filename": " "}, {"filename": ""}, {"filename": None}]}
    assert normalise(trace) == {"retrieved_chunks": [{"filename": " "}]}


@pytest.mark.parametrize(
    ("trace", "field"),
    [
        ({"candidate_k": "many"}, "candidate_k"),
        (
            {"retrieved_chunks": [{"filename": "a"}, {"filename": "a", "score": "abc"}]},
            "retrieved_chunks.1.score",
        ),
        ({"sub_questions": ["a", 3]}, "sub_questions.1"),
    ],
)
def test_a_refusal_names_the_field(trace: dict[str, Any], field: str) -> None:
    with pytest.raises(NotThisMessage) as refused:
        normalise(trace)
    assert (refused.value.message_type, refused.value.field) == ("RagTrace", field)


def test_a_refused_part_is_named_as_one() -> None:
    with pytest.raises(NotThisMessage, match="RagSubTrace: rewrite_method"):
        normalise({"sub_traces": [{"rewrite_method": "both"}]})


def test_an_envelope_holds_a_trace_or_is_none() -> None:
    assert envelope({"unknown": 1}, {"question": "q"}) is None
    assert envelope({"query": "q", "route": None}) == {"rag_trace": {"query": "q"}}
    assert envelope({"query": "q"}, {"question": "q"}) == {
        "rag_trace": {"query": "q"},
        "hitl_resume_state": {"question": "q"},
    }


def test_a_chunk_shows_the_score_of_its_recall() -> None:
    dense = Evidence(chunk_id="c", filename="a.pdf", text="t", page=3, rank=2, dense_score=0.8)
    assert chunk(dense) == {
        "filename": "a.pdf",
        "page_number": 3,
        "text": "t",
        "score": 0.8,
        "rrf_rank": 2,
        "rerank_score": None,
    }
    assert chunk(dense.model_copy(update={"fused_score": 0.03}))["score"] == 0.03


def test_nothing_makes_no_trace() -> None:
    assert fold([]) == {}


def test_a_second_retrievals_figures_are_merged_into_the_first_ones() -> None:
    first = retrieved(piece("a"), rerank_error="timed out", candidate_k=24, recall_count=5, secret="x")
    again = RetrievedAgain(evidence=(piece("b"),), retrieval={"rerank_error": None, "recall_count": 3})
    trace = fold([first, again])
    assert (trace["rerank_error"], trace["candidate_k"], trace["recall_count"]) == ("timed out", 24, 3)
    assert "secret" not in trace
    assert [each["text"] for each in trace["initial_retrieved_chunks"]] == ["a"]
    assert [each["text"] for each in trace["retrieved_chunks"]] == ["b"]
    assert trace["rewrite_retrieved_chunks"] == trace["retrieved_chunks"]


@pytest.mark.parametrize(
    ("route", "status", "kept"),
    [
        ("answer", "answerable", 1),
        ("rewrite", "needs_rewrite", 1),
        ("no_knowledge", "no_knowledge", 1),
        ("clarify", "needs_clarification", 0),
        ("scope_select", "needs_scope_selection", 0),
    ],
)
def test_only_a_pause_empties_the_current_evidence(route: Route, status: RetrievalStatus, kept: int) -> None:
    trace = fold([retrieved(piece("a")), graded(route, status)])
    assert len(trace["retrieved_chunks"]) == kept
    assert len(trace["initial_retrieved_chunks"]) == 1


def test_a_grade_stays_until_the_next_one() -> None:
    rewritten = Rewritten(method="hyde", query="q\n\nd", rewrite_count=1, hyde_document="d")
    again = RetrievedAgain(evidence=(), retrieval={})
    trace = fold([retrieved(piece("a")), graded("rewrite", "needs_rewrite"), rewritten, again])
    assert (trace["route"], trace["evidence_reason"]) == ("rewrite", "thin")
    assert "step_back_question" not in trace
    stored = normalise(trace)
    assert stored is not None
    assert "rewrite_count" not in stored
    refused = RewriteRefused().after(trace)
    assert (refused["route"], refused["evidence_reason"]) == ("no_knowledge", "rewrite_budget_exhausted")
    assert refused["evidence_relevance"] == "weak"


def test_a_resumed_run_begins_a_new_trace() -> None:
    resumed = Resumed(query="x：q", answer=" x ", from_route="clarify", from_status="needs_clarification")
    old: list[Step] = [retrieved(piece("a")), graded("clarify", "needs_clarification")]
    targeted = RetrievedTargeted(query="x：q", evidence=(piece("b"),), retrieval={"candidate_k": 24})
    trace = fold([*old, resumed, targeted])
    assert trace == fold([resumed, targeted])
    assert trace["hitl_answer"] == " x "
    assert not {"complexity", "sub_questions", "initial_retrieved_chunks", "route"} & set(trace)


def synthesised(*parts: dict[str, Any] | None, **changed: Any) -> Synthesised:
    told: dict[str, Any] = {
        "query": "q",
        "complexity_reason": "r",
        "sub_questions": ("one", "two"),
        "evidence": (),
        "origins": (),
        "merged_count": 0,
        "part_traces": parts,
        "route": "answer",
        "status": "answerable",
        "relevance": "strong",
        "answerability": "sufficient",
    }
    return Synthesised(**told | changed)


def test_a_part_shows_the_synthesis_number_and_score_of_what_was_kept_from_it() -> None:
    one = fold([retrieved(piece("a"), piece("b", rank=2, rerank=0.2)), graded("answer", "answerable")])
    two = fold(
        [retrieved(piece("b", rank=1, rerank=0.9), piece("c", rank=2)), graded("answer", "answerable")]
    )
    before = copy.deepcopy((one, two))
    kept = (piece("a"), piece("b", rank=2, rerank=0.9), piece("c", rank=3))
    trace = fold([synthesised(one, two, evidence=kept, origins=((0, 0), (0, 1), (1, 1)), merged_count=4)])

    def shown(part: int, name: str) -> list[tuple[str, int, float | None]]:
        chunks = trace["sub_traces"][part][name]
        return [(each["text"], each["rrf_rank"], each.get("rerank_score")) for each in chunks]

    for name in ("retrieved_chunks", "initial_retrieved_chunks"):
        assert shown(0, name) == [("a", 1, None), ("b", 2, 0.9)]
        assert shown(1, name) == [("b", 1, 0.9), ("c", 3, None)]  # the duplicate keeps what its part saw
    assert (one, two) == before
    assert trace["synthesis_merged_count"] == 4


def test_a_part_without_a_trace_counts_and_is_not_shown() -> None:
    trace = fold([synthesised(fold([retrieved(piece("a"))]), None, {})])
    assert (trace["sub_agent_count"], len(trace["sub_traces"])) == (3, 1)
    stored = normalise(trace)
    assert stored is not None
    assert "evidence_confidence" in trace
    assert "evidence_confidence" not in stored
    assert normalise_part(trace) == {name: value for name, value in stored.items() if name != "sub_traces"}


def test_a_number_for_what_a_part_no_longer_shows_is_no_error() -> None:
    paused = fold([retrieved(piece("a")), graded("clarify", "needs_clarification")])
    trace = fold([synthesised(None, paused, evidence=(piece("a", rank=2),) * 2, origins=((0, 0), (1, 0)))])
    (part,) = trace["sub_traces"]
    assert part["retrieved_chunks"] == []
    assert [each["rrf_rank"] for each in part["initial_retrieved_chunks"]] == [2]
