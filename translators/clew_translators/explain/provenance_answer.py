"""An answer as PROV-O: what it rests on, what it claims, its citations, and whether these hold."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators.explain import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clew_schema.evidence import Citation, CitationCheck, Claim
    from clew_schema.facts import AnswerWritten
    from clew_translators.explain.telling import Telling


def answer(telling: Telling, fact: AnswerWritten, entity: str) -> None:
    """The end of a run: an answer, or the statement that nothing reliable is known."""
    say = telling.say
    grounds = telling.grounds()
    activity = names.activity_of(entity)
    used = (telling.question, *grounds)
    telling.activity(
        activity,
        names.WRITING,
        fact,
        used=used,
        models=(fact.writer, fact.model),
        prompt=fact.prompt_version,
    )
    say.integer(names.OMITTED, fact.omitted or None)
    say.integer(names.TRUNCATED, fact.truncated or None)
    telling.entity(entity, names.ANSWER, grounds or (telling.question,))
    say.text(names.OUTCOME, fact.outcome)
    telling.tokens(fact)
    say.double(names.COVERAGE, fact.coverage)
    for gap in fact.gaps:
        say.text(names.GAP, gap)
    if telling.texts:
        say.plain(ns.PROV_VALUE, fact.text)
    _parts(telling, fact, entity, activity)


def _parts(telling: Telling, fact: AnswerWritten, entity: str, activity: str) -> None:
    """The citations of an answer, what it claims, and the verdicts about both."""
    say = telling.say
    cited = [names.citation_of(entity, place) for place in range(1, len(fact.citations) + 1)]
    claimed = [names.claim_of(entity, place) for place in range(1, len(fact.claims) + 1)]
    checked = [names.check_of(entity, place) for place in range(1, len(fact.checks) + 1)]
    for predicate, parts in (
        (names.CITES, cited),
        (names.HAS_CLAIM, claimed),
        (names.HAS_CHECK, checked),
    ):
        for name in parts:
            say.link(predicate, name)
    for name, citation in zip(cited, fact.citations, strict=True):
        _citation(telling, name, citation, activity)
    by_number = {citation.number: name for name, citation in zip(cited, fact.citations, strict=True)}
    by_span = {(claim.start, claim.end): name for name, claim in zip(claimed, fact.claims, strict=True)}
    checks: dict[str, list[tuple[str, CitationCheck]]] = {}
    for name, check in zip(checked, fact.checks, strict=True):
        claim_name = by_span.get((check.start, check.end), "")
        _check(telling, name, check, (by_number.get(check.number, entity), claim_name), activity)
        checks.setdefault(claim_name, []).append((name, check))
    for name, claim in zip(claimed, fact.claims, strict=True):
        _claim(telling, name, claim, activity)
        _support(telling, claim, by_number, checks.get(name, []))


def _claim(telling: Telling, name: str, claim: Claim, activity: str) -> None:
    """A sentence of the answer that states something."""
    say = telling.say
    telling.entity(name, names.CLAIM, (), activity)
    say.integer(names.NUMBER, claim.number)
    say.integer(names.START, claim.start)
    say.integer(names.END, claim.end)
    say.text(names.VERDICT, claim.verdict)


def _support(
    telling: Telling, claim: Claim, cited: Mapping[int, str], checks: Sequence[tuple[str, CitationCheck]]
) -> None:
    """What a claim cites, and how that was judged. It derives from those citations alone that do not fail it."""
    say = telling.say
    failing = {check.number for _, check in checks if check.verdict != "supported"}
    for number in claim.citations:
        if citation := cited.get(number):
            say.link(names.CITES, citation)
            if number not in failing:
                say.link(ns.PROV_WAS_DERIVED_FROM, citation)
    for name, _ in checks:
        say.link(names.HAS_CHECK, name)


def _citation(telling: Telling, name: str, citation: Citation, activity: str) -> None:
    say = telling.say
    telling.entity(name, names.CITATION, telling.retrieved(citation.chunk_id), activity)
    say.integer(names.NUMBER, citation.number)
    telling.place(citation)
    say.link(ns.PROV_WAS_QUOTED_FROM, names.chunk_of(citation.chunk_id))
    say.plain(ns.PROV_VALUE, citation.quote)
    say.text(names.QUOTE_HASH, sha256(citation.quote.encode("utf-8", "surrogatepass")).hexdigest())


def _check(telling: Telling, name: str, check: CitationCheck, sources: Iterable[str], activity: str) -> None:
    """The verdict about one sentence and the citation in it."""
    say = telling.say
    telling.entity(name, names.CHECK, sources, activity)
    say.integer(names.NUMBER, check.number)
    say.integer(names.START, check.start)
    say.integer(names.END, check.end)
    say.text(names.VERDICT, check.verdict)
    say.double(names.LEXICAL, check.lexical)
    say.double(names.SIMILARITY, check.similarity)
    if check.quoted is not None:
        say.boolean(names.QUOTED, check.quoted)
    say.integer(names.BETTER, check.better or None)
