"""What a sentence claims that its source must hold exactly: numbers, negations, quotations."""

from __future__ import annotations

import re
import unicodedata

from clew_services.core.sentences import language, words

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen",
    "一二三四五六七八九十",
)
_MONTHS = "january february march april may june july august september october november december"
_SPELT = {
    word: str(value)
    for names in (_SMALL[0].split(" "), _SMALL[1], _MONTHS.split(" "))
    for value, word in enumerate(names, 1)
}
_SPELT_OUT = re.compile(
    "|".join(rf"\b{word}\b" if word.isascii() else word for word in _SPELT), re.IGNORECASE
)

# "未来", "非常", "不同" and their like hold the sign and deny nothing.
_DENIES = re.compile(
    r"\b(?:not|never|no|cannot|without|neither|nor|none)\b|n['’]t\b"
    r"|(?<![差与])不(?![同仅断但过少久管论])|没有?|(?<!毫)[无](?![论线])|未(?![来必])|非(?![常洲法])",
    re.IGNORECASE,
)
_DENIED_WORD = re.compile(r"\W*(?:(?:be|been|a|an|the|any|in|to|have|yet)\W+)*([^\W_]+)", re.IGNORECASE)
_DENIED_HAN = re.compile(r"\s*[能得可会有是被将要应需]?\s*([\u3400-\u9fff]{2})")

_QUOTED = re.compile(r"“([^”\n]+)”|\"([^\"\n]+)\"|「([^」\n]+)」|『([^』\n]+)』")
_AROUND = " \t,.;:!?，。；：！？、…"


def numbers(text: str) -> frozenset[str]:
    """The numbers written in digits: without thousands commas and leading zeros, full-width forms folded."""
    found = _NUMBER.findall(unicodedata.normalize("NFKC", text))
    return frozenset(_plain(number) for number in found)


def numbers_stated(text: str) -> frozenset[str]:
    """:func:`numbers`, and those that small number words and the names of months stand for."""
    return numbers(text) | {_SPELT[word.lower()] for word in _SPELT_OUT.findall(text)}


def unstated(sentence: str, source: str) -> frozenset[str]:
    """The :func:`numbers` of ``sentence`` that are not among those that ``source`` states."""
    claimed = numbers(sentence)
    # Most sentences have no number, and to look for spelt ones in a source takes long.
    return claimed and claimed - numbers_stated(source)


def _plain(number: str) -> str:
    parts = number.split(",")
    # "1,234" is one number; "1,2" may be a list or a decimal: kept as it stands.
    joined = "".join(parts) if all(len(part.split(".")[0]) == 3 for part in parts[1:]) else number
    return joined.lstrip("0") or "0"


def denies(text: str) -> bool:
    """Whether any word of negation stands in ``text``."""
    return _DENIES.search(text) is not None


def denied(text: str) -> frozenset[str]:
    """The words (as ``core.sentences.words`` gives them) that directly follow a negation."""
    found: set[str] = set()
    for sign in _DENIES.finditer(text):
        is_han = language(sign[0]) == "zh"
        following = (_DENIED_HAN if is_han else _DENIED_WORD).match(text, sign.end())
        if following:
            found.update(words(following[1]))
    return frozenset(found)


def asserted(text: str) -> frozenset[str]:
    """The words that occur at least once without a negation right before them."""
    spans: list[str] = []
    start = 0
    for sign in _DENIES.finditer(text):
        is_han = language(sign[0]) == "zh"
        following = (_DENIED_HAN if is_han else _DENIED_WORD).match(text, sign.end())
        spans.append(text[start : sign.start()])
        start = following.end() if following else sign.end()
    return frozenset(words(" ".join([*spans, text[start:]])))


def contradicts(sentence: str, source: str) -> bool:
    """Whether a word is denied on one side and said on the other: "may not use" and "may use"."""
    here, there = denied(sentence), denied(source)
    if not here and not there:
        return False
    said = asserted(source)
    return bool((here & said) - there) or bool((there & asserted(sentence)) - here - said)


def quotations(text: str) -> tuple[str, ...]:
    """What stands in quotation marks, without punctuation at its ends."""
    inner = ("".join(groups).strip(_AROUND) for groups in _QUOTED.findall(text))
    return tuple(quote for quote in inner if quote)
