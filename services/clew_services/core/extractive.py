"""Reading without a model: which sentences of the evidence answer a question, and whether any does.

A sentence's score is the sum of

* 2 x coverage: the share of the question's words, by inverse document frequency among the candidates, that
  it or its document's name holds;
* 0.5 x the cosine of its chunk, in standard deviations from the candidates' mean;
* 0.5 / the rank of its chunk;
* 0.3 if a number is asked for and it has one;
* 1.5 x the coverage of the question's other words if the question names its document: who names one wants to hear
  from it, and to the point;
* -0.6 if it does not end as a sentence does: a heading or an address more often than an answer.

The first four were measured (XQuAD), the last two set by hand, on licence texts. Embedding each sentence instead
of its chunk finds the right one more often by 0 to 3 in 100, and costs 20 ms a sentence: not worth it here. It
quotes; it cannot combine, count or rephrase.

Whether the evidence answers at all is judged in :mod:`clew_services.core.judging`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from clew_services.core.answer import Quote
from clew_services.core.citing import disarm
from clew_services.core.sentences import language, sentences, words
from clew_translators.memo import remembered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.evidence import Evidence


_ASKS_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|long|old|far|large|tall|often|high)|which year"
    r"|what (?:year|date|day|percent\w*|number))\b"
    r"|多少|几|何时|什么时候|哪一?[年天日]|多[大长久高远]|日期|年份|比例",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d|[一二三四五六七八九十百千万亿][年月日人个次]")

_REPORTING = frozenset(words("say said tell told mention explain describe"))
"""What a document is asked to do; no document says "this document says"."""

_STOPPED = re.compile(r"[.!?。！？；;…](?:\s+(?:and|or))?[\"'”’」』）)\]*_]*$")
_BROKEN = re.compile(r"(?<=[^\x00-\x7f])\s*[\n\f]\s*(?=[^\x00-\x7f])")
"""A line break inside a Chinese sentence: the words on both sides are one."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of the ``number``-th piece of evidence: ``text == evidence.text[start:end]``."""

    number: int
    start: int
    end: int
    text: str
    coverage: float
    score: float


def _read_chunk(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """The sentences of a chunk with their words."""
    return tuple((s.start, s.end, frozenset(words(text[s.start : s.end]))) for s in sentences(text))


# Chunks come again with other questions, and to the writer; what is much longer than a chunk came from a caller.
sentences_of = remembered(_read_chunk, entries=2048, longest=2_000)


def rank_sentences(question: str, evidence: Sequence[Evidence]) -> tuple[Candidate, ...]:
    """Every sentence of ``evidence``, best first; equal ones by their place. The same text counts once."""
    found = all_sentences(evidence)
    weight = weights_of(question, [terms for *_, terms in found])
    closeness = _standardised([evidence[number - 1].dense_score for number, *_ in found])
    bonus = 0.3 if _ASKS_NUMBER.search(question) else 0.0
    scored = []
    for (number, start, end, terms), close in zip(found, closeness, strict=True):
        chunk = evidence[number - 1]
        text = chunk.text[start:end]
        covered = share_of(weight, terms)
        score = 2 * covered + 0.5 * close + 0.5 / number + (bonus if _DIGIT.search(text) else 0.0)
        name = name_words(chunk.filename)
        if not name.isdisjoint(weight):
            topic = {term: value for term, value in weight.items() if term not in name}
            score += 1.5 * (share_of(topic, terms) if topic else 1.0)
        score -= 0.0 if _STOPPED.search(text) else 0.6
        scored.append(
            Candidate(number=number, start=start, end=end, text=text, coverage=covered, score=score)
        )
    return tuple(sorted(scored, key=lambda c: (-c.score, c.number, c.start)))


def choose(ranked: Sequence[Candidate], *, most: int = 3, margin: float = 0.6) -> tuple[Candidate, ...]:
    """The best sentence, and those near it: within ``margin``, covering 0.3 of what it covers; at most ``most``.

    On XQuAD the right sentence is among them for 91 (English) and 88 (Chinese) of 100 questions, and 1.7 to
    1.8 are shown.
    """
    return tuple(
        candidate
        for candidate in ranked[:most]
        if candidate.score >= ranked[0].score - margin and candidate.coverage >= 0.3 * ranked[0].coverage
    )


def compose(chosen: Sequence[Candidate]) -> tuple[tuple[str, ...], tuple[Quote, ...]]:
    """The answer in pieces, one a sentence with its ``[n]``, and the quotes behind them; joined they are the text.

    A piece is its sentence word for word, with line breaks and runs of blanks closed up; a number in brackets that
    the source itself has becomes one in parentheses, so that it does not cite our evidence.
    """
    pieces: list[str] = []
    for candidate in chosen:
        text = candidate.text
        space = " "
        if language(text) == "zh":
            text, space = _BROKEN.sub("", text), ""
        joint = space if pieces else ""
        pieces.append(f"{joint}{disarm(' '.join(text.split()))}{space}[{candidate.number}]")
    return tuple(pieces), tuple(Quote(number=c.number, start=c.start, end=c.end) for c in chosen)


def asked_for(question: str) -> frozenset[str]:
    """The words of ``question``, without those that ask a document to speak: no document has them."""
    found = frozenset(words(question))
    return found - _REPORTING or found


def _read_name(filename: str) -> frozenset[str]:
    """The words of a file's name by which a question may name it: neither its ending nor a number alone."""
    stem = filename.rpartition(".")[0] or filename
    return frozenset(word for word in words(stem) if not word.isdigit())


name_words = remembered(_read_name, entries=512)


def all_sentences(evidence: Sequence[Evidence]) -> list[tuple[int, int, int, frozenset[str]]]:
    """Number, offsets and words of every sentence, its document's name included: that is what it speaks of.

    A sentence that overlapping chunks share is taken once.
    """
    seen: set[str] = set()
    found = []
    for number, chunk in enumerate(evidence, 1):
        name = frozenset(words(chunk.filename))
        for start, end, terms in sentences_of(chunk.text):
            text = " ".join(chunk.text[start:end].split())
            if text not in seen:
                seen.add(text)
                found.append((number, start, end, terms | name))
    return found


def weights_of(question: str, candidates: Sequence[frozenset[str]]) -> dict[str, float]:
    """The question's words, weighted by how few ``candidates`` (the words of each sentence) have them."""
    asked = asked_for(question)
    having = Counter(term for terms in candidates for term in terms & asked)
    return {
        term: math.log(1 + (len(candidates) - having[term] + 0.5) / (having[term] + 0.5)) for term in asked
    }


def share_of(weight: Mapping[str, float], terms: frozenset[str]) -> float:
    """How much of all ``weight`` the ``terms`` have, from 0 to 1."""
    total = math.fsum(weight.values())
    return math.fsum(weight[term] for term in weight.keys() & terms) / total if total else 0.0


def _standardised(values: Sequence[float | None]) -> list[float]:
    """Distance from the mean in standard deviations; 0 for what is unknown, or when all are alike."""
    known = [value for value in values if value is not None]
    spread = pstdev(known) if len(known) > 1 else 0.0
    if spread < 1e-9:
        return [0.0] * len(values)
    mean = fmean(known)
    return [0.0 if value is None else (value - mean) / spread for value in values]
