"""Reciprocal rank fusion: worked examples and laws."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Evidence
from clew_services.core.fusion import fuse


def dense(name: str, rank: int, score: float = 0.5) -> Evidence:
    return Evidence(chunk_id=name, dense_rank=rank, dense_score=score)


def bm25(name: str, rank: int, score: float = 7.0) -> Evidence:
    return Evidence(chunk_id=name, bm25_rank=rank, bm25_score=score)


def test_a_worked_example_keeps_every_rank_and_score() -> None:
    fused = fuse([dense("a", 1, 0.9), dense("b", 2, 0.8)], [bm25("b", 1, 12.0), bm25("c", 2, 3.0)], k=60)

    assert [(e.chunk_id, e.rank) for e in fused] == [("b", 1), ("a", 2), ("c", 3)]
    assert [e.fused_score for e in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])
    assert [(e.dense_rank, e.dense_score, e.bm25_rank, e.bm25_score) for e in fused] == [
        (2, 0.8, 1, 12.0),
        (1, 0.9, None, None),
        (None, None, 2, 3.0),
    ]


def test_a_store_without_a_bm25_leg_leaves_the_dense_order() -> None:
    fused = fuse([dense("b", 1), dense("a", 2)], None, k=60)
    assert [(e.chunk_id, e.rank, e.fused_score) for e in fused] == [("b", 1, 1 / 61), ("a", 2, 1 / 62)]


def test_equal_scores_are_ordered_by_dense_rank_then_id() -> None:
    assert [e.chunk_id for e in fuse([dense("z", 1)], [bm25("a", 1)])] == ["z", "a"]
    assert [e.chunk_id for e in fuse([dense("z", 1), dense("a", 1)], [])] == ["a", "z"]


def test_a_chunk_that_a_leg_returns_twice_counts_once_with_its_better_rank() -> None:
    (fused,) = fuse([dense("a", 3), dense("a", 1)], [bm25("a", 2), bm25("a", 5)], k=60)
    assert (fused.dense_rank, fused.bm25_rank) == (1, 2)
    assert fused.fused_score == pytest.approx(1 / 61 + 1 / 62)


def test_nothing_found_is_nothing_fused() -> None:
    assert fuse([], []) == ()


@pytest.mark.parametrize("legs", [([bm25("a", 1)], []), ([], [dense("a", 1)])])
def test_a_missing_rank_is_refused(legs: tuple[list[Evidence], list[Evidence]]) -> None:
    with pytest.raises(ValueError, match=r"a came from the .* leg without"):
        fuse(*legs)


ranked = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(ranked, ranked)
def test_laws(first: list[str], second: list[str]) -> None:
    left = [dense(name, rank) for rank, name in enumerate(first, 1)]
    right = [bm25(name, rank) for rank, name in enumerate(second, 1)]
    fused = fuse(left, right)

    assert {e.chunk_id for e in fused} == {*first, *second}
    assert [e.rank for e in fused] == list(range(1, len(fused) + 1))
    scores = [e.fused_score or 0.0 for e in fused]
    assert scores == sorted(scores, reverse=True)
    assert fuse(left[::-1], right[::-1]) == fused  # only the ranks count
    for before, after in pairwise(fused):  # never against both legs
        worse_dense = (before.dense_rank or 99) > (after.dense_rank or 99)
        worse_bm25 = (before.bm25_rank or 99) > (after.bm25_rank or 99)
        assert not (worse_dense and worse_bm25)
