"""The tables of a measurement, and what the second pass of a run did."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.quality.measure import EXACT, VARIANTS, Row, first_pass, rewriting
from benchmarks.quality.report import BASE, cell, retrieval_table, signed, table
from clew_services.core.metrics import Mean
from clew_services.evaluation.cases import Case
from clew_services.evaluation.judging import Judged

KNOWN = Case(question="?", answers=("x",), documents=("a",))
UNKNOWN = Case(question="??", unanswerable=True, id="gone:1")


def test_cells() -> None:
    assert cell(Mean(0.5, 0.4, 0.7, 9)) == "50.0 ±15.0"
    assert cell(None) == signed(None) == "–"
    assert signed(Mean(-0.02, -0.03, -0.01, 9)) == "-2.0 ±1.0*"
    assert signed(Mean(0.02, -0.01, 0.05, 9)) == "+2.0 ±3.0"
    assert signed(Mean(0.0, 0.0, 0.0, 9)) == "+0.0 ±0.0"


def test_a_table_is_markdown() -> None:
    assert list(table(["", "b"], [["long", "1"]])) == ["|      | b |", "|------|---|", "| long | 1 |"]


def test_every_variant_is_compared_with_the_same_questions() -> None:
    def row(name: str, *hits: float) -> Row:
        figures = [{"recall@8": 1.0, "hit@5": h, "mrr@10": 0.5, "ndcg@10": 1.0} for h in hits]
        return Row(name, [Judged(case=KNOWN, outcome="", figures=each) for each in figures], characters=99.6)

    head, _, base, other = retrieval_table([row(BASE, 0.0, 1.0), row("new", 1.0, 1.0)])
    assert head.split("|")[1].strip() == "n=2"
    cells = [part.strip() for part in other.split("|")]
    assert cells[1] == "new"
    assert cells[6].startswith("+50.0 ±")
    assert cells[8] == "100"
    assert "+0.0 ±0.0" in base


def test_variants_have_names_of_their_own() -> None:
    names = [variant.name for variant in VARIANTS]
    assert len(set(names)) == len(names)
    assert BASE in names
    assert {variant.name for variant in EXACT} == {"BM25 only", "hybrid, RRF", "hybrid, z-score"}


def run(case: Case, outcome: str, figures: dict[str, float], **chunks: Any) -> Judged:
    return Judged(case=case, outcome=outcome, figures=figures, trace=chunks)


RIGHT, WRONG = [{"filename": "a", "text": "an x"}], [{"filename": "a", "text": "a y"}]


def test_what_the_second_pass_did() -> None:
    twice = {"rewrite_method": "hyde", "initial_retrieved_chunks": WRONG, "rewrite_retrieved_chunks": RIGHT}
    back = {"rewrite_method": "hyde", "initial_retrieved_chunks": RIGHT, "rewrite_retrieved_chunks": WRONG}
    found = rewriting(
        [
            run(KNOWN, "answer", {"accuracy": 1.0}, **twice),
            run(KNOWN, "answer", {"accuracy": 0.0}, **twice),
            run(KNOWN, "no_knowledge", {"accuracy": 0.0}, **back),
            run(KNOWN, "answer", {"accuracy": 1.0}, initial_retrieved_chunks=RIGHT),
            run(UNKNOWN, "answer", {}, **twice),
            run(UNKNOWN, "no_knowledge", {}, **twice),
        ]
    )
    assert found == {
        "answerable": 3,
        "hit@5 before": pytest.approx(1 / 3),
        "hit@5 after": pytest.approx(2 / 3),
        "answered": 2,
        "answered rightly": 1,
        "unanswerable": 2,
        "answered all the same": 1,
    }
    assert rewriting([])["hit@5 before"] == 0.0


def test_without_a_second_pass_its_questions_are_not_answered() -> None:
    again = {"rewrite_method": "hyde"}
    row = Row(
        "all",
        [
            run(
                KNOWN,
                "answer",
                {"accuracy": 1.0, "false_refusals": 0.0, "hit@5": 1.0, "coverage": 1.0},
                **again,
            ),
            run(KNOWN, "answer", {"accuracy": 1.0, "false_refusals": 0.0}),
            run(UNKNOWN, "answer", {"abstention": 0.0}, **again),
            run(UNKNOWN, "answer", {"abstention": 0.0}),
        ],
    )
    alone = first_pass(row)
    assert alone.name == "all, no rewrite"
    assert alone.figures("accuracy") == [0.0, 1.0]
    assert alone.figures("false_refusals") == [1.0, 0.0]
    assert alone.figures("abstention") == [1.0, 0.0]
    assert (alone.figures("hit@5"), alone.figures("coverage")) == ([1.0], [])
