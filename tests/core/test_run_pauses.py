"""A run that waits for a person: who waits, and what the answer makes of the questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.facts import (
    Fact,
    PartQuestion,
)
from clew_services.core.run import WHOLE, Branch, read, resumption
from clew_services.errors import Unreadable
from tests.core.run_facts import (
    graded,
    joined,
    paused,
    planned,
    resumed,
    retrieved,
)


def test_who_waits() -> None:
    assert read((planned(), retrieved("a"), graded("clarify")), "q").waiting == (PartQuestion(question="q"),)
    trail = (
        planned("a", "b", "c"),
        retrieved("x", part=1),
        retrieved("x", part=2),
        retrieved("x", part=3),
        graded("scope_select", part=3),
        graded(part=2),
        graded("clarify", part=1),
    )
    assert read((*trail, joined("clarify")), "q").waiting == (
        PartQuestion(part=1, question="a"),
        PartQuestion(part=3, question="c"),
    )
    assert read((planned("a"), retrieved("x", part=1), graded(part=1), joined()), "q").waiting == ()


def test_a_pause_is_over_when_it_is_answered() -> None:
    pause = paused(number=2)
    trail = (planned(), retrieved("a"), graded("clarify"), pause)
    run = read(trail, "q")
    assert (run.pause, run.rounds, run.resumed, run.answers) == (pause, 2, None, ())
    answer = resumed("x", PartQuestion(question="x：q"))
    run = read((*trail, answer), "q")
    assert (run.pause, run.rounds, run.resumed, run.answers) == (None, 2, answer, ("x",))
    assert (run.asked, run.question, run.branches[WHOLE].since) == ("q", "x：q", 1)


def test_an_answer_to_the_whole_replaces_the_parts() -> None:
    trail = (planned("a", "b"), retrieved("x", part=1), joined("clarify"), paused())
    run = read((*trail, resumed("x", PartQuestion(question="x：q"))), "q")
    assert run.branches == {WHOLE: Branch(part=WHOLE, question="x：q")}
    assert (run.is_complex, run.joined, run.question) == (False, None, "x：q")


def test_an_answer_to_parts_leaves_the_others_as_they_are() -> None:
    trail = (
        planned("a", "b"),
        retrieved("x", part=1),
        retrieved("y", part=2),
        graded(part=1),
        joined("clarify"),
    )
    run = read((*trail, resumed("n", PartQuestion(part=2, question="n：b"))), "q")
    assert run.branches[1] == read(trail, "q").branches[1]
    assert (run.branches[2].question, run.branches[2].since, run.question) == ("n：b", 1, "q")
    assert (run.joined, run.is_complex) == (None, True)


def test_only_a_run_that_waits_is_resumed() -> None:
    with pytest.raises(Unreadable, match="does not wait for a person"):
        resumption(read((planned(), retrieved("a"), graded()), "q"), "x")


@pytest.mark.parametrize(
    ("answer", "question"),
    [("2024", "2024：the fee in 2023"), ("2023", "the fee in 2023"), (" ", "the fee in 2023")],
)
def test_strict_prefixes_the_answer_unless_it_stands_in_the_question(answer: str, question: str) -> None:
    run = read((planned("a", "b", mode="strict"), paused()), "the fee in 2023")
    assert resumption(run, answer) == (PartQuestion(part=WHOLE, question=question),)


@pytest.mark.parametrize(
    ("answers", "question"),
    [
        (("2023",), "2023：the fee in 2023"),
        ((" 2024 ",), "2024：the fee in 2023"),
        (("  ",), "the fee in 2023"),
        (("the fee in 2023",), "the fee in 2023"),
        (("one", "two"), "one；two：the fee in 2023"),
        (("one", "", "one", "two"), "one；two：the fee in 2023"),
    ],
)
def test_improved_keeps_all_answers_before_the_question_as_it_was_asked(
    answers: tuple[str, ...], question: str
) -> None:
    trail: list[Fact] = [planned(), paused()]
    for before in answers[:-1]:
        trail += [resumed(before, PartQuestion(question="whatever came of it")), paused()]
    assert resumption(read(trail, "the fee in 2023"), answers[-1]) == (PartQuestion(question=question),)


def test_improved_asks_only_the_parts_that_waited_in_their_first_words() -> None:
    waiting = (PartQuestion(part=2, question="old：b"), PartQuestion(part=3, question="c"))
    run = read((planned("a", "b", "c"), paused(*waiting)), "q")
    assert resumption(run, "n") == (
        PartQuestion(part=2, question="n：b"),
        PartQuestion(part=3, question="n：c"),
    )


def test_a_waiting_run_without_a_plan_is_asked_as_it_was() -> None:
    assert resumption(read((paused(),), "q"), "n") == (PartQuestion(question="n：q"),)


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4), st.text(min_size=1, max_size=5))
def test_no_answer_is_lost_and_the_question_ends_as_it_was_asked(answers: list[str], question: str) -> None:
    trail: list[Fact] = [planned(), paused()]
    for answer in answers[:-1]:
        trail += [resumed(answer, PartQuestion(question="?")), paused()]
    ((made),) = resumption(read(trail, question), answers[-1])
    assert made.part == WHOLE
    assert made.question.endswith(question)
    assert all(answer.strip() in made.question for answer in answers)
