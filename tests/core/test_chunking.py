"""Laws of the splitter, on generated texts, and its choices, on texts that show them."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from clew_schema.limits import CHUNK_OVERLAPS, CHUNK_SIZES
from clew_services.core import chunking
from clew_services.core.chunking import Chunk, Chunking, Page, Source, split
from clew_services.settings import Settings

texts = st.text(alphabet=st.sampled_from("ab。！.? \n\f，、;#”é中\U0001f9f6\u3000"), max_size=300)
SOURCE = Source(document_id="urn:document:d", version="v", filename="f", file_type="text/plain")


@st.composite
def options(draw: st.DrawFn) -> Chunking:
    third, second, first = sorted(draw(st.tuples(*[st.integers(1, 60)] * 3)))
    overlaps = [draw(st.integers(0, size - 1)) for size in (first, second, third)]
    return Chunking(sizes=(first, second, third), overlaps=(overlaps[0], overlaps[1], overlaps[2]))


def leaves(text: str, size: int, overlap: int = 0) -> list[str]:
    """The leaves of a text whose parents are large enough to hold it whole."""
    chosen = Chunking(sizes=(1000, 1000, size), overlaps=(0, 0, overlap))
    return [text[chunk.start : chunk.end] for chunk in split(text, chosen)[2]]


def black(text: str) -> set[int]:
    return {at for at, char in enumerate(text) if not char.isspace()}


@given(texts, options())
@example(";;、、 ;;", Chunking(sizes=(2, 2, 2), overlaps=(1, 1, 1)))
@example("a. b. c. d. e.", Chunking(sizes=(60, 20, 6), overlaps=(5, 5, 5)))
def test_laws_of_each_level(text: str, chosen: Chunking) -> None:
    levels = split(text, chosen)

    for number, (chunks, size, overlap) in enumerate(
        zip(levels, chosen.sizes, chosen.overlaps, strict=True), 1
    ):
        assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
        assert {chunk.level for chunk in chunks} <= {number}
        for chunk in chunks:
            said = text[chunk.start : chunk.end]
            assert 0 < len(said) <= size
            assert said == said.strip()
        covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
        assert black(text) <= covered
        for before, after in pairwise(chunks):
            assert before.start < after.start
            assert before.end < after.end
            assert before.end - after.start <= overlap
    assert split(text, chosen) == levels


@given(texts, options())
def test_each_chunk_lies_in_its_parent_and_is_counted_there(text: str, chosen: Chunking) -> None:
    first, second, third = split(text, chosen)

    for parents, children in ((first, second), (second, third)):
        for child in children:
            parent = parents[child.parent]
            assert parent.start <= child.start < child.end <= parent.end
        counted = Counter(child.parent for child in children)
        assert [parent.children for parent in parents] == [counted[parent.ordinal] for parent in parents]
        assert all(parent.children for parent in parents)
    assert {chunk.parent for chunk in first} <= {-1}
    assert {chunk.children for chunk in third} <= {0}


@given(texts, options())
def test_ids_are_unique_and_texts_exact(text: str, chosen: Chunking) -> None:
    made = [chunking.evidence(chunk, text, SOURCE) for level in split(text, chosen) for chunk in level]

    assert len({each.chunk_id for each in made}) == len(made)
    for each in made:
        assert each.text == text[each.start : each.end]


@given(st.lists(st.text(alphabet="ab. \n", max_size=40), min_size=1, max_size=8), options())
def test_pages_are_those_of_the_first_and_last_character(parts: list[str], chosen: Chunking) -> None:
    pages, start = [], 0
    for number, part in enumerate(parts, 1):
        pages.append(Page(number, start, start + len(part)))
        start += len(part) + 1
    text = chunking.PAGE_BREAK.join(parts)

    for level in split(text, chosen, pages):
        for chunk in level:
            assert chunk.page == 1 + text[: chunk.start].count("\f")
            assert chunk.page_end == 1 + text[: chunk.end].count("\f")


def test_a_short_text_is_one_chunk_on_each_level() -> None:
    assert split(" One. ", Chunking()) == tuple(
        (Chunk(level=level, ordinal=0, start=1, end=5, parent=parent, children=children, page=0, page_end=0),)
        for level, parent, children in ((1, -1, 1), (2, 0, 1), (3, 0, 0))
    )
    assert split("  \n \f ", Chunking()) == split("", Chunking()) == ((), (), ())


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("One two. Three four.", 12, ["One two.", "Three four."]),
        ("他来了。她走了。", 4, ["他来了。", "她走了。"]),
        ("他说：“好。”她走了。", 7, ["他说：“好。”", "她走了。"]),
        ("First para.\n\nSecond para, longer.", 22, ["First para.", "Second para, longer."]),
        (
            "Some words here. More.\n# Head\n\nIts text here.",
            28,
            ["Some words here. More.", "# Head\n\nIts text here."],
        ),
        ("Pi is 3.14159 about", 14, ["Pi is 3.14159", "about"]),
        ("a long time, or so it is", 15, ["a long time,", "or so it is"]),
        (
            "They end. 2. Terms of it.\n1.12. More of it.",
            18,
            ["They end.", "2. Terms of it.", "1.12. More of it."],
        ),
        ("Aa b. Cc dd ee ff gg hh.", 20, ["Aa b.", "Cc dd ee ff gg hh."]),  # sentences before full lengths
        ("One...... Two", 9, ["One......", "Two"]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("abcdefgh", 6, ["abcdef", "gh"]),
        ("abcdefg", 6, ["abcd", "efg"]),  # a last one of less than a fifth is evened out
        ("Aa bb. Cc dd. Ee ff. Gg.", 20, ["Aa bb. Cc dd.", "Ee ff. Gg."]),  # at a sentence
    ],
)
def test_where_it_cuts(text: str, size: int, expected: list[str]) -> None:
    assert leaves(text, size) == expected


@pytest.mark.parametrize(
    ("text", "size", "overlap", "expected"),
    [
        ("Aa bb. Cc dd. Ee ff. Gg hh.", 22, 8, ["Aa bb. Cc dd. Ee ff.", "Ee ff. Gg hh."]),
        ("Aa bb. Cc dd.\n\nEe ff. Gg hh.", 18, 8, ["Aa bb. Cc dd.", "Ee ff. Gg hh."]),  # across no paragraph
        ("Aa bb cc. Dd ee ff.", 15, 5, ["Aa bb cc.", "Dd ee ff."]),  # no whole sentence fits
        ("ab cd ef gh ij kl mn", 14, 4, ["ab cd ef gh ij", "ij kl mn"]),  # a part, where one was cut
        ("abcdefghij", 6, 2, ["abcdef", "efghij"]),
    ],
)
def test_what_is_repeated(text: str, size: int, overlap: int, expected: list[str]) -> None:
    assert leaves(text, size, overlap) == expected


PARAGRAPH = "".join(
    f"Sentence {n} says something about the penguins of the south. " for n in range(9)
).strip()
PROSE = "\n\n".join([PARAGRAPH] * 60)


def test_leaves_of_prose_are_full_and_hardly_repeat_anything() -> None:
    _, second, third = split(PROSE, Chunking())

    assert (CHUNK_SIZES, CHUNK_OVERLAPS) == ((2400, 1600, 800), (400, 200, 100))
    lengths = [chunk.end - chunk.start for chunk in third]
    assert min(lengths[:-1]) >= 800 * 3 // 5
    assert min(lengths) >= 800 // 5
    assert sum(lengths) <= 1.1 * len(PROSE)
    assert {chunk.children for chunk in second[:-1]} <= {2, 3}  # any of them can be merged


def test_level_one_can_be_merged_where_it_has_room_for_two_of_level_two() -> None:
    first, _, _ = split(PROSE, Chunking(sizes=(3200, 1600, 800)))
    assert all(chunk.children == 2 for chunk in first[:-1])


@pytest.mark.parametrize(
    ("text", "second", "first", "expected"),
    [
        ("aaaa. bbbb. cccc. dddd. eeee.", 17, 17, ([3, 2], [1, 1])),
        (
            "aaaa. bbbb. cccc. dddd.",
            17,
            23,
            ([2, 2], [2]),
        ),  # none is left alone: two and two, not three and one
        ("aaaa. bbbb. cccc.", 11, 17, ([2, 1], [2])),  # two have none to spare
        ("aaaa. bbbb. cccc.", 5, 17, ([1, 1, 1], [3])),
    ],
)
def test_parents_are_consecutive_children_up_to_their_size(
    text: str, second: int, first: int, expected: tuple[list[int], list[int]]
) -> None:
    above, middle, _ = split(text, Chunking(sizes=(first, second, 5), overlaps=(0, 0, 0)))
    assert ([chunk.children for chunk in middle], [chunk.children for chunk in above]) == expected


@pytest.mark.parametrize("text", ["x" * 10**6, "." * 10**6, " " * 10**6 + "x", "a\n \n" * 250_000])
def test_a_long_document_of_any_shape_is_cut_to_its_end(text: str) -> None:
    """Neither recursion nor time grows with it: what took the square of its length would not end here."""
    third = split(text, Chunking())[2]
    assert (third[0].start, third[-1].end) == (len(text) - len(text.lstrip()), len(text.rstrip()))
    assert all(after.start <= before.end + 3 for before, after in pairwise(third))


@pytest.mark.parametrize(
    ("sizes", "overlaps", "said"),
    [
        ((0, 0, 0), (0, 0, 0), "level 1 need 0 <= overlap < size"),
        ((10, 10, 10), (0, 10, 0), "level 2 need 0 <= overlap < size, got overlap 10, size 10"),
        ((10, 10, 10), (0, 0, -1), "level 3 need"),
        ((10, 20, 5), (0, 0, 0), "must not grow from level 1 to level 3, got 10, 20, 5"),
    ],
)
def test_impossible_options_are_refused(
    sizes: tuple[int, int, int], overlaps: tuple[int, int, int], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Chunking(sizes=sizes, overlaps=overlaps)


@pytest.mark.parametrize(
    ("variable", "written", "said"),
    [
        (
            "CLEW_CHUNK_SIZES",
            "[10, 20, 5]",
            "CLEW_CHUNK_SIZES, CLEW_CHUNK_OVERLAPS: chunk sizes must not grow",
        ),
        ("CLEW_CHUNK_SIZES", "[300, 200, 150]", "got overlap 400, size 300"),  # with the default overlaps
        (
            "CLEW_CHUNK_OVERLAPS",
            "[0, 0, 800]",
            "CLEW_CHUNK_OVERLAPS: chunks of level 3 need 0 <= overlap < size",
        ),
        ("CLEW_CHUNK_SIZES", "[300, 200]", "chunk_sizes\n.*a JSON list of three whole numbers"),
        ("CLEW_CHUNK_SIZES", '[300, 200, "x"]', "chunk_sizes\n.*a JSON list of three whole numbers"),
        ("CLEW_CHUNK_OVERLAPS", "400,200,100", "chunk_overlaps\n.*a JSON list of three whole numbers"),
    ],
)
def test_settings_refuse_them_at_the_start(variable: str, written: str, said: str) -> None:
    field = variable.removeprefix("CLEW_").lower()
    with pytest.raises(ValidationError, match=said):
        Settings.model_validate({field: written})
    assert Settings.model_validate({"chunk_sizes": "[900, 600, 500]"}).chunk_sizes == (900, 600, 500)


def test_ids_depend_on_what_they_name_and_on_nothing_else() -> None:
    text = "Same text. Same text."
    levels = split(text, Chunking(sizes=(11, 11, 11), overlaps=(0, 0, 0)))
    first, second = levels[2]
    one = chunking.evidence(first, text, SOURCE, "urn:chunk:above")

    assert one == chunking.evidence(first, text, SOURCE, "urn:chunk:above")
    assert (one.level, one.parent_id, one.ordinal) == (3, "urn:chunk:above", 0)
    assert one.chunk_id.startswith("urn:chunk:")
    other = chunking.evidence(second, text, SOURCE)
    assert one.content_hash == other.content_hash  # equal text ...
    assert one.chunk_id != other.chunk_id  # ... at another place
    above = chunking.evidence(levels[1][0], text, SOURCE)
    assert above.content_hash == one.content_hash  # ... and on another level
    assert one.chunk_id != above.chunk_id
    for changed in (
        Source(document_id="urn:document:d", version="w", filename="f", file_type="text/plain"),
        Source(document_id="urn:document:e", version="v", filename="f", file_type="text/plain"),
    ):
        assert one.chunk_id != chunking.evidence(first, text, changed).chunk_id


def test_the_version_changes_with_text_options_and_embedder() -> None:
    versions = [
        chunking.version_of("a", Chunking(), "e"),
        chunking.version_of("b", Chunking(), "e"),
        chunking.version_of("a", Chunking(sizes=(2500, 1600, 800)), "e"),
        chunking.version_of("a", Chunking(sizes=(2400, 1600, 700)), "e"),
        chunking.version_of("a", Chunking(overlaps=(400, 100, 100)), "e"),
        chunking.version_of("a", Chunking(), "f"),
    ]
    assert len(set(versions)) == len(versions)
    assert chunking.version_of("a", Chunking(), "e") == versions[0]
    assert chunking.document_id("c", "n") != chunking.document_id("cn", "")
