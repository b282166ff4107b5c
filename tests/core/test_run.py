"""A run read from its facts: its branches, what is kept, and what was decided."""

from __future__ import annotations

import pytest

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    Fact,
    Gap,
    PartQuestion,
    QueryRewritten,
)
from clew_services.core.run import WHOLE, Branch, Run, read
from clew_services.core.synthesis import PartResult
from clew_services.errors import Unreadable
from tests.core.run_facts import (
    ASKED,
    NONE,
    PARTIAL,
    STATUS,
    SUFFICIENT,
    graded,
    joined,
    names,
    planned,
    resumed,
    retrieved,
    whole,
)

# --- what was asked and planned ---------------------------------------------------------------------


def test_nothing_but_the_question_is_known_of_an_empty_trail() -> None:
    assert read((), "q") == Run(asked="q", question="q")


def test_a_simple_question_is_one_branch_and_parts_are_numbered_from_one() -> None:
    simple = read((ASKED, planned(mode="strict")), "q")
    assert (simple.asked_at, simple.mode, simple.is_complex) == ("2026-01-01T00:00:00Z", "strict", False)
    assert simple.branches == {WHOLE: Branch(part=WHOLE, question="q")}
    run = read((ASKED, plan := planned("a", "b")), "q")
    assert run.branches == {1: Branch(part=1, question="a"), 2: Branch(part=2, question="b")}
    assert (run.is_complex, run.plan, run.mode) == (True, plan, "improved")


def test_evidence_without_a_plan_is_of_the_whole_question() -> None:
    run = read((retrieved("a"),), "q")
    assert (run.branches[WHOLE].question, names(run.branches[WHOLE].found)) == ("q", ["a"])


def test_facts_that_change_nothing_are_passed_over() -> None:
    written = AnswerWritten(outcome="answer", text="yes")
    spent = BudgetExhausted(
        budget="rounds", spent=3, route="answer", status="partial", resolved_by="I07-rounds-exhausted"
    )
    trail = (ASKED, planned(), retrieved("a"), graded())
    assert read((*trail, spent, written), "q") == read(trail, "q")


def test_the_newest_rewrite_says_how_many_are_spent() -> None:
    spent = [QueryRewritten(method="hyde", query="q", text="t", rewrite_count=count) for count in (1, 2)]
    assert [read(spent[:count], "q").rewrite_count for count in (0, 1, 2)] == [0, 1, 2]


# --- one branch -------------------------------------------------------------------------------------


def test_a_branch_without_a_pass_has_found_nothing() -> None:
    branch = whole()
    assert (branch.next_pass, branch.graded, branch.earlier, branch.found, branch.kept) == (
        1,
        None,
        None,
        (),
        (),
    )
    assert branch.result == PartResult(question="q")


def test_a_pass_waits_for_its_grade_although_an_earlier_one_has_one() -> None:
    first = graded("rewrite")
    branch = whole(retrieved("a"), first, retrieved("b", number=2))
    assert (branch.next_pass, branch.graded, branch.earlier) == (3, None, first)
    assert (names(branch.found), names(branch.kept)) == (["b"], ["b"])
    assert branch.result == PartResult(question="q")


def test_a_grade_without_a_pass_grades_nothing() -> None:
    assert whole(graded()).graded is None


def test_the_pass_that_the_grading_kept_goes_on() -> None:
    second = graded("answer", number=2, grade=NONE, kept_pass=1)
    branch = whole(retrieved("a", "b"), graded("rewrite"), retrieved("c", number=2), second)
    assert (branch.graded, names(branch.found), names(branch.kept)) == (second, ["c"], ["a", "b"])
    assert names(branch.result.evidence) == ["a", "b"]


def test_the_earlier_grade_is_that_of_the_newest_pass_before_and_of_the_same_question() -> None:
    first, second, third = graded("rewrite"), graded("rewrite", number=2), graded("clarify", number=3)
    passes = (retrieved("a"), first, retrieved("b", number=2), second, retrieved("c", number=3), third)
    assert [whole(*passes[:count]).earlier for count in (2, 4, 6)] == [None, first, second]
    again = (*passes, resumed("x", PartQuestion(question="x：q")), retrieved("d", number=4))
    branch = read((ASKED, planned(), *again), "q").branches[WHOLE]
    assert (branch.since, branch.question, branch.earlier, branch.graded) == (3, "x：q", None, None)


@pytest.mark.parametrize(
    ("route", "kept"),
    [("answer", ["a"]), ("rewrite", ["a"]), ("clarify", []), ("scope_select", []), ("no_knowledge", [])],
)
def test_a_pause_and_a_refusal_leave_no_evidence(route: str, kept: list[str]) -> None:
    options = ("x", "y")
    fact = graded(route, grade=SUFFICIENT | {"hitl_options": options}, asks="which?", failure="model-refused")
    result = whole(retrieved("a"), fact).result
    assert (result.route, result.status, names(result.evidence)) == (route, STATUS[route], kept)
    assert (result.question, result.prompt, result.options, result.failure) == (
        "q",
        "which?",
        options,
        "model-refused",
    )
    assert result.pauses is (route in {"clarify", "scope_select"})


# --- all branches -----------------------------------------------------------------------------------


def test_the_ungraded_come_in_the_order_of_their_parts() -> None:
    run = read(
        (planned("a", "b", "c"), *(retrieved("x", part=part) for part in (3, 2, 1)), graded(part=2)), "q"
    )
    assert [branch.part for branch in run.ungraded] == [1, 3]


def test_results_are_those_of_parts_in_the_planned_order() -> None:
    trail = (
        planned("a", "b"),
        retrieved("y", part=2),
        retrieved("x", part=1),
        graded(part=2),
        graded("clarify", part=1),
    )
    assert [(each.question, each.route) for each in read(trail, "q").results] == [
        ("a", "clarify"),
        ("b", "answer"),
    ]
    assert read((planned(), retrieved("a"), graded()), "q").results == ()


# --- the verdict ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "facts", [(), (planned(),), (planned(), retrieved("a")), (planned("a"), retrieved("a", part=1))]
)
def test_without_a_decision_there_is_no_verdict(facts: tuple[Fact, ...]) -> None:
    with pytest.raises(Unreadable, match="the trail holds no decision"):
        _ = read(facts, "q").verdict


def test_the_verdict_of_a_whole_question_is_its_grade() -> None:
    fact = graded("clarify", grade=PARTIAL | {"hitl_options": ("x",)}, asks="which?")
    verdict = read((planned(), retrieved("a"), fact), "q").verdict
    assert (verdict.route, verdict.status, verdict.resolved_by) == (
        "clarify",
        "needs_clarification",
        "R-clarify",
    )
    assert (verdict.evidence, verdict.asks, verdict.options, verdict.gaps) == ((), "which?", ("x",), ())
    assert verdict.pauses
    answer = read((planned(), retrieved("a"), graded()), "q").verdict
    assert (names(answer.evidence), answer.pauses) == (["a"], False)


def test_the_verdict_of_parts_is_what_joined_them() -> None:
    gap = Gap(part=2, question="b", code="no_knowledge")
    trail = (
        planned("a", "b", "c"),
        retrieved("x", "y", part=1),
        retrieved("z", part=2),
        retrieved("y", "w", part=3),
        graded(part=1),
        graded("no_knowledge", part=2, grade=NONE),
        graded(part=3),
        joined(status="partial", asks="which?", options=("o",), gaps=(gap,)),
    )
    verdict = read(trail, "q").verdict
    assert [(each.chunk_id, each.rank) for each in verdict.evidence] == [("x", 1), ("y", 2), ("w", 3)]
    assert (verdict.route, verdict.status, verdict.resolved_by) == ("answer", "partial", "S")
    assert (verdict.asks, verdict.options, verdict.gaps) == ("which?", ("o",), (gap,))


@pytest.mark.parametrize("fact", [retrieved("b", part=1, number=2), graded(part=1)])
def test_what_was_joined_is_so_no_more_when_a_part_moves(fact: Fact) -> None:
    trail = (planned("a"), retrieved("a", part=1), graded(part=1), joined())
    assert read(trail, "q").joined is not None
    assert read((*trail, fact), "q").joined is None
