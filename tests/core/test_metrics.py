"""Figures of merit, against values worked out by hand and published tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_services.core.metrics import (
    difference,
    hit,
    mean,
    ndcg,
    percentile,
    recall,
    reciprocal_rank,
)

NONE: frozenset[int] = frozenset()


def ranking(*held: int | None) -> list[frozenset[int]]:
    return [NONE if target is None else frozenset({target}) for target in held]


@pytest.mark.parametrize(
    ("places", "targets", "k", "found"),
    [
        (ranking(None, 0, None, 1), 2, 4, 1.0),
        (ranking(None, 0, None, 1), 2, 3, 0.5),
        (ranking(0, 0, 0), 2, 3, 0.5),  # found again is not found twice
        ([frozenset({0, 1})], 2, 1, 1.0),
        ([], 1, 8, 0.0),
    ],
)
def test_recall(places: list[frozenset[int]], targets: int, k: int, found: float) -> None:
    assert recall(places, targets, k) == found


def test_hit_and_reciprocal_rank_look_at_the_first_place() -> None:
    places = ranking(None, None, 1, 0)
    assert (hit(places, 2, 2), hit(places, 2, 3)) == (0.0, 1.0)
    assert (reciprocal_rank(places, 2, 2), reciprocal_rank(places, 2, 10)) == (0.0, 1 / 3)


def test_ndcg_by_hand() -> None:
    # Places 2 and 4 of two targets: (1/log2(3) + 1/log2(5)) / (1/log2(2) + 1/log2(3)).
    assert ndcg(ranking(None, 0, None, 1), 2, 10) == pytest.approx(
        (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    )
    assert ndcg(ranking(0), 1, 10) == 1.0
    assert ndcg(ranking(None, 0), 1, 10) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg(ranking(None, 0), 1, 1) == 0.0
    assert ndcg(ranking(0), 3, 1) == 1.0, "no more than the first place could be won"
    assert ndcg([frozenset({0, 1})], 2, 10) == 1.0, (
        "better than one target a place is not better than perfect"
    )


@pytest.mark.parametrize("figure", [recall, hit, reciprocal_rank, ndcg])
def test_no_target_cannot_be_judged(figure: object) -> None:
    assert callable(figure)
    with pytest.raises(ValueError, match="at least one target and place, got 0 and 8"):
        figure([], 0, 8)
    with pytest.raises(ValueError, match="at least one target and place, got 1 and 0"):
        figure([], 1, 0)


@given(st.lists(st.frozensets(st.integers(0, 3)), max_size=12), st.integers(1, 12))
def test_figures_are_shares_and_agree_on_nothing_found(places: list[frozenset[int]], k: int) -> None:
    figures = [figure(places, 4, k) for figure in (recall, hit, reciprocal_rank, ndcg)]
    assert all(0 <= value <= 1 for value in figures)
    assert len({value > 0 for value in figures}) == 1
    assert figures[0] <= recall(places, 4, k + 1)


def test_wilsons_interval_for_right_and_wrong() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263, and 0 of 20.
    found = mean([1.0] * 81 + [0.0] * 182)
    assert found is not None
    assert (round(found.value, 4), round(found.low, 4), round(found.high, 4), found.n) == (
        0.308,
        0.2553,
        0.3662,
        263,
    )
    none = mean([0.0] * 20)
    assert none is not None
    assert (none.value, none.low, round(none.high, 4)) == (0.0, 0.0, 0.1611)


def test_the_normal_interval_for_shares_between() -> None:
    # Sample standard deviation of .2 .4 .6 is .2, so the half width is 1.96 * .2 / sqrt(3).
    found = mean([0.2, 0.4, 0.6])
    assert found is not None
    assert found.value == pytest.approx(0.4)
    assert found.high - found.value == pytest.approx(0.2263, abs=1e-4)
    alone = mean([0.5])
    assert alone is not None
    assert (alone.low, alone.high) == (0.0, 1.0), "one value says nothing of the others"


def test_means_are_of_shares() -> None:
    assert mean([]) is None
    for bad in (1.5, -0.1, math.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            mean([bad])


def test_a_difference_is_taken_question_by_question() -> None:
    found = difference([0.0, 0.5, 1.0], [0.5, 1.0, 1.0])
    assert found is not None
    # Differences .5 .5 0: mean 1/3, standard deviation .2887.
    assert found.value == pytest.approx(1 / 3)
    assert found.low == pytest.approx(1 / 3 - 1.96 * 0.288675 / math.sqrt(3), abs=1e-4)
    assert difference([], []) is None
    with pytest.raises(ValueError, match="zip"):
        difference([1.0], [])


@pytest.mark.parametrize(
    ("share", "value"), [(0.05, 15), (0.3, 20), (0.4, 20), (0.5, 35), (0.95, 50), (1.0, 50)]
)
def test_percentiles_by_nearest_rank(share: float, value: float) -> None:
    assert percentile([35, 20, 15, 50, 40], share) == value


def test_a_percentile_of_nothing_is_refused() -> None:
    for values, share in (([], 0.5), ([1.0], 0.0), ([1.0], 1.1)):
        with pytest.raises(ValueError, match="percentile"):
            percentile(values, share)
