"""What holds for every run: parts apart from each other, what it falls back on, which grade says more."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Grade
from clew_schema.facts import (
    EvidenceRetrieved,
    Fact,
)
from clew_services.core.run import better, read
from tests.core.run_facts import (
    NONE,
    PARTIAL,
    STATUS,
    SUFFICIENT,
    graded,
    names,
    planned,
    retrieved,
)


def test_the_fallback_is_what_says_anything_each_piece_once() -> None:
    trail = (
        planned("a", "b", "c", "d"),
        retrieved("x", part=4),
        retrieved("x", "y", part=3),
        retrieved("n", part=2),
        retrieved("w", "x", part=1),
        graded("clarify", part=1, grade=PARTIAL),
        graded("no_knowledge", part=2, grade=NONE),
        graded("clarify", part=3, grade=PARTIAL),
    )
    fallback = read(trail, "q").fallback
    assert [(each.chunk_id, each.rank) for each in fallback] == [("w", 1), ("x", 2), ("y", 3)]


@pytest.mark.parametrize("field", ["relevance", "answerability"])
def test_what_says_nothing_is_no_fallback(field: str) -> None:
    fact = graded("clarify", grade=PARTIAL | {field: "none"})
    assert read((planned(), retrieved("a"), fact), "q").fallback == ()


ASCENDING = [
    Grade.model_validate({"answerability": answerability, "relevance": relevance, "route": "answer"})
    for answerability, relevance in product(("none", "partial", "sufficient"), ("none", "weak", "strong"))
]


def test_answerability_weighs_more_than_relevance() -> None:
    for (low, one), (high, other) in product(enumerate(ASCENDING), repeat=2):
        assert better(other, one) is (high > low)


PARTS = (1, 2, 3)
ROUTES = st.sampled_from([*STATUS])
GRADES = st.sampled_from([SUFFICIENT, PARTIAL, NONE])


@st.composite
def courses(draw: st.DrawFn) -> dict[int, list[Fact]]:
    """The passes and grades of each part, in order; the last pass of a part may wait for its grade."""
    told: dict[int, list[Fact]] = {}
    for part in PARTS:
        told[part] = []
        count = draw(st.integers(0, 3))
        for number in range(1, count + 1):
            found = draw(st.lists(st.sampled_from("abcde"), max_size=3, unique=True))
            told[part].append(retrieved(*found, part=part, number=number))
            if number < count or draw(st.booleans()):
                kept = draw(st.integers(0, number - 1))
                told[part].append(
                    graded(draw(ROUTES), part=part, number=number, grade=draw(GRADES), kept_pass=kept)
                )
    return told


@st.composite
def trails(draw: st.DrawFn) -> tuple[dict[int, list[Fact]], list[Fact]]:
    """Courses, and one of the orders in which their facts can have come."""
    told = draw(courses())
    turns = draw(st.permutations([part for part, facts in told.items() for _ in facts]))
    left = {part: iter(facts) for part, facts in told.items()}
    return told, [next(left[part]) for part in turns]


@given(trails())
def test_parts_do_not_depend_on_each_other(given_: tuple[dict[int, list[Fact]], list[Fact]]) -> None:
    told, mixed = given_
    plan = planned("a", "b", "c")
    run = read((plan, *mixed), "q")
    assert run.branches == {part: read((plan, *facts), "q").branches[part] for part, facts in told.items()}


@given(trails())
def test_a_branch_counts_its_passes_and_is_graded_or_not(
    given_: tuple[dict[int, list[Fact]], list[Fact]],
) -> None:
    told, mixed = given_
    run = read((planned("a", "b", "c"), *mixed), "q")
    waiting = [part for part in PARTS if not told[part] or isinstance(told[part][-1], EvidenceRetrieved)]
    assert [branch.part for branch in run.ungraded] == waiting
    for part, branch in run.branches.items():
        assert branch.next_pass == 1 + sum(isinstance(fact, EvidenceRetrieved) for fact in told[part])
        assert branch.kept in ((), *(each.evidence for each in branch.passes))
        assert not branch.earlier or branch.earlier.pass_number < branch.next_pass - 1


@given(trails())
def test_the_fallback_is_numbered_and_of_what_was_kept(
    given_: tuple[dict[int, list[Fact]], list[Fact]],
) -> None:
    run = read((planned("a", "b", "c"), *given_[1]), "q")
    fallback = run.fallback
    kept = {each.chunk_id for branch in run.branches.values() for each in branch.kept}
    assert [each.rank for each in fallback] == [*range(1, len(fallback) + 1)]
    assert len(set(names(fallback))) == len(fallback)
    assert set(names(fallback)) <= kept
