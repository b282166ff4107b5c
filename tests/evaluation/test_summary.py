"""Many judged questions, and the bounds that they must keep."""

import json

import pytest

from clew_services.errors import BadRequest
from clew_services.evaluation.cases import Case
from clew_services.evaluation.judging import Judged
from clew_services.evaluation.summary import Bound, bound, summarise

EN, ZH = Case(question="who?", answers=("x",)), Case(question="谁？", answers=("x",))


def judged(case: Case, accuracy: float, seconds: float, error: str = "") -> Judged:
    outcome = "error" if error else "answer"
    return Judged(case=case, outcome=outcome, seconds=seconds, error=error, figures={"accuracy": accuracy})


ALL = [
    judged(EN, 1.0, 0.1),
    judged(EN, 0.0, 0.3, "transient: later: no"),
    judged(ZH, 1.0, 0.2),
    judged(ZH, 1.0, 0.4),
]


def test_figures_by_language() -> None:
    summary = summarise(ALL)
    found = {name: (group["accuracy"].value, group["accuracy"].n) for name, group in summary.groups.items()}
    assert found == {"all": (0.75, 4), "en": (0.5, 2), "zh": (1.0, 2)}
    assert [summary.latency_p50, summary.latency_p95] == pytest.approx([200, 400])
    assert (summary.outcomes, summary.failures, summary.errors) == (
        {"answer": 3, "error": 1},
        {"transient": 1},
        1,
    )
    record = json.loads(json.dumps(summary.record(), allow_nan=False))
    assert record["groups"]["zh"]["accuracy"]["value"] == 1.0
    assert record["errors"] == 1


def test_one_language_is_all() -> None:
    assert list(summarise(ALL[:2]).groups) == ["all", "en"]
    with pytest.raises(ValueError, match="no question was judged"):
        summarise([])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Bound("accuracy", 0.75), ""),
        (Bound("accuracy", 0.76), "accuracy is 0.75, wanted at least 0.76"),
        (Bound("accuracy", 0.7, is_most=True), "accuracy is 0.75, wanted at most 0.7"),
        (Bound("errors", 0, is_most=True), "errors is 1, wanted at most 0"),
        (Bound("latency_p95", 500, is_most=True), ""),
        (Bound("latency_p95", 300, is_most=True), "latency_p95 is 400, wanted at most 300"),
        (Bound("abstention", 0.0), "abstention was not measured: no question of the set says what it needs"),
    ],
)
def test_bounds(given: Bound, told: str) -> None:
    assert given.broken_by(summarise(ALL)) == told


def test_bounds_are_read() -> None:
    assert bound("accuracy=0.7") == Bound("accuracy", 0.7)
    assert bound("recall@8=1", is_most=True) == Bound("recall@8", 1.0, is_most=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("accuracy", "write NAME=VALUE"),
        ("acuracy=1", "NAME one of abstention, accuracy"),
        ("accuracy=x", "'x' is no number"),
        ("accuracy=nan", "NaN compares with nothing"),
    ],
)
def test_what_is_no_bound_is_refused(text: str, told: str) -> None:
    with pytest.raises(BadRequest, match=told):
        bound(text)
