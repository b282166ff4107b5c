"""What we call an IRI or a language tag, a strict store calls one too."""

from collections.abc import Callable

import pyoxigraph
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew_translators.iris import is_blank_label, is_iri, is_language_tag
from tests.translators.strategies import BLANKS, IRIS, LANGUAGES

MARKS = st.text(st.sampled_from("aé1/:?#[]@%20 <\\\ue000\ufff0\U000e0001\x7f|'"), max_size=8)


def accepts(make: Callable[[str], object], text: str) -> bool:
    try:
        make(text)
    except ValueError:
        return False
    return True


@settings(max_examples=400)
@given(
    text=st.builds(
        str.__add__, st.sampled_from(["", "urn:", "x://", "http://a", "http://[::1]", "http://["]), MARKS
    )
)
@example("http://[::::]/")
@example("http://a:80x/")
@example("http://u@h@x/")
@example("urn:%zz")
@example("urn:?\ue000")
@example("urn:\ue000")
@example("urn:\U000e1000")
@example("urn:a\n")
def test_iris_are_what_the_store_takes(text: str) -> None:
    assert is_iri(text) == accepts(pyoxigraph.NamedNode, text)


@settings(max_examples=400)
@given(tag=st.from_regex(r"[a-zA-Z0-9x]{1,9}(-[a-zA-Z0-9x]{1,9}){0,3}", fullmatch=True))
@example("en")
@example("zh-Hant-TW")
@example("de-1996")
@example("en-a-bbb-x-a")
@example("x-clew")
def test_no_language_tag_is_one_that_the_store_refuses(tag: str) -> None:
    if is_language_tag(tag):
        assert accepts(lambda text: pyoxigraph.Literal("x", language=text), tag)


@pytest.mark.parametrize(
    "tag", ["en", "EN", "zh-Hant-TW", "de-1996", "sl-rozaj-biske", "en-a-bbb-x-a", "x-clew"]
)
def test_the_tags_of_the_standard_are_tags(tag: str) -> None:
    assert is_language_tag(tag)


@pytest.mark.parametrize("tag", ["", "a", "en-", "-en", "en_US", "abcdefghi", "en-us-x", "é", "en\n"])
def test_other_texts_are_no_tags(tag: str) -> None:
    assert not is_language_tag(tag)


@given(iri=IRIS, label=BLANKS, tag=LANGUAGES)
def test_what_the_other_tests_are_made_of(iri: str, label: object, tag: str) -> None:
    assert is_iri(iri)
    assert is_language_tag(tag)
    assert is_blank_label(label.id)  # type: ignore[attr-defined]


@pytest.mark.parametrize("label", ["", "a.", ".a", "-a", "a b", "é", "a:b", "a\n"])
def test_other_texts_are_no_labels(label: str) -> None:
    assert not is_blank_label(label)
