"""Sentences of real-looking text, and the laws of their offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_services.core.sentences import language, sentences, words


def cut(text: str) -> list[str]:
    return [text[s.start : s.end] for s in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He met Dr. Smith. They left.", ["He met Dr. Smith.", "They left."]),
        ("By J. R. Tolkien, e.g. this. Yes.", ["By J. R. Tolkien, e.g. this.", "Yes."]),
        ("It cost 3.14 (see No. 5). Then it rose.", ["It cost 3.14 (see No. 5).", "Then it rose."]),
        ("The answer is no. They left.", ["The answer is no.", "They left."]),
        ('"Really?" she said. “Yes.” He left.', ['"Really?" she said.', "“Yes.”", "He left."]),
        ("It ended in 1868. The war was over.", ["It ended in 1868.", "The war was over."]),
        ("1. Title here. Subject to\n   the terms.", ["Title here.", "Subject to\n   the terms."]),
        ('1.1. "Contributor"\n    means you.\n1.2. It ends.', ['"Contributor"\n    means you.', "It ends."]),
        ("# Heading\nText one.\n\n## More\n\nText two.", ["Text one.", "Text two."]),
        ("Rules:\n- first thing\n- second thing", ["Rules:", "first thing", "second thing"]),
        ("A paragraph without an end\n\nAnother one", ["A paragraph without an end", "Another one"]),
        ("across a\fpage.", ["across a\fpage."]),
        ("第一句。第二句！“真的？”他说。", ["第一句。", "第二句！", "“真的？”", "他说。"]),
        ("他生于1868年，卒于1923.5。End of it.", ["他生于1868年，卒于1923.5。", "End of it."]),
        ("...\n\n---\n\n", []),
        ("", []),
    ],
)
def test_where_sentences_begin_and_end(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text(alphabet=st.sampled_from("aB1 .?!。“”\n\f#-()中é"), max_size=120))
def test_laws(text: str) -> None:
    last = 0
    for sentence in sentences(text):
        inner = text[sentence.start : sentence.end]
        assert last <= sentence.start < sentence.end <= len(text)
        assert inner == inner.strip()
        assert any(char.isalnum() for char in inner)
        last = sentence.end


@given(st.text(alphabet=st.sampled_from("aB .?!。“”\n\f中é"), max_size=120))
def test_no_letter_is_lost(text: str) -> None:
    kept = {at for s in sentences(text) for at in range(s.start, s.end)}
    assert {at for at, char in enumerate(text) if char.isalnum()} <= kept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The licenses of the companies", ("licens", "company")),
        ("granted, granting, grants: Grant", ("grant",) * 4),
        ("专利许可", ("专利", "利许", "许可")),
        ("水 is H2O", ("水", "h2o")),
        ("the of and 的", ()),
    ],
)
def test_words(text: str, expected: tuple[str, ...]) -> None:
    assert words(text) == expected


def test_language() -> None:
    assert language("Who wrote it?") == "en"
    assert language("谁写了 Hamlet?") == "zh"
