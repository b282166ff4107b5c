"""An answer as PROV-O: what it rests on, its citations, and whether these hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators.explain import names

if TYPE_CHECKING:
    from clew_schema.evidence import Citation, CitationCheck
    from clew_schema.facts import AnswerWritten
    from clew_translators.explain.telling import Telling


def answer(telling: Telling, fact: AnswerWritten, entity: str) -> None:
    """The end of a run: an answer, or the statement that nothing reliable is known."""
    say = telling.say
    grounds = telling.grounds()
    activity = names.activity_of(entity)
    used = (telling.question, *grounds)
    telling.activity(activity, names.WRITING, fact, used=used, models=(fact.writer, fact.model))
    say.text(names.PROMPT_VERSION, fact.prompt_version)
    say.integer(names.OMITTED, fact.omitted or None)
    say.integer(names.TRUNCATED, fact.truncated or None)
    telling.entity(entity, names.ANSWER, grounds or (telling.question,))
    say.text(names.OUTCOME, fact.outcome)
    say.integer(names.IN_TOKEN, fact.in_token)
    say.integer(names.OUT_TOKEN, fact.out_token)
    say.double(names.COVERAGE, fact.coverage)
    for gap in fact.gaps:
        say.text(names.GAP, gap)
    cited = [names.citation_of(entity, place) for place in range(1, len(fact.citations) + 1)]
    checked = [names.check_of(entity, place) for place in range(1, len(fact.checks) + 1)]
    for name in cited:
        say.link(names.CITES, name)
    for name in checked:
        say.link(names.HAS_CHECK, name)
    for name, citation in zip(cited, fact.citations, strict=True):
        _citation(telling, name, citation, activity)
    by_number = {citation.number: name for name, citation in zip(cited, fact.citations, strict=True)}
    for name, check in zip(checked, fact.checks, strict=True):
        _check(telling, name, check, by_number.get(check.number, entity), activity)


def _citation(telling: Telling, name: str, citation: Citation, activity: str) -> None:
    say = telling.say
    telling.entity(name, names.CITATION, telling.retrieved(citation.chunk_id), activity)
    say.integer(names.NUMBER, citation.number)
    telling.place(citation)
    say.link(ns.PROV_WAS_QUOTED_FROM, names.chunk_of(citation.chunk_id))
    say.plain(ns.PROV_VALUE, citation.quote)


def _check(telling: Telling, name: str, check: CitationCheck, source: str, activity: str) -> None:
    """The verdict about one sentence and the citation in it."""
    say = telling.say
    telling.entity(name, names.CHECK, (source,), activity)
    say.integer(names.NUMBER, check.number)
    say.integer(names.START, check.start)
    say.integer(names.END, check.end)
    say.text(names.VERDICT, check.verdict)
    say.double(names.LEXICAL, check.lexical)
    say.double(names.SIMILARITY, check.similarity)
    if check.quoted is not None:
        say.boolean(names.QUOTED, check.quoted)
    say.integer(names.BETTER, check.better or None)
