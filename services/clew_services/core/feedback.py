"""A second query without a model: the question without what is too special in it, or with the evidence's own words.

The words are chosen by pseudo relevance feedback, the relevance model RM1: Lavrenko and Croft, "Relevance-based
language models", SIGIR 2001. ``P(w|R) = sum over chunks of P(w|chunk) P(chunk|question)``, with ``P(chunk|question)``
from the logarithm of the query likelihood under Jelinek-Mercer smoothing (a half) with the chunks as background. A
word's weight is its share there times the logarithm of how much commoner it is than in the background, so that what
every chunk says counts little. Half of all weight goes to the question's own words, as in RM3 (UMass at TREC 2004).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from clew_services.core.sentences import language, sentences, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence

_SPECIAL = re.compile(
    r"“[^”]*”|\"[^\"]*\"|「[^」]*」|『[^』]*』|《[^》]*》"  # what is quoted
    r"|(?:\b(?:in|on|since|before|after|until|from|by|of)\s+)?(?:\b(?:version|january|february|march|april|june|july|august"
    r"|september|october|november|december)\s+)?\b\d[\w.,:/-]*\b%?"  # numbers, dates, versions
    r"|[第在]?\d[\d.,]*\s*(?:年|月|日|版|号|个|人|次|世纪|%)*",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:\b(?:of|by|from|in|at|for|to|with)\s+)?(?<!^)(?<![.?!] )"
    r"\b[A-Z][\w’'-]*(?:\s+(?:(?:of|the|and)\s+)?[A-Z][\w’'-]*)*"
)
_GAPS = re.compile(r"\s+(?=[,.;:?!，。；：？！]|$)|(?<=[^\x00-\x7f])\s+(?=[^\x00-\x7f])")
_LEAST_WORDS = 2
_MOST_SENTENCES, _NEAR = 3, 0.5


def step_back(question: str, evidence: Sequence[Evidence]) -> str:
    """``question`` without quotations, numbers, dates and names of which the evidence knows nothing; or ``""``.

    Nothing is returned when nothing was left out, or when fewer than two words with a meaning would be left.
    """
    known = {word for chunk in evidence for word in words(f"{chunk.filename} {chunk.text}")}

    def left_out(found: re.Match[str]) -> str:
        return found[0] if words(found[0]) and known.issuperset(words(found[0])) else " "

    general = _NAME.sub(left_out, _SPECIAL.sub(left_out, question))
    general = _GAPS.sub("", " ".join(general.split()))
    if len(words(general)) < _LEAST_WORDS or words(general) == words(question):
        return ""
    return general


def supposed(question: str, evidence: Sequence[Evidence], longest: int) -> str:
    """The sentences of ``evidence`` with the most relevance a word, at most ``longest`` characters; may be empty.

    Word for word: nothing is invented. They are what the documents say in the question's neighbourhood.
    """
    relevance = relevance_model(question, [chunk.text for chunk in evidence])
    if not relevance:
        return ""
    places = {
        " ".join(chunk.text[span.start : span.end].split()): place
        for place, chunk in reversed(list(enumerate(evidence)))
        for span in sentences(chunk.text)
    }
    means = {sentence: _mean(relevance, sentence) for sentence in places}
    least = _NEAR * max(means.values(), default=0.0)
    joint = "" if language(question) == "zh" else " "
    chosen: list[str] = []
    for sentence in sorted(means, key=lambda sentence: (-means[sentence], places[sentence], sentence)):
        near = means[sentence] >= least and len(chosen) < _MOST_SENTENCES
        if near and len(joint.join([*chosen, sentence])) <= longest:
            chosen.append(sentence)
    return joint.join(chosen)


def _mean(relevance: dict[str, float], sentence: str) -> float:
    found = set(words(sentence))
    return math.fsum(sorted(relevance.get(word, 0.0) for word in found)) / (len(found) + 5)


def relevance_model(question: str, texts: Sequence[str]) -> dict[str, float]:
    """The weight of each word of ``texts`` and of ``question``; see the module."""
    counts = [counted for text in texts if (counted := Counter(words(text)))]
    background = sum(counts, Counter[str]())
    total = background.total()
    likelihoods = [
        math.fsum(
            math.log(0.5 * counted[word] / counted.total() + 0.5 * background[word] / total)
            for word in words(question)
            if background[word]
        )
        for counted in counts
    ]
    highest = max(likelihoods, default=0.0)
    shares = [math.exp(likelihood - highest) for likelihood in likelihoods]
    whole = sum(shares)
    found: dict[str, float] = {}
    for word, everywhere in background.items():
        near = math.fsum(
            share / whole * counted[word] / counted.total()
            for share, counted in zip(shares, counts, strict=True)
        )
        if near > everywhere / total:
            found[word] = near * math.log(near * total / everywhere)
    whole = math.fsum(found.values())
    mixed = {word: 0.5 * weight / whole for word, weight in found.items()}
    asked = [word for word in dict.fromkeys(words(question)) if background[word]]
    for word in asked:
        mixed[word] = mixed.get(word, 0.0) + 0.5 / len(asked)
    return mixed
