"""``clew eval`` against a running stack: figures, bounds, and files that make no sense."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clew_services.cli.evaluate import cell, wrongs
from clew_services.core.metrics import Mean
from clew_services.evaluation.cases import Case
from clew_services.evaluation.judging import Judged
from tests.cli.shell import Shell

CASES = [
    {"id": "known", "question": "What is a clew?", "answers": ["ball of thread"], "documents": ["clew.md"]},
    {"id": "other", "question": "Who used a clew in the labyrinth?", "answers": ["Ariadne"]},
    {"id": "silent", "question": "Who composed the Ninth Symphony?", "unanswerable": True},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, CASES)))
    return file


@pytest.mark.slow
def test_figures_as_json(shell: Shell, questions: Path) -> None:
    said = shell.run("eval", questions, "--json")
    assert (said.code, said.err) == (0, "")
    *each, last = said.lines
    assert [(line["id"], line["outcome"]) for line in each] == [
        ("known", "answer"),
        ("other", "answer"),
        ("silent", "no_knowledge"),
    ]
    assert each[0]["figures"]["recall@8"] == each[0]["figures"]["citation_precision"] == 1.0
    summary = last["summary"]
    assert (summary["questions"], summary["errors"], last["broken"]) == (3, 0, [])
    figures = {name: (found["value"], found["n"]) for name, found in summary["groups"]["all"].items()}
    assert figures["accuracy"] == (0.5, 2)
    assert figures["abstention"] == (1.0, 1)
    assert 0 < summary["latency_p50"] <= summary["latency_p95"]


@pytest.mark.slow
def test_a_bound_that_is_not_kept_ends_with_1_and_says_which(shell: Shell, questions: Path) -> None:
    bounds = ("--min", "accuracy=0.9", "--min", "abstention=1", "--max", "false_refusals=0")
    said = shell.run("eval", questions, *bounds)
    assert said.code == 1
    assert "error not-good-enough: accuracy is 0.5, wanted at least 0.9" in said.err
    assert said.err.count("error") == 1
    assert "✗ other: answered with something else" in said.err
    assert "3 questions: 2 answer, 1 no_knowledge" in said.out
    assert re.search(r"^ accuracy +2 +0\.500 \(0\.09–0\.91\) *$", said.out, re.MULTILINE)
    kept = shell.run("eval", questions, "--min", "accuracy=0.5", "--limit", "2")
    assert (kept.code, "2 questions" in kept.out) == (0, True)


@pytest.mark.slow
def test_an_unknown_collection_is_told_once(shell: Shell, questions: Path) -> None:
    said = shell.run("eval", questions, "-c", "nowhere")
    assert said.code == 1
    assert said.err.count("unknown-collection") == 1


def test_what_makes_no_sense_is_refused_before_anything_is_asked(alone: Shell, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question": "?", "unanswerable": true}\n{"question": "?", "answer": "x"}\n')
    said = alone.run("eval", bad)
    assert (said.code, said.out) == (2, "")
    assert said.err == "error bad-request: bad.jsonl, line 2: answer: Extra inputs are not permitted\n"
    bound = alone.run("eval", bad, "--min", "goodness=1")
    assert (bound.code, bound.out) == (2, "")
    assert "'goodness=1' is no bound: write NAME=VALUE" in bound.err


def test_nothing_runs(alone: Shell, questions: Path) -> None:
    said = alone.run("eval", questions)
    assert (said.code, said.out) == (1, "")
    assert "start `clew up`" in said.err


@pytest.mark.parametrize(
    ("figures", "error", "told"),
    [
        ({"accuracy": 1.0, "false_refusals": 0.0}, "", ""),
        ({"accuracy": 0.0, "false_refusals": 1.0}, "", "not answered"),
        ({"accuracy": 0.0, "false_refusals": 0.0}, "", "answered with something else"),
        ({"abstention": 0.0}, "", "answered, though it is unanswerable"),
        ({"abstention": 0.0}, "timeout: no response in time", "timeout: no response in time"),
    ],
)
def test_what_went_wrong_in_words(figures: dict[str, float], error: str, told: str) -> None:
    case = Case(question="?", unanswerable=True)
    assert wrongs(Judged(case=case, outcome="answer", error=error, figures=figures)) == told


def test_a_cell() -> None:
    assert cell(Mean(0.5, 0.25, 0.75, 12)) == "0.500 (0.25–0.75)"
    assert cell(None) == "–"
