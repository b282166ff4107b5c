"""The recursive character splitter as SuperMew uses it, beyond its vectors; expectations are those of the library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_services.core.chunking_strict import page_number, pieces, split_document


@pytest.mark.parametrize(
    ("text", "size", "overlap", "expected"),
    [
        ("aa bb cc dd", 8, 3, ["aa bb cc", "cc dd"]),
        ("aa bb cc", 5, 3, ["aa bb", "cc"]),  # the space of its own counts: " bb" and " cc" do not fit
        ("好。坏！大，小", 3, 1, ["好", "。坏", "！大", "，小"]),
        ("一二三。四五六。", 4, 0, ["一二三", "。四五六", "。"]),
        ("abcdef", 3, 1, ["abc", "cde", "ef"]),
        ("a\n\n\n\nb", 3, 0, ["a", "b"]),
        ("abc", 3, 0, ["abc"]),
        (" \n ", 3, 0, []),
        ("", 3, 0, []),
    ],
)
def test_pieces(text: str, size: int, overlap: int, expected: list[str]) -> None:
    assert pieces(text, size, overlap) == expected


@given(st.text(alphabet="ab。！\n，、 ", max_size=200), st.integers(1, 30), st.data())
def test_no_piece_is_too_long_or_blank_and_nothing_is_lost(text: str, size: int, data: st.DataObject) -> None:
    found = pieces(text, size, data.draw(st.integers(0, size - 1)))
    assert all(0 < len(piece) <= size and piece == piece.strip() for piece in found)
    assert set("".join(found)) | set(" \n") >= set(text)


@pytest.mark.parametrize(
    ("written", "number"),
    [(0, 0), (7, 7), ("7", 7), (2.9, 2), ("x", 0), ("", 0), (None, 0), (float("inf"), 0), ([], 0)],
)
def test_page_numbers(written: object, number: int) -> None:
    assert page_number(written) == number


def test_numbers_begin_anew_on_each_page_and_the_index_does_not() -> None:
    made = split_document("f", [(0, "a"), (1, " "), (2, "b")])
    assert [(each.chunk_id, each.parent_id, each.index, each.text) for each in made] == [
        ("f::p0::l1::0", "", 0, "a"),
        ("f::p0::l2::0", "f::p0::l1::0", 1, "a"),
        ("f::p0::l3::0", "f::p0::l2::0", 2, "a"),
        ("f::p2::l1::0", "", 3, "b"),
        ("f::p2::l2::0", "f::p2::l1::0", 4, "b"),
        ("f::p2::l3::0", "f::p2::l2::0", 5, "b"),
    ]
