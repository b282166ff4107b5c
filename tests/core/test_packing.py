"""What fits into a budget, and what its numbers mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Evidence
from clew_services.core.packing import pack

FIVE = "One is here. Two is here. Three is here. Four is here. Five is here."


def piece(text: str, *, start: int = 100, page: int = 0, page_end: int = 0) -> Evidence:
    return Evidence(
        chunk_id=text[:8], start=start, end=start + len(text), text=text, page=page, page_end=page_end
    )


def test_what_fits_is_unchanged() -> None:
    given_ = (piece("abc"), piece("de"))
    packed = pack(given_, 5)
    assert packed.evidence == given_
    assert (packed.places, packed.omitted, packed.truncated) == ((1, 2), 0, 0)


def test_the_first_that_does_not_fit_is_cut_after_a_sentence() -> None:
    packed = pack((piece("abc"), piece(FIVE)), 3 + 30)
    cut = packed.evidence[1]
    assert cut.text == "One is here. Two is here."
    assert (cut.start, cut.end, cut.chunk_id) == (100, 125, FIVE[:8])
    assert (packed.omitted, packed.truncated) == (0, 1)


def test_less_than_a_third_is_left_out_and_a_later_small_one_still_fits() -> None:
    packed = pack((piece("abc"), piece(FIVE), piece("x" * 40), piece("de.")), 3 + 20)
    assert [item.text for item in packed.evidence] == ["abc", "de."]
    assert (packed.places, packed.omitted, packed.truncated) == ((1, 4), 2, 0)


def test_only_one_piece_is_cut() -> None:
    packed = pack((piece(FIVE), piece(FIVE), piece("One. Two. Three.")), len(FIVE) + 60)
    assert [len(item.text) for item in packed.evidence] == [68, 54]
    assert (packed.omitted, packed.truncated) == (1, 1)
    assert pack((piece(FIVE), piece("x" * 50), piece("One. Two.")), 73).places == (1,)


@pytest.mark.parametrize(
    ("text", "left"),
    [("word " * 10, "word word word word"), ("x" * 50, "x" * 22), (FIVE, "One is here.")],
)
def test_the_first_piece_is_never_left_out(text: str, left: str) -> None:
    packed = pack((piece(text),), 22)
    assert [item.text for item in packed.evidence] == [left]
    assert (packed.omitted, packed.truncated) == (0, 1)


def test_a_cut_piece_ends_on_the_page_of_its_last_sentence() -> None:
    (cut,) = pack((piece("One.\fTwo is here.\fThree is on the third.", page=4, page_end=6),), 20).evidence
    assert (cut.text, cut.page, cut.page_end) == ("One.\fTwo is here.", 4, 5)


def test_nothing_in_nothing_out() -> None:
    assert pack((), 10).evidence == ()
    with pytest.raises(ValueError, match="a budget of 0 characters"):
        pack((piece("a"),), 0)


@given(st.lists(st.text(alphabet="ab .。", min_size=1, max_size=30), max_size=6), st.integers(1, 80))
def test_laws(texts: list[str], budget: int) -> None:
    evidence = tuple(piece(text) for text in texts)
    packed = pack(evidence, budget)
    assert packed == pack(evidence, budget)
    assert sum(len(item.text) for item in packed.evidence) <= budget
    assert len(packed.evidence) + packed.omitted == len(evidence)
    assert list(packed.places) == sorted(set(packed.places))
    for place, item in zip(packed.places, packed.evidence, strict=True):
        whole = evidence[place - 1]
        assert whole.text.startswith(item.text)
        assert item.end - item.start == len(item.text) > 0
    assert packed.truncated == sum(
        item != evidence[place - 1] for place, item in zip(packed.places, packed.evidence, strict=True)
    )
    assert bool(packed.evidence) == bool(evidence)
