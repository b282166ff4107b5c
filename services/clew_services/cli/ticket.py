"""``clew ticket``: runs that wait for a person, to be looked at, answered or withdrawn."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from clew_services.cli.ask import ExplainOption, TimeoutOption, UserOption, converse
from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    emit_json,
    fail,
    load,
    out,
    say,
    start,
    utf8,
)
from clew_services.cli.pause import iso_of, left

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from clew_schema.rdf import Triple
    from clew_schema.retrieval import DocumentRagQuery
    from clew_services.adapters.stores.ledger_sql import SqlLedger
    from clew_services.ports import Ticket
    from clew_services.settings import Settings

app = typer.Typer(
    help="Look at questions that wait for a person, answer or withdraw them.", no_args_is_help=True
)
TicketArgument = Annotated[str, typer.Argument(metavar="ID", help="A ticket's id, or its beginning.")]


@app.command("list")
def list_(
    collection: CollectionOption = "default",
    every: Annotated[
        bool, typer.Option("--all", help="Also those that were answered, cancelled or have expired.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most so many.")] = 100,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """List the tickets of a collection that can be answered, the newest first."""
    found = start(_newest(load(data), utf8(collection), limit, every=every))
    if json:
        for ticket in found:
            emit_json(_as_json(ticket))
    elif found:
        out.print(_table(found, every=every))
    else:
        say(
            out,
            f"no tickets in collection {collection!r}"
            if every
            else f"nobody is waited for in {collection!r}",
        )


@app.command()
def show(ticket_id: TicketArgument, json: JsonOption = False, data: DataOption = None) -> None:
    """Show one ticket: what is asked, what can be chosen, until when, and what was answered."""
    ticket = _found(load(data), ticket_id)
    if json:
        emit_json(_as_json(ticket))
        return
    rows = [
        ("ticket", ticket.ticket_id),
        ("collection", ticket.collection),
        ("question", ticket.question),
        ("asks", ticket.prompt),
        *(("option", f"{number}. {option}") for number, option in enumerate(ticket.options, 1)),
        ("because", f"{ticket.route} ({ticket.status}), round {ticket.round}"),
        ("opened", iso_of(ticket.opened_at)),
        ("expires", f"{iso_of(ticket.expires_at)}"),
        ("state", _state(ticket)),
        *([("answer", ticket.answer)] if ticket.state == "answered" else []),
        *([("closed", iso_of(ticket.closed_at))] if ticket.closed_at else []),
        ("run", ticket.session_id),
    ]
    for name, value in rows:
        say(out, (f"{name:>10}  ", "dim"), value, whole=True)


@app.command()
def answer(
    ticket_id: TicketArgument,
    text: Annotated[str, typer.Argument(help="Your answer.")] = "",
    option: Annotated[
        int, typer.Option("--option", "-o", min=0, help="Answer with this option, from 1.")
    ] = 0,
    explain: ExplainOption = False,
    json: JsonOption = False,
    timeout: TimeoutOption = 120.0,
    user: UserOption = "",
    data: DataOption = None,
) -> None:
    """Answer a ticket. The question that waits for it goes on, and is told as `clew ask` tells it."""
    if bool(text.strip()) == bool(option):
        fail("bad-request", "say your answer in words, or choose an option with --option N")
    settings = load(data)
    ticket = _waiting(settings, ticket_id)
    if option > len(ticket.options):
        fail(
            "bad-request",
            f"ticket {ticket.ticket_id} has {len(ticket.options)} options, and no number {option}",
        )
    said = ticket.options[option - 1] if option else utf8(text)
    query = _answer(ticket, said, user)
    _go_on(settings, ticket, query, timeout=timeout, explain=explain, json=json, data=data)


@app.command()
def cancel(
    ticket_id: TicketArgument,
    json: JsonOption = False,
    timeout: TimeoutOption = 120.0,
    user: UserOption = "",
    data: DataOption = None,
) -> None:
    """Withdraw the question that waits for this ticket. It ends without an answer."""
    settings = load(data)
    ticket = _waiting(settings, ticket_id)
    query = _answer(ticket, "", user)
    _go_on(settings, ticket, query, timeout=timeout, explain=False, json=json, data=data)


def _answer(ticket: Ticket, said: str, user: str) -> DocumentRagQuery:
    """What ``user`` says to ``ticket``; an empty answer withdraws the question."""
    from clew_schema.retrieval import DocumentRagQuery

    return DocumentRagQuery(
        ticket=ticket.ticket_id,
        answer=said,
        cancel=not said,
        collection=ticket.collection,
        streaming=True,
        user=utf8(user),
    )


def _go_on(
    settings: Settings,
    ticket: Ticket,
    query: DocumentRagQuery,
    *,
    timeout: float,
    explain: bool,
    json: bool,
    data: DataOption,
) -> None:
    """Publish ``query``, which answers ``ticket``, and tell what comes of it."""
    converse(
        settings,
        query,
        ticket.session_id,
        timeout=timeout,
        explain=explain,
        json=json,
        data=data,
        before=_before(ticket),
    )


@asynccontextmanager
async def _ledger(settings: Settings) -> AsyncIterator[SqlLedger]:
    """The database where tickets are, also while services write to it. Raises StoreFailed when there is none."""
    from clew_services.adapters.stores.ledger_sql import SqlLedger
    from clew_services.errors import StoreFailed

    if not settings.database_url and not (settings.data / "ledger.sqlite3").exists():
        raise StoreFailed(
            f"there is no ledger in {settings.data}: name the folder of a `clew up` with --data, "
            "or set CLEW_DATABASE_URL to the database of the services"
        )
    ledger = SqlLedger(settings.database("ledger"))
    try:
        yield ledger
    finally:
        await ledger.close()


async def _newest(settings: Settings, collection: str, limit: int, *, every: bool) -> Sequence[Ticket]:
    async with _ledger(settings) as ledger:
        found = await ledger.tickets(collection, limit=limit, only_open=not every)
    return [ticket for ticket in found if every or _state(ticket) == "open"]


async def _named(settings: Settings, ticket_id: str) -> Ticket | None:
    from clew_services.errors import BadRequest

    async with _ledger(settings) as ledger:
        if (exact := await ledger.ticket(ticket_id)) is not None:
            return exact
        named = await ledger.tickets_named(ticket_id) if ticket_id else ()
        if len(named) > 1:
            raise BadRequest(f"several tickets begin with {ticket_id!r}: write more of the id")
        return await ledger.ticket(named[0].ticket_id) if named else None


def _found(settings: Settings, ticket_id: str) -> Ticket:
    ticket = start(_named(settings, utf8(ticket_id)))
    if ticket is None:
        fail("unknown-ticket", f"there is no ticket {ticket_id!r}: see `clew ticket list`")
    return ticket


def _waiting(settings: Settings, ticket_id: str) -> Ticket:
    """The ticket, if it can be answered. The service decides again: somebody may be faster."""
    ticket = _found(settings, ticket_id)
    state = _state(ticket)
    if state == "expired":
        fail("ticket-expired", f"ticket {ticket.ticket_id} expired at {iso_of(ticket.expires_at)}: ask again")
    if state != "open":
        fail("ticket-closed", f"ticket {ticket.ticket_id} was {state} at {iso_of(ticket.closed_at)}")
    return ticket


def _before(ticket: Ticket) -> Sequence[Triple]:
    """The trace of the run until it paused; nothing of a run that another version wrote."""
    from clew_schema.grading import Trailed
    from clew_translators import bus
    from clew_translators.explain import explain

    try:
        rest = bus.decode(Trailed, ticket.run)
    except bus.NotThisMessage:
        return ()
    told = explain(
        rest.trail,
        session_id=ticket.session_id,
        collection=ticket.collection,
        mechanism="document-rag",
        retrieval_only=True,
    )
    return told.triples if told else ()


def _state(ticket: Ticket) -> str:
    """``open``, ``answered``, ``cancelled``; or ``expired`` for an open one whose time is over."""
    return "expired" if ticket.state == "open" and ticket.expires_at < time.time() else ticket.state


def _as_json(ticket: Ticket) -> dict[str, object]:
    """Every field but the run, times in ISO 8601 and null for what was not yet."""
    values = asdict(ticket)
    del values["run"]
    times = {name: iso_of(values[name]) or None for name in ("opened_at", "expires_at", "closed_at")}
    return values | times | {"state": _state(ticket)}


def _table(tickets: Sequence[Ticket], *, every: bool) -> Table:
    from clew_services.cli.trace_view import clipped, one_line

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name in ("Ticket", "Round"):
        table.add_column(name, no_wrap=True)
    for name in ("Question", "Asks", "Options"):
        table.add_column(name, ratio=1, overflow="fold")
    table.add_column("State" if every else "Expires in", no_wrap=True)
    for ticket in tickets:
        options = "; ".join(
            f"{number}. {one_line(option)}" for number, option in enumerate(ticket.options, 1)
        )
        state = _state(ticket)
        last = left(ticket.expires_at - time.time()).removesuffix(" left") if state == "open" else state
        texts = (clipped(text, 120) for text in (ticket.question, ticket.prompt, options))
        table.add_row(Text(ticket.ticket_id[:8]), Text(str(ticket.round)), *map(Text, texts), Text(last))
    return table
