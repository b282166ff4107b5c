"""Whether a text holds an answer or a passage, however it is written: pure comparisons of normalised text."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from clew_services.core.lexical import terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ENOUGH = 0.6
"""The share of a passage that must stand in a text which holds it: chunks may cut a passage at its ends."""

SHINGLE = 3
"""Words in a row that are compared: single words recur anywhere, long runs break at every cut."""

_CITATION = re.compile(r"[\[【]\s*\d{1,4}(?:\s*[,，、;；]\s*\d{1,4})*\s*[\]】]")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_BETWEEN = re.compile(rf"(?<=[{_CJK}]) | (?=[{_CJK}])")


def normalise(text: str) -> str:
    """``text`` as SQuAD's scorer compares it: lower case, no punctuation, no English article, single blanks.

    Compatibility forms are folded (NFKC), citation marks ``[n]`` go, and so do blanks beside a Chinese character.
    """
    folded = _CITATION.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    plain = "".join(c if c.isalnum() or unicodedata.category(c)[0] == "M" else " " for c in folded)
    return _BETWEEN.sub("", " ".join(_ARTICLE.sub(" ", plain).split()))


def holds_answer(text: str, answers: Iterable[str]) -> bool:
    """Whether ``text`` holds one of ``answers``, normalised, as whole words (Chinese ones anywhere)."""
    inside = normalise(text)
    return any(_holds(inside, normalise(answer)) for answer in answers)


def _holds(text: str, answer: str) -> bool:
    if not answer:
        return False
    for found in re.finditer(re.escape(answer), text):
        before = text[found.start() - 1 : found.start()]
        after = text[found.end() : found.end() + 1]
        if not _joined(before, answer[0]) and not _joined(answer[-1], after):
            return True
    return False


def _joined(left: str, right: str) -> bool:
    """Whether two characters beside each other belong to one word; there may be none on a side."""
    return bool(left and right) and _is_word(left) and _is_word(right)


def _is_word(character: str) -> bool:
    """Whether it is a letter or digit of a script that separates its words by blanks."""
    return character.isalnum() and not re.match(f"[{_CJK}]", character)


def share_of(passage: str, text: str) -> float:
    """The share of the runs of three words (for Chinese: of three character pairs) of ``passage`` that ``text`` has."""
    wanted = _shingles(terms(passage))
    return len(wanted & _shingles(terms(text), at_most=len(terms(passage)))) / len(wanted) if wanted else 0.0


def holds_passage(text: str, passage: str) -> bool:
    """Whether at least ENOUGH of ``passage`` stands in ``text``."""
    return share_of(passage, text) >= ENOUGH


def _shingles(words: Sequence[str], at_most: int = SHINGLE) -> set[tuple[str, ...]]:
    size = min(SHINGLE, at_most, len(words))
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if size else set()
