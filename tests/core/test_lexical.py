"""Words and BM25, against the formula worked by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_services.core.lexical import Bm25Index, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World 3.11!", ["hello", "world", "3", "11"]),
        ("snake_case don't", ["snake", "case", "don", "t"]),
        ("线团", ["线团"]),
        ("线团引路", ["线团", "团引", "引路"]),
        ("我", ["我"]),
        ("用Pulsar做消息队列", ["用", "pulsar", "做消", "消息", "息队", "队列"]),
        ("\uff21\uff22\uff23\u3000\uff11\uff12", ["abc", "12"]),
        ("カタカナ 한국어", ["カタ", "タカ", "カナ", "한국", "국어"]),
        ("Ärger café", ["ärger", "café"]),
        ("", []),
        ("?!…", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_score_is_what_the_formula_says() -> None:
    index = Bm25Index()
    index.add("a", "thread thread maze")
    index.add("b", "maze")
    # N = 2 texts of 3 and 1 terms, average 2; "thread" is in one: idf = ln(1 + 1.5/1.5) = ln 2.
    expected = math.log(2) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2))
    ((key, score),) = index.search("Thread?", 5)
    assert key == "a"
    assert score == pytest.approx(expected)


def test_a_shorter_text_is_better_and_ties_go_by_key() -> None:
    index = Bm25Index()
    for key, text in {"long": "maze wall wall wall", "z": "maze", "b": "maze"}.items():
        index.add(key, text)
    found = index.search("maze", 5)
    assert [key for key, _ in found] == ["b", "z", "long"]
    assert index.search("maze", 2) == found[:2]
    assert index.search("maze", 0) == []


def test_stop_words_and_unknown_words_find_nothing() -> None:
    index = Bm25Index()
    assert index.search("maze", 5) == []
    index.add("a", "the maze of the king")
    assert index.search("the of what", 5) == []
    assert index.search("unknown", 5) == []


def test_a_word_that_is_asked_twice_counts_once() -> None:
    index = Bm25Index()
    index.add("a", "maze")
    assert index.search("maze maze", 5) == index.search("maze", 5)


words = st.sampled_from(["maze", "thread", "king", "bull", "线团", "路"])
texts = st.lists(words, max_size=6).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from("abcd"), texts | st.none()), max_size=20), texts)
def test_any_sequence_of_changes_equals_indexing_what_is_left(
    changes: list[tuple[str, str | None]], question: str
) -> None:
    changed, left = Bm25Index(), dict[str, str]()
    for key, text in changes:
        if text is None:
            changed.remove(key)
            left.pop(key, None)
        else:
            changed.add(key, text)
            left[key] = text
    fresh = Bm25Index()
    for key, text in left.items():
        fresh.add(key, text)
    assert len(changed) == len(left)
    found = changed.search(question, 10)
    assert [key for key, _ in found] == [key for key, _ in fresh.search(question, 10)]
    assert all(score > 0 for _, score in found)
