"""Sentences of English and Chinese text with exact offsets, and the words that carry meaning in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew_services.core.lexical import terms
from clew_services.core.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text[start:end]`` of the text it came from, without blanks and list marks around it."""

    start: int
    end: int


_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAS_CJK = re.compile(f"[{_CJK}]")
_WORD = re.compile(r"[^\W_]")
_ITEM = r"(?:[-*+•>]|\(?(?:[0-9]{1,3}(?:\.[0-9]{1,3})*|[a-z]|[ivx]{1,4})[.)])[ \t]"
_BLOCK = re.compile(rf"\n[ \t\r\f]*\n|\n(?=[ \t]*(?:{_ITEM}|#{{1,6}}[ \t]))")
_HEADING = re.compile(r"\s*#{1,6}[ \t][^\n]*")
_MARKS = re.compile(rf"\s*(?:{_ITEM}\s*)*")
_END = re.compile(r"[。！？…]+[”’」』）]*|[.!?]+[\"'”’)\]]*(?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|mr|mrs|ms|dr|st|prof|gen|col|lt|sgt|rev|hon|jr|sr|vs|v|cf|ca)$",
    re.IGNORECASE,
)
_BEFORE_NUMBER = re.compile(
    r"\b(?:no|vol|fig|eq|sec|art|pp?|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$", re.IGNORECASE
)


def language(text: str) -> Language:
    """``zh`` for text with any Chinese character, else ``en``: enough to choose thresholds and joints."""
    return "zh" if _HAS_CJK.search(text) else "en"


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of ``text`` in order, without headings, list marks and what holds no letter or digit.

    A single line break is a space, as in hard-wrapped text; a blank line and a list item end a sentence.
    A full stop after an initial, a title or a number's name, or before a small letter, ends none.
    """
    found: list[Sentence] = []
    start = 0
    for end in [*(block.start() for block in _BLOCK.finditer(text)), len(text)]:
        heading = _HEADING.match(text, start, end)
        found += _in_block(text, heading.end() if heading else start, end)
        start = end
    return tuple(found)


def _in_block(text: str, start: int, end: int) -> Iterator[Sentence]:
    start = _after_marks(text, start, end)
    for stop in _END.finditer(text, start, end):
        if stop.start() >= start and _ends(text, stop, end):
            yield from _trimmed(text, start, stop.end())
            start = _after_marks(text, stop.end(), end)
    yield from _trimmed(text, start, end)


def _after_marks(text: str, start: int, end: int) -> int:
    marks = _MARKS.match(text, start, end)
    return marks.end() if marks else start


def _ends(text: str, stop: re.Match[str], end: int) -> bool:
    """Whether the full stop ``stop`` ends a sentence of the block that ends at ``end``."""
    rest = text[stop.end() : min(stop.end() + 80, end)].lstrip()
    if not rest or stop[0][0] in "。！？":
        return True
    if rest[0].islower():
        return False
    before = text[max(0, stop.start() - 12) : stop.start()]
    is_number_name = rest[0].isdigit() and _BEFORE_NUMBER.search(before)
    return not (stop[0] == "." and (_ABBREVIATION.search(before) or is_number_name))


def _trimmed(text: str, start: int, end: int) -> Iterator[Sentence]:
    inner = text[start:end]
    if _WORD.search(inner):
        left = start + len(inner) - len(inner.lstrip())
        yield Sentence(left, left + len(inner.strip()))


def words(text: str) -> tuple[str, ...]:
    """The terms of ``text`` (see ``core.lexical``) in order, without the commonest, English endings cut.

    The cut is rough and the same everywhere: "grants", "granted" and "granting" are one word. For comparing,
    not for reading.
    """
    return tuple(_stem(term) for term in terms(text) if term not in STOP_WORDS)


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    return word.removesuffix("e") if len(word) > 3 else word
