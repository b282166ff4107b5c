"""What stands beside a RAGTrace: every pass, grade, rule and piece of evidence, and nobody's secrets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clew_schema.evidence import Citation, CitationCheck, Rerank, Retrieval
from clew_schema.facts import AnswerWritten, Fact, Gap, Outcome, QueryRewritten, RunFailed, RunResumed
from clew_translators.ragtrace_ext import VERSION, ext, records
from tests.translators.ragtrace_facts_of import asked, found, graded, joined, pause, piece, planned

SECRET = "http://user:secret@reranker"
RETRIEVAL = Retrieval(
    mode="dense_fallback",
    recall_count=5,
    merged_count=4,
    candidate_count=4,
    kept_count=2,
    dense_query="d",
    legs=("dense",),
    rerank=Rerank(
        attempted=True, endpoint=SECRET, error=f"HTTP 500: {SECRET}", error_code="http_500", count=3
    ),
)
ANSWER = AnswerWritten(
    outcome="answer",
    text="A [1].",
    citations=(Citation(number=1, chunk_id="b"),),
    checks=(CitationCheck(number=1, start=0, end=6, verdict="supported", lexical=0.5),),
    coverage=1.0,
    truncated=2,
    prompt_version="w1",
)


def rewritten_run() -> list[Fact]:
    """The first pass finds a, the second b and c; the answer cites b."""
    return [
        asked(),
        planned(planner="p", prompt_version="p1"),
        found(piece("a"), retrieval=RETRIEVAL),
        graded("rewrite", prompt_version="g1", omitted=2, grader="m"),
        QueryRewritten(method="hyde", query="q d", text="d", rewriter="r", prompt_version="r1"),
        found(piece("b"), piece("c", rank=2), pass_number=2, stage="rewritten"),
        graded("answer", pass_number=2, truncated=1),
        ANSWER,
    ]


def test_each_piece_of_evidence_says_what_became_of_it() -> None:
    told = ext(rewritten_run())["evidence"]
    assert [(each["chunk_id"], each["number"], each["disposition"], each["pass"]) for each in told] == [
        ("b", 1, "cited", 2),
        ("c", 2, "accepted", 2),
        ("a", 0, "rejected", 1),
    ]
    assert told[1] | {"fused_rank": 2, "document_id": "d", "document_version_id": "v"} == told[1]
    assert (told[0]["chunk_level"], told[0]["merged_from_children"], told[0]["dense_rank"]) == (
        3,
        False,
        None,
    )


def test_where_the_writers_budget_left_pieces_out_only_cited_ones_have_a_number() -> None:
    packed = ANSWER.model_copy(update={"citations": (Citation(number=1, chunk_id="c"),), "omitted": 1})
    told = ext([*rewritten_run()[:-1], packed])
    assert [(each["chunk_id"], each["number"], each["disposition"]) for each in told["evidence"]] == [
        ("c", 1, "cited"),
        ("b", 0, "accepted"),
        ("a", 0, "rejected"),
    ]
    assert told["writer_evidence_omitted_count"] == 1


def test_a_piece_that_two_passes_found_is_told_once() -> None:
    again = found(piece("a", rank=7), pass_number=2, stage="rewritten")
    facts: list[Fact] = [asked(), planned(), found(piece("a")), graded("rewrite"), again]
    told = ext([*facts, graded("answer", pass_number=2)])["evidence"]
    assert [(each["pass"], each["fused_rank"], each["number"]) for each in told] == [(1, 1, 1)]


@pytest.mark.parametrize(
    ("route", "outcome", "disposition"),
    [
        ("clarify", None, "candidate"),
        ("clarify", "needs_clarification", "candidate"),
        ("no_knowledge", "no_knowledge", "rejected"),
    ],
)
def test_evidence_without_an_answer(route: Any, outcome: Outcome | None, disposition: str) -> None:
    facts: list[Fact] = [asked(), planned(), found(piece("a")), graded(route)]
    if outcome:
        facts.append(AnswerWritten(outcome=outcome, text=""))
    assert [each["disposition"] for each in ext(facts)["evidence"]] == [disposition]


def test_each_pass_tells_what_it_did_and_no_secret() -> None:
    told = ext(rewritten_run(), session_id="s", question_uri="urn:q")
    assert (told["version"], told["run_id"], told["question_uri"], told["mode"]) == (
        VERSION,
        "s",
        "urn:q",
        "improved",
    )
    first, second = told["retrievals"]
    assert (first["dense_query"], first["sparse_query"], first["recall_count"]) == ("d", "q", 5)
    assert first["retrieval_degraded_code"] == "bm25_unavailable"
    assert second["retrieval_degraded_code"] is None
    assert first["rerank"] | {"attempted": True, "succeeded": False, "fallback": True} == first["rerank"]
    assert first["rerank"]["error_code"] == "http_500"
    assert "secret" not in json.dumps(told)


def test_a_grade_keeps_what_was_suggested_and_which_rule_decided() -> None:
    first, second = ext(rewritten_run())["grades"]
    assert (
        first
        | {
            "pass": 1,
            "suggested_route": "rewrite",
            "route": "rewrite",
            "resolved_by": "R01",
            "grader": "m",
            "confidence": 0.4,
            "confidence_source": "self-reported",
        }
        == first
    )
    assert (second["pass"], second["route"]) == (2, "answer")


def test_prompts_budgets_and_citations() -> None:
    told = ext(rewritten_run())
    assert told["prompts"] == {"planner": "p1", "grader": "g1", "rewriter": "r1", "writer": "w1"}
    counts = ("grader_evidence_omitted_count", "grader_evidence_truncated_count")
    assert [told[name] for name in counts] == [2, 1]
    assert (told["writer_evidence_omitted_count"], told["writer_evidence_truncated_count"]) == (0, 2)
    assert (told["citations"]["coverage"], told["citations"]["checks"][0]["verdict"]) == (1.0, "supported")
    assert told["retrieval_outcome"] == "ANSWERABLE"
    assert told["trace_field_invalid"] == []
    assert "hitl_resume_state" not in told


def test_each_planned_part_says_what_it_came_to() -> None:
    facts: list[Fact] = [
        asked(),
        planned(complexity="complex", parts=("one", "two", "three"), dropped=1),
        found(piece("a"), part=1),
        found(piece("b"), part=2),
        graded("answer", part=1),
        graded("no_knowledge", part=2, failure="model-failed"),
        joined("answer", (1, 1), status="partial", gaps=(Gap(part=2, question="two", code="model-failed"),)),
    ]
    told = ext(facts)
    assert [
        (each["question"], each["status"], each["failure"], each["evidence_ids"]) for each in told["coverage"]
    ] == [
        ("one", "answerable", "", ["a"]),
        ("two", "no_knowledge", "model-failed", []),
        ("three", None, "", []),
    ]
    assert (told["coverage_gap_codes"], told["coverage_gap_questions"]) == (["model-failed"], ["two"])
    assert "confidence" not in told["grades"][1]
    assert (told["plan"]["dropped"], told["retrieval_outcome"]) == (1, "INSUFFICIENT_EVIDENCE")


def test_a_pause_is_told_with_its_answer_and_without_its_ticket() -> None:
    facts: list[Fact] = [
        asked(),
        planned(),
        found(piece("a")),
        graded("clarify"),
        pause(ticket="t-secret", prompt="which?"),
    ]
    told = records(facts)
    assert told.ext["hitl_resume_state"] == told.hitl_resume_state
    assert told.envelope()["hitl_resume_state"] == told.hitl_resume_state
    assert told.ext["pauses"][0]["answer"] is None
    answered = RunResumed(
        ticket="t-secret", answer="x", from_route="clarify", from_status="needs_clarification"
    )
    told = records([*facts, answered])
    assert told.ext["pauses"][0]["answer"] == "x"
    assert "hitl_resume_state" not in told.envelope()
    assert "t-secret" not in json.dumps(told.envelope())


def test_a_failure_is_told_by_its_code_alone() -> None:
    failure = RunFailed(
        mechanism="document-rag", error_type="model-failed", message=SECRET, step="document-rag.grade"
    )
    told = ext([asked(), planned(), found(piece("a")), failure])
    assert (told["provider_error_code"], told["provider_error_stage"]) == (
        "model-failed",
        "document-rag.grade",
    )
    assert "secret" not in json.dumps(told)


def test_a_run_that_only_began_has_an_ext() -> None:
    told = ext([])
    assert (told["plan"], told["evidence"], told["retrieval_outcome"]) == (None, [], None)
    json.dumps(told, allow_nan=False)
