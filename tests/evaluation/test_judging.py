"""One response against what is known of its question."""

from typing import Any

import pytest

from clew_schema.errors import Error
from clew_schema.evidence import Citation, CitationCheck
from clew_schema.retrieval import DocumentRagResponse
from clew_services.evaluation.cases import Case
from clew_services.evaluation.judging import Piece, judge, rank, retrieved_in

RIGHT = {"filename": "a.txt", "text": "A clew is a ball of thread that leads out."}
OTHER = {"filename": "b.txt", "text": "A ball of thread is sold by the metre."}
CASE = Case(question="What is a clew?", answers=("ball of thread",), documents=("a.txt",))


def response(**fields: Any) -> DocumentRagResponse:
    told = {
        "response": "A clew is a ball of thread. [2]",
        "outcome": "answer",
        "citations": (
            Citation(number=2, chunk_id="c", filename="a.txt", quote="A clew is a ball of thread"),
        ),
        "rag_trace": {"retrieved_chunks": [OTHER, RIGHT]},
    }
    return DocumentRagResponse(**(told | fields))


def test_a_right_answer() -> None:
    judged = judge(CASE, response(coverage=0.5), 0.25)
    assert judged.figures == {
        "recall@8": 1.0,
        "hit@5": 1.0,
        "mrr@10": 0.5,
        "ndcg@10": pytest.approx(0.6309, abs=1e-4),
        "false_refusals": 0.0,
        "accuracy": 1.0,
        "citation_precision": 1.0,
        "coverage": 0.5,
    }
    assert (judged.outcome, judged.seconds, judged.error, judged.language) == ("answer", 0.25, "", "en")


def test_a_citation_counts_by_its_chunk_and_by_its_quote_without_one() -> None:
    both = (
        Citation(
            number=2, chunk_id="c", filename="a.txt", quote="that leads out"
        ),  # its chunk holds the answer
        Citation(number=1, chunk_id="d", filename="b.txt", quote="sold by the metre"),  # of another document
    )
    assert judge(CASE, response(citations=both)).figures["citation_precision"] == 0.5
    untraced = judge(CASE, response(citations=both, rag_trace=None))
    assert untraced.figures["citation_precision"] == 0.0
    assert "recall@8" not in untraced.figures, "no trace, nothing known of what was retrieved"


def test_verdicts_on_citations() -> None:
    checks = tuple(
        CitationCheck(number=1, start=0, end=1, verdict=verdict)
        for verdict in ("supported", "unsupported", "misattributed", "supported")
    )
    assert judge(CASE, response(checks=checks)).figures["supported"] == 0.5


@pytest.mark.parametrize(
    "outcome", ["no_knowledge", "needs_clarification", "needs_scope_selection", "cancelled"]
)
def test_not_to_answer_is_right_only_for_the_unanswerable(outcome: Any) -> None:
    silent = response(outcome=outcome, response="A ball of thread?", citations=())
    assert judge(Case(question="?", unanswerable=True), silent).figures == {"abstention": 1.0}
    figures = judge(CASE, silent).figures
    assert (figures["false_refusals"], figures["accuracy"]) == (1.0, 0.0)
    assert "citation_precision" not in figures


@pytest.mark.parametrize("outcome", ["answer", "partial"])
def test_to_answer_the_unanswerable_is_wrong(outcome: Any) -> None:
    assert judge(Case(question="?", unanswerable=True), response(outcome=outcome)).figures == {
        "abstention": 0.0
    }


def test_an_error_is_wrong_and_no_refusal() -> None:
    failed = response(
        error=Error(type="retrieval-failed", message="down"), outcome=None, citations=(), rag_trace=None
    )
    judged = judge(CASE, failed)
    assert judged.figures == {"false_refusals": 0.0, "accuracy": 0.0}
    assert (judged.outcome, judged.error) == ("error", "retrieval-failed: down")
    assert judge(Case(question="?", unanswerable=True), failed).figures == {"abstention": 0.0}


def test_passages_are_wanted_each_and_from_the_named_documents() -> None:
    case = Case(question="?", passages=("a clew is a ball", "that leads out"), documents=("a.txt",))
    pieces = [
        Piece("b.txt", RIGHT["text"]),
        Piece("a.txt", "A clew is a ball."),
        Piece("a.txt", RIGHT["text"]),
    ]
    assert rank(case, pieces) == ([frozenset(), frozenset({0}), frozenset({0, 1})], 2)


def test_documents_alone_are_wanted_each() -> None:
    case = Case(question="?", documents=("a.txt", "b.txt"))
    assert rank(case, [Piece("b.txt", ""), Piece("c.txt", "")]) == ([frozenset({1}), frozenset()], 2)
    assert "accuracy" not in judge(case, response()).figures


def test_evidence_of_a_trace() -> None:
    assert retrieved_in(None) is None
    assert retrieved_in({}) == []
    assert retrieved_in({"retrieved_chunks": [RIGHT, {"text": None}]}) == [Piece(**RIGHT), Piece("", "")]
