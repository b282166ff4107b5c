"""Which earlier observations a step of an agent builds on, judged from what it says."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from clew_services.core.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from clew_schema.agent import AgentStep

WORDS = 4
"""Words in a row that are no coincidence, if two of them mean something."""

HAN = 6
"""Chinese or Japanese characters in a row that are none."""

_H = r"\u3040-\u30ff\u3400-\u9fff"
_CITED = re.compile(r"\[\d{1,3}\]")
_TOKEN = re.compile(
    rf"(?P<han>[{_H}]+)|(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<word>[^\W\d_{_H}][^\W_{_H}]*(?:-[^\W_{_H}]+)*)"
)
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_TITLE = re.compile(r"[《「『“]([^《》「」『』“”\n]{2,30})[》」』”]")
_SENTENCE_ENDS = frozenset(".!?:;\n。！？；：")

_DIGITS = {name: str(value) for value, name in enumerate("一二三四五六七八九十", 1)}
_N = r"(?:\d{1,3}|[一二三四五六七八九十])"
_LIST = rf"{_N}(?:\s{{0,2}}(?:,\s?(?:and\s)?|and\s|&|to\s|[-–、和及与至到])\s?{_N})*"
_NAMED = re.compile(
    rf"\b(?:observation|step|iteration)s?\s{{0,2}}(?:no\.?|number|\#)?\s{{0,2}}(?P<english>{_LIST})(?!\d|\.\d)"
    rf"|(?:观察|步骤)(?:结果)?\s?(?P<after>{_LIST})(?!\d|\.\d)|第\s?(?P<before>{_LIST})\s?(?:步|次|轮|个?观察)",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"({_N})(?:\s{{0,2}}(?:to\s|[-–至到])\s?({_N}))?")


def uses(history: Sequence[AgentStep], text: str, question: str = "") -> tuple[int, ...]:
    """The iterations, numbered from 1 as ``history`` has them, on whose observations ``text`` builds; ascending.

    ``text`` is what the next step says: its thought and its arguments, or its answer. The iteration right before is
    always among them, for the model has just read it. Of the others:

    * those that the text names ("observation 2", "steps 1 and 3", "观察2", "第二步"), if it names any. A number that
      the question or an observation names in the same way ("step 2" of a manual) is not taken for a name;
    * else those of which it repeats what stands in no other observation, and not in the question: a number of two
      digits or more; a name (a word with a capital letter within a sentence, with a digit, or in capitals; a title
      in Chinese quotation marks); four words in a row of which two are no function words; six Chinese characters in a
      row. Marks of citations (``[1]``) are no numbers.

    It is a judgement from words: who rephrases everything is not found out, and who repeats by chance is taken at
    their word. Time and memory are linear in the texts.
    """
    last = len(history)
    if last < 2:
        return tuple(range(1, last + 1))
    named = _named(text, last)
    for other in (question, *(step.observation for step in history)) if named else ():
        named -= _named(other, last)
    return tuple(sorted((named or _repeated(history, text, question)) | {last}))


def _named(text: str, last: int) -> set[int]:
    """The steps from 1 to ``last`` that ``text`` names by their number."""
    found: set[int] = set()
    for match in _NAMED.finditer(unicodedata.normalize("NFKC", text)):
        for first, until in _RANGE.findall(match[match.lastgroup or 0]):
            start = int(_DIGITS.get(first, first))
            end = int(_DIGITS.get(until, until)) if until else start
            found.update(range(max(start, 1), min(end, last) + 1))
    return found


def _repeated(history: Sequence[AgentStep], text: str, question: str) -> set[int]:
    """The iterations that alone observed something distinctive that ``text`` says, and the question does not."""
    said, telling = _read(text)
    if not said:
        return set()
    owners: dict[str, int] = {}
    for number, step in enumerate(history, 1):
        seen, marked = _read(step.observation, said)
        telling |= marked
        for key in seen:
            owners[key] = 0 if key in owners else number
    asked, _ = _read(question, said)
    return {owner for key, owner in owners.items() if owner and key in telling and key not in asked}


def _read(text: str, wanted: Container[str] | None = None) -> tuple[set[str], set[str]]:
    """What stands in ``text``, as far as it is ``wanted`` (null: all); and what of it is distinctive by its form."""
    text = _CITED.sub(" ", unicodedata.normalize("NFKC", text))
    present: set[str] = set()
    distinctive: set[str] = set()
    for key, is_distinctive in _keys(text):
        if wanted is None or key in wanted:
            present.add(key)
            if is_distinctive:
                distinctive.add(key)
    return present, distinctive


def _keys(text: str) -> Iterator[tuple[str, bool]]:
    """Words, numbers, titles and rows of ``text``, each with whether its form alone makes it distinctive."""
    for title in _TITLE.finditer(text):
        yield title[1], True
    row: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        if token.lastgroup == "han":
            row.clear()
            for at in range(len(word) - HAN + 1):
                yield word[at : at + HAN], True
        elif token.lastgroup == "number":
            row.append(_THOUSANDS.sub("", word))
            yield row[-1], len(row[-1]) > 1
        else:
            starts = not end or not _SENTENCE_ENDS.isdisjoint(text[end : token.start()])
            row.append(word.casefold())
            yield row[-1], _is_name(word, starts=starts)
        if len(row) >= WORDS:
            del row[:-WORDS]
            yield " ".join(row), sum(each not in STOP_WORDS for each in row) > 1
        end = token.end()


def _is_name(word: str, *, starts: bool) -> bool:
    """Whether ``word`` looks like a name; what ``starts`` a sentence has its first capital letter for that."""
    if len(word) < 2 or word.casefold() in STOP_WORDS:
        return False
    if any(letter.isupper() or letter.isdigit() for letter in word[1:]):
        return True
    return word[0].isupper() and not starts
