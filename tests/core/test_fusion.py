"""Fusion by reciprocal rank and by standardised scores: worked examples and laws."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Evidence
from clew_services.core.fusion import FUSIONS, MISSING, rrf, zscore

Fusion = Callable[[Sequence[Evidence], Sequence[Evidence] | None], tuple[Evidence, ...]]


def dense(name: str, rank: int, score: float = 0.5) -> Evidence:
    return Evidence(chunk_id=name, dense_rank=rank, dense_score=score)


def bm25(name: str, rank: int, score: float = 7.0) -> Evidence:
    return Evidence(chunk_id=name, bm25_rank=rank, bm25_score=score)


def test_a_worked_example_keeps_every_rank_and_score() -> None:
    fused = rrf([dense("a", 1, 0.9), dense("b", 2, 0.8)], [bm25("b", 1, 12.0), bm25("c", 2, 3.0)], k=60)

    assert [(e.chunk_id, e.rank) for e in fused] == [("b", 1), ("a", 2), ("c", 3)]
    assert [e.fused_score for e in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])
    assert [(e.dense_rank, e.dense_score, e.bm25_rank, e.bm25_score) for e in fused] == [
        (2, 0.8, 1, 12.0),
        (1, 0.9, None, None),
        (None, None, 2, 3.0),
    ]


def test_a_store_without_a_bm25_leg_leaves_the_dense_order() -> None:
    for fused in (rrf([dense("a", 2), dense("b", 1)], None), zscore([dense("a", 2), dense("b", 1)], None)):
        assert [(e.chunk_id, e.rank, e.fused_score) for e in fused] == [("b", 1, None), ("a", 2, None)]


def test_equal_scores_are_ordered_by_dense_rank_then_id() -> None:
    assert [e.chunk_id for e in rrf([dense("z", 1)], [bm25("a", 1)])] == ["z", "a"]
    assert [e.chunk_id for e in rrf([dense("z", 1), dense("a", 1)], [])] == ["a", "z"]


def test_a_chunk_that_a_leg_returns_twice_counts_once_with_its_better_rank() -> None:
    (fused,) = rrf([dense("a", 3), dense("a", 1)], [bm25("a", 2), bm25("a", 5)], k=60)
    assert (fused.dense_rank, fused.bm25_rank) == (1, 2)
    assert fused.fused_score == pytest.approx(1 / 61 + 1 / 62)


def test_a_worked_example_of_standardised_scores() -> None:
    # dense .9 .7 .5: mean .7, deviation .163; bm25 8 4: mean 6, deviation 2
    near = [dense("a", 1, 0.9), dense("b", 2, 0.7), dense("c", 3, 0.5)]
    fused = zscore(near, [bm25("c", 1, 8.0), bm25("d", 2, 4.0)])
    step = 0.2 / (0.08 / 3) ** 0.5
    assert {e.chunk_id: e.fused_score for e in fused} == {
        "a": pytest.approx(step - 1 - MISSING),
        "b": pytest.approx(0 - 1 - MISSING),
        "c": pytest.approx(-step + 1),
        "d": pytest.approx(-step - MISSING - 1),
    }
    assert [(e.chunk_id, e.rank) for e in fused] == [("c", 1), ("a", 2), ("b", 3), ("d", 4)]
    assert (fused[0].dense_rank, fused[0].bm25_rank, fused[0].bm25_score) == (3, 1, 8.0)


def test_how_much_better_counts_where_ranks_would_not_tell() -> None:
    near = [dense("a", 1, 0.9), dense("b", 2, 0.89), dense("c", 3, 0.1)]
    alike = [bm25("b", 1, 30.0), bm25("a", 2, 5.0), bm25("c", 3, 4.0)]
    assert [e.chunk_id for e in rrf(near, alike)] == ["a", "b", "c"]
    assert [e.chunk_id for e in zscore(near, alike)] == ["b", "a", "c"]


def test_scores_that_are_all_alike_tell_found_from_not_found_alone() -> None:
    fused = zscore([dense("a", 1), dense("b", 2)], [bm25("b", 1)])
    assert [(e.chunk_id, e.fused_score) for e in fused] == [("b", 0.0), ("a", -MISSING)]


def test_a_leg_that_found_nothing_says_nothing() -> None:
    fused = zscore([dense("a", 1, 0.9), dense("b", 2, 0.8)], [])
    assert {e.chunk_id: e.fused_score for e in fused} == {"a": pytest.approx(1.0), "b": pytest.approx(-1.0)}


@pytest.mark.parametrize("fuse", FUSIONS.values(), ids=FUSIONS)
def test_nothing_found_is_nothing_fused(fuse: Fusion) -> None:
    assert fuse([], []) == fuse([], None) == ()


@pytest.mark.parametrize("fuse", FUSIONS.values(), ids=FUSIONS)
@pytest.mark.parametrize("legs", [([bm25("a", 1)], []), ([], [dense("a", 1)])])
def test_a_missing_rank_is_refused(fuse: Fusion, legs: tuple[list[Evidence], list[Evidence]]) -> None:
    with pytest.raises(ValueError, match=r"a came from the .* leg without .*_rank"):
        fuse(*legs)


def test_a_missing_score_is_refused_where_scores_count() -> None:
    with pytest.raises(ValueError, match=r"a came from the dense leg without dense_score"):
        zscore([Evidence(chunk_id="a", dense_rank=1)], [])


ranked = st.lists(st.sampled_from("abcdefgh"), unique=True)
falling = st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8).map(lambda each: sorted(each, reverse=True))


@pytest.mark.parametrize("fuse", FUSIONS.values(), ids=FUSIONS)
@given(ranked, ranked, falling, falling)
def test_laws(
    fuse: Fusion, first: list[str], second: list[str], near: list[float], alike: list[float]
) -> None:
    left = [dense(name, rank, near[rank]) for rank, name in enumerate(first)]
    right = [bm25(name, rank, alike[rank]) for rank, name in enumerate(second)]
    left = [each.model_copy(update={"dense_rank": (each.dense_rank or 0) + 1}) for each in left]
    right = [each.model_copy(update={"bm25_rank": (each.bm25_rank or 0) + 1}) for each in right]
    fused = fuse(left, right)

    assert {e.chunk_id for e in fused} == {*first, *second}
    assert [e.rank for e in fused] == list(range(1, len(fused) + 1))
    scores = [e.fused_score or 0.0 for e in fused]
    assert scores == sorted(scores, reverse=True)
    assert [e.chunk_id for e in fuse(left[::-1], right[::-1])] == [e.chunk_id for e in fused]
    for before, after in pairwise(fused):  # never against both legs
        worse_dense = (before.dense_rank or 99) > (after.dense_rank or 99)
        worse_bm25 = (before.bm25_rank or 99) > (after.bm25_rank or 99)
        assert not (worse_dense and worse_bm25)
