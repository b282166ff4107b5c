"""Laws of the splitter, on generated texts, and its choices, on texts that show them."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew_services.core import chunking
from clew_services.core.chunking import Chunking, Page, split

texts = st.text(alphabet=st.sampled_from("ab。！.? \n\f，、;”é中\U0001f9f6\u3000"), max_size=300)


@st.composite
def options(draw: st.DrawFn) -> Chunking:
    size = draw(st.integers(1, 60))
    return Chunking(size=size, overlap=draw(st.integers(0, size - 1)))


@given(texts, options())
@example(";;、、 ;;", Chunking(size=2, overlap=1))
@example(";;;; 、;", Chunking(size=2, overlap=1))
def test_laws(text: str, chosen: Chunking) -> None:
    chunks = split(text, chosen)

    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert 0 < len(chunk.text) <= chosen.size
        assert chunk.text == chunk.text.strip()
    covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
    assert {at for at, char in enumerate(text) if not char.isspace()} <= covered
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        assert before.end - after.start <= chosen.overlap
    assert split(text, chosen) == chunks


@given(st.lists(st.text(alphabet="ab. \n", max_size=40), min_size=1, max_size=8), options())
def test_pages_are_those_of_the_first_and_last_character(parts: list[str], chosen: Chunking) -> None:
    pages, start = [], 0
    for number, part in enumerate(parts, 1):
        pages.append(Page(number, start, start + len(part)))
        start += len(part) + 1
    text = chunking.PAGE_BREAK.join(parts)

    for chunk in split(text, chosen, pages):
        assert chunk.page == 1 + text[: chunk.start].count("\f")
        assert chunk.page_end == 1 + text[: chunk.end].count("\f")


def test_a_text_without_pages_has_page_zero() -> None:
    (chunk,) = split("One.", Chunking())
    assert (chunk.page, chunk.page_end) == (0, 0)


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("One two. Three four.", 12, ["One two.", "Three four."]),
        ("他来了。她走了。", 4, ["他来了。", "她走了。"]),
        ("他说：“好。”她走了。", 7, ["他说：“好。”", "她走了。"]),
        ("First para.\n\nSecond para, longer.", 22, ["First para.", "Second para, longer."]),
        ("Pi is 3.14159 about", 14, ["Pi is 3.14159", "about"]),
        (
            "They end. 2. Terms of it.\n1.12. More of it.",
            18,
            ["They end.", "2. Terms of it.", "1.12. More of it."],
        ),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("  \n \f ", 3, []),
        ("", 3, []),
    ],
)
def test_where_it_cuts(text: str, size: int, expected: list[str]) -> None:
    assert [chunk.text for chunk in split(text, Chunking(size=size, overlap=0))] == expected


def test_the_overlap_is_whole_sentences() -> None:
    chunks = split("Aa bb. Cc dd. Ee ff. Gg hh.", Chunking(size=21, overlap=8))
    assert [chunk.text for chunk in chunks] == ["Aa bb. Cc dd. Ee ff.", "Ee ff. Gg hh."]


def test_a_long_document_without_any_boundary_is_cut_without_recursion() -> None:
    assert len(split("x" * 100_000, Chunking(size=10, overlap=0))) == 10_000


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_impossible_options_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="0 <= overlap < size"):
        Chunking(size=size, overlap=overlap)


def test_ids_depend_on_what_they_name_and_on_nothing_else() -> None:
    first, second = split("Same text. Same text.", Chunking(size=11, overlap=0))
    where = {"document": "urn:document:d", "version": "v", "filename": "f", "file_type": "text/plain"}
    one = chunking.leaf(first, **where)

    assert one == chunking.leaf(first, **where)
    assert one.chunk_id.startswith("urn:chunk:")
    assert one.content_hash == chunking.leaf(second, **where).content_hash  # equal text ...
    assert one.chunk_id != chunking.leaf(second, **where).chunk_id  # ... at another place
    assert one.chunk_id != chunking.leaf(first, **{**where, "version": "w"}).chunk_id
    assert one.chunk_id != chunking.leaf(first, **{**where, "document": "urn:document:e"}).chunk_id


def test_the_version_changes_with_text_options_and_embedder() -> None:
    options = Chunking()
    versions = {
        chunking.version_of("a", options, "e"),
        chunking.version_of("b", options, "e"),
        chunking.version_of("a", Chunking(size=700), "e"),
        chunking.version_of("a", options, "f"),
    }
    assert len(versions) == 4
    assert chunking.version_of("a", Chunking(), "e") in versions
    assert chunking.document_id("c", "n") != chunking.document_id("cn", "")
