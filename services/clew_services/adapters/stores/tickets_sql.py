"""Tickets in SQL: one row per pause, in the ledger's database, so that a record and its ticket are one transaction.

What a person wrote or reads (question, prompt, options, answer) is kept as JSON in ASCII: PostgreSQL has no place for
a character 0 in a text. The message in which the run rests is packed with zlib.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from clew_services.adapters.stores.ledger_memory import not_open
from clew_services.adapters.stores.sql import Batch
from clew_services.ports import Ticket

if TYPE_CHECKING:
    from clew_services.errors import TicketClosed
    from clew_services.ports import Closing

PRUNE_ROWS = 500
"""Tickets that one transaction forgets, so that nobody waits long behind it."""


class _Json(sa.TypeDecorator[Any]):
    """Any text, or a list of them."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: object) -> str:
        """As JSON."""
        del dialect
        return json.dumps(value)

    def process_result_value(self, value: Any, dialect: object) -> Any:
        """As it was."""
        del dialect
        return json.loads(value)


TICKETS = sa.Table(
    "tickets",
    sa.MetaData(),
    sa.Column("ticket_id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, nullable=False),
    sa.Column("collection", sa.Text, nullable=False),
    sa.Column("question", _Json, nullable=False),
    sa.Column("prompt", _Json, nullable=False),
    sa.Column("options", _Json, nullable=False),
    sa.Column("route", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("round", sa.Integer, nullable=False),
    sa.Column("opened_at", sa.Double, nullable=False),
    sa.Column("expires_at", sa.Double, nullable=False, index=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("answer", _Json, nullable=False),
    sa.Column("closed_at", sa.Double, nullable=False),
    sa.Column("closed_by", sa.Text, nullable=False),
    sa.Column("run", sa.LargeBinary, nullable=False),
    sa.Index("ix_tickets_newest", "collection", "opened_at"),
)
_WITHOUT_RUN = sa.select(*(column for column in TICKETS.c if column.name != "run"))
_EXPIRED = (
    sa.select(TICKETS.c.ticket_id).where(TICKETS.c.expires_at < sa.bindparam("before")).limit(PRUNE_ROWS)
)
_PRUNE = sa.delete(TICKETS).where(TICKETS.c.ticket_id.in_(_EXPIRED))


def _each(connection: sa.Connection, calls: Sequence[Callable[[sa.Connection], Any]]) -> Sequence[Any]:
    return [call(connection) for call in calls]


READS: Batch[Callable[[sa.Connection], Any], Any] = Batch(_each, writes=False)
"""Calls that only read, so that they wait for no writer."""


def open_ticket(connection: sa.Connection, ticket: Ticket) -> None:
    """Write ``ticket``; one that exists stays as it is, for a ticket's id says which pause of which run it is."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    row = {column.name: getattr(ticket, column.name) for column in TICKETS.c}
    row["run"] = zlib.compress(ticket.run, 1)
    connection.execute(insert(TICKETS).on_conflict_do_nothing(), row)


def why_not_open(connection: sa.Connection, ticket_id: str) -> TicketClosed | None:
    """Null if the ticket is open, and then it stays so until the transaction ends; else what its closer is told."""
    # SQLite's transaction holds the only write lock; elsewhere this row is locked.
    found = sa.select(TICKETS.c.state).where(TICKETS.c.ticket_id == ticket_id).with_for_update()
    state = connection.execute(found).scalar()
    return None if state == "open" else not_open(ticket_id, state or "")


def close_ticket(connection: sa.Connection, closing: Closing) -> None:
    """Write how a ticket that is open ended."""
    connection.execute(
        sa.update(TICKETS)
        .where(TICKETS.c.ticket_id == closing.ticket_id)
        .values(
            state=closing.state,
            answer=closing.answer,
            closed_at=closing.closed_at,
            closed_by=closing.closed_by,
        )
    )


def read_ticket(connection: sa.Connection, ticket_id: str) -> Ticket | None:
    """The whole ticket, or null."""
    row = connection.execute(sa.select(TICKETS).where(TICKETS.c.ticket_id == ticket_id)).one_or_none()
    return None if row is None else _ticket(row, run=zlib.decompress(row.run))


def newest_tickets(
    connection: sa.Connection, collection: str, *, limit: int, only_open: bool
) -> Sequence[Ticket]:
    """The newest of ``collection``, newest first, without their runs."""
    found = _WITHOUT_RUN.where(TICKETS.c.collection == collection)
    if only_open:
        found = found.where(TICKETS.c.state == "open")
    found = found.order_by(TICKETS.c.opened_at.desc(), TICKETS.c.ticket_id).limit(limit)
    return [_ticket(row) for row in connection.execute(found)]


def tickets_named(connection: sa.Connection, beginning: str, limit: int) -> Sequence[Ticket]:
    """At most ``limit`` tickets of any collection whose id begins so, without their runs."""
    begins = sa.func.substr(TICKETS.c.ticket_id, 1, len(beginning)) == beginning
    found = _WITHOUT_RUN.where(begins).order_by(TICKETS.c.ticket_id).limit(limit)
    return [_ticket(row) for row in connection.execute(found)]


def prune_tickets(connection: sa.Connection, before: float) -> bool:
    """Forget tickets that expired before ``before``; whether there may be more."""
    return connection.execute(_PRUNE, {"before": before}).rowcount == PRUNE_ROWS


def _ticket(row: sa.Row[Any], *, run: bytes = b"") -> Ticket:
    values = {**row._asdict(), "options": tuple(row.options), "run": run}
    return Ticket(**values)
