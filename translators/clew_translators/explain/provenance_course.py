"""The course of a question as PROV-O: its plan, rewrites, the joining of parts, limits, and pauses for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import (
    BudgetExhausted,
    PartsJoined,
    QueryRewritten,
    QuestionPlanned,
    RunPaused,
    RunResumed,
    TicketCancelled,
)
from clew_translators import namespaces as ns
from clew_translators.explain import names

if TYPE_CHECKING:
    from clew_translators.explain.telling import Telling


def course(
    telling: Telling, fact: QuestionPlanned | QueryRewritten | PartsJoined | BudgetExhausted, entity: str
) -> None:
    """What was decided on the way."""
    match fact:
        case QuestionPlanned():
            _plan(telling, fact, entity)
        case QueryRewritten():
            _rewrite(telling, fact, entity)
        case PartsJoined():
            _join(telling, fact, entity)
        case BudgetExhausted():
            _limit(telling, fact, entity)


def pause(telling: Telling, fact: RunPaused | RunResumed | TicketCancelled, entity: str) -> None:
    """A question to a person, and what became of it."""
    match fact:
        case RunPaused():
            _ticket(telling, fact, entity)
        case RunResumed():
            _reply(telling, fact, entity)
        case TicketCancelled():
            _cancellation(telling, fact, entity)


def _plan(telling: Telling, fact: QuestionPlanned, entity: str) -> None:
    say, activity = telling.say, names.activity_of(entity)
    telling.activity(
        activity,
        names.PLANNING,
        fact,
        used=(telling.question,),
        models=(fact.planner,),
        prompt=fact.prompt_version,
    )
    telling.entity(entity, names.PLAN, (telling.question,))
    say.text(names.COMPLEXITY, fact.complexity)
    say.text(names.REASON, fact.reason)
    say.text(names.RESOLVED_BY, fact.resolved_by)
    say.integer(names.DROPPED, fact.dropped or None)
    parts = {names.part_of(telling.run, number): text for number, text in enumerate(fact.parts or (), 1)}
    for name in parts:
        say.link(names.HAS_PART, name)
    for number, (name, text) in enumerate(parts.items(), 1):
        telling.entity(name, names.PART, (telling.question,), activity)
        say.integer(names.NUMBER, number)
        say.plain(ns.PROV_VALUE, text)


def _rewrite(telling: Telling, fact: QueryRewritten, entity: str) -> None:
    say = telling.say
    used = (telling.question, *telling.decisions(fact.part))
    activity = names.activity_of(entity)
    telling.activity(
        activity, names.REWRITING, fact, used=used, models=(fact.rewriter,), prompt=fact.prompt_version
    )
    telling.entity(entity, names.REWRITE, (telling.question,))
    say.text(names.METHOD, fact.method)
    say.plain(names.QUERY, fact.query)
    say.plain(ns.PROV_VALUE, fact.text)


def _join(telling: Telling, fact: PartsJoined, entity: str) -> None:
    say, grounds = telling.say, telling.grounds()
    telling.activity(names.activity_of(entity), names.JOINING, fact, used=(telling.question, *grounds))
    telling.entity(entity, names.JOIN, grounds or (telling.question,))
    say.text(names.RELEVANCE, fact.relevance)
    say.text(names.ANSWERABILITY, fact.answerability)
    say.text(names.ROUTE, fact.route)
    say.text(names.STATUS, fact.status)
    say.text(names.RESOLVED_BY, fact.resolved_by)
    say.text(names.ASKS, fact.asks)
    say.integer(names.EVIDENCE_COUNT, len(fact.origins))
    for gap in fact.gaps:
        say.text(names.GAP, gap.question)


def _limit(telling: Telling, fact: BudgetExhausted, entity: str) -> None:
    say, grounds = telling.say, telling.grounds()
    telling.activity(names.activity_of(entity), names.STOPPING, fact, used=grounds)
    telling.entity(entity, names.LIMIT, grounds or (telling.question,))
    say.text(names.BUDGET, fact.budget)
    say.integer(names.SPENT, fact.spent)
    say.text(names.ROUTE, fact.route)
    say.text(names.STATUS, fact.status)
    say.text(names.RESOLVED_BY, fact.resolved_by)


def _ticket(telling: Telling, fact: RunPaused, entity: str) -> None:
    say, grounds = telling.say, telling.grounds()
    telling.activity(names.activity_of(entity), names.PAUSING, fact, used=(telling.question, *grounds))
    telling.entity(entity, names.TICKET, grounds or (telling.question,))
    say.text(names.TICKET_ID, fact.ticket)
    say.integer(names.NUMBER, fact.round)
    say.plain(ns.PROV_VALUE, fact.prompt)
    for option in fact.options:
        say.text(names.OPTION, option)
    say.text(names.ROUTE, fact.route)
    say.text(names.STATUS, fact.status)
    say.time(names.EXPIRES_AT, fact.expires_at)


def _reply(telling: Telling, fact: RunResumed, entity: str) -> None:
    asked, person = entity.rpartition("/")[0], telling.person(fact.person)
    telling.activity(names.activity_of(entity), names.ANSWERING, fact, used=(asked,), person=person)
    telling.entity(entity, names.REPLY, (asked,))
    telling.say.link(ns.PROV_WAS_ATTRIBUTED_TO, person)
    telling.say.text(names.TICKET_ID, fact.ticket)
    telling.say.plain(ns.PROV_VALUE, fact.answer)


def _cancellation(telling: Telling, fact: TicketCancelled, entity: str) -> None:
    asked, person = entity.rpartition("/")[0], telling.person(fact.person)
    telling.activity(names.activity_of(entity), names.CANCELLING, fact, used=(asked,), person=person)
    telling.entity(entity, names.CANCELLATION, (asked,))
    telling.say.link(ns.PROV_WAS_ATTRIBUTED_TO, person)
    telling.say.text(names.TICKET_ID, fact.ticket)
