"""Which earlier observations a step of an agent builds on, judged from what it says."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, TypeAlias

from clew_services.core.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.agent import AgentStep

HAN = 6
"""Chinese or Japanese characters in a row that are no coincidence."""

Key: TypeAlias = str | tuple[str, ...]
"""What two texts may have in common: a word, number or six characters; four words in a row, or one title."""

_H = r"\u3040-\u30ff\u3400-\u9fff"
_CITED = re.compile(r"\[\d{1,3}\]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ROW = re.compile(rf"[{_H}]{{{HAN},}}")
_W = rf"[^\W\d_{_H}][^\W_{_H}]*(?:-[^\W_{_H}]+)*"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|{_W}")
_WITHIN = re.compile(rf"(?<=[^\s.!?:;。！？；：] ){_W}")
_TITLE = re.compile(r"[《「『“]([^《》「」『』“”\n]{2,30})[》」』”]")

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
      digits or more; a name (a word with a capital letter after another word, in either text; one with a digit or a
      capital inside; a title in Chinese quotation marks); four words in a row with two that are no function words; six
      Chinese characters in a row. Marks of citations (``[1]``) are no numbers.

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
    plain = _plain(text)
    said = _keys(plain)
    if not said:
        return set()
    observed = [_plain(step.observation) for step in history]
    owners: dict[Key, int] = {}
    for number, seen in enumerate(observed, 1):
        for key in _keys(seen, said):
            owners[key] = 0 if key in owners else number
    for key in _keys(_plain(question), said):
        owners.pop(key, None)
    found: set[int] = set()
    words: dict[int, set[Key]] = {}
    for key, owner in owners.items():
        if owner and _is_telling(key):
            found.add(owner)
        elif owner and key not in STOP_WORDS:
            words.setdefault(owner, set()).add(key)
    names = _names(plain) if words else set()
    return found | {
        owner
        for owner, shared in words.items()
        if owner not in found and (shared & names or shared & _names(observed[owner - 1]))
    }


def _plain(text: str) -> str:
    """``text`` without marks of citations and commas in numbers, full-width forms folded."""
    return _THOUSANDS.sub("", _CITED.sub(" ", unicodedata.normalize("NFKC", text)))


def _keys(text: str, wanted: set[Key] | None = None) -> set[Key]:
    """What stands in ``text``, as far as it is ``wanted`` (null: all)."""
    words = _WORD.findall(text.casefold())
    found: set[Key] = set(words)
    found.update((title,) for title in _TITLE.findall(text))
    for row in _ROW.findall(text):
        found.update(row[at : at + HAN] for at in range(len(row) - HAN + 1))
    if wanted is not None:
        found &= wanted
    # Without two words that mean something there is no row of four that counts.
    if len(found - STOP_WORDS) > 1:
        rows = zip(words, words[1:], words[2:], words[3:], strict=False)
        found.update(rows if wanted is None else wanted.intersection(rows))
    return found


def _is_telling(key: Key) -> bool:
    """Whether ``key`` is distinctive for what it is; a word is not, unless it is a name."""
    if isinstance(key, tuple):
        return len(key) == 1 or len(set(key) - STOP_WORDS) > 1
    return len(key) > 1 and (key[0].isdigit() or _ROW.fullmatch(key) is not None)


def _names(text: str) -> set[Key]:
    """The words of ``text`` that look like names, in small letters."""
    within = {word for word in set(_WITHIN.findall(text)) if word[0].isupper()}
    odd = {word for word in set(_WORD.findall(text)) if any(map(_is_odd, word[1:]))}
    return {word.casefold() for word in within | odd if len(word) > 1}


def _is_odd(letter: str) -> bool:
    return letter.isupper() or letter.isdigit()
