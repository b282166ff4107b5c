"""What an answer states, sentence by sentence, and which evidence each sentence cites."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew_services.core.answer import GAPS_LINE, OPEN_LINE
from clew_services.core.citing import MARK, cited
from clew_services.core.sentences import sentences, words

_QUESTION = re.compile(r"[?？][\"'”’」』）)\]*_\s]*$")
_LEADS_IN = re.compile(r"[:：][*_\s]*$")
_EMPHASIS = re.compile(r"(\*\*|__)[^*_]+\1[:：]?$")
_DISCLOSES = re.compile(
    r"\b(?:not|n['’]t|nor) (?:\w+ ){0,2}?(?:cover|mention|state|say|specif|address|answer|found)"
    r"|\bno (?:information|evidence|mention)\b"
    r"|(?:未|没有|不)(?:被|有|能)?(?:涉及|提及|提到|说明|覆盖|涵盖|找到|回答)",
    re.IGNORECASE,
)
_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?])")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the answer, ``answer[start:end]``; ``text`` is it without citations, which are ``numbers``."""

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


def statements(text: str) -> tuple[Statement, ...]:
    """The sentences of an answer that state something, with the numbers cited in or right after each.

    Not among them, unless they cite: headings, questions, lead-ins to a list, single words such as "Yes.", and
    sentences that say what is not covered.
    """
    plain = MARK.sub(lambda mark: " " * len(mark[0]), text)
    spans = sentences(plain)
    found = []
    for n, span in enumerate(spans):
        begins = span.start if n else 0
        until = spans[n + 1].start if n + 1 < len(spans) else len(text)
        numbers = cited(text[begins:until])
        sentence = plain[span.start : span.end]
        if numbers or _states(sentence):
            found.append(
                Statement(span.start, span.end, _BEFORE_MARK.sub("", " ".join(sentence.split())), numbers)
            )
    return tuple(found)


def _states(sentence: str) -> bool:
    return not (
        sentence.startswith((*GAPS_LINE.values(), *OPEN_LINE.values()))
        or any(sign.search(sentence) for sign in (_QUESTION, _LEADS_IN, _DISCLOSES))
        or _EMPHASIS.match(sentence)
        or len(words(sentence)) < 2
    )
