"""A ledger in memory: for tests, and for a single process that may forget everything when it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clew_services.errors import StoreFailed, TicketClosed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_services.ports import Closing, Record, Ticket


class MemoryLedger:
    """The ports Ledger and Tickets on dictionaries; first writer wins. Its state dies with it."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], Record] = {}
        self._tickets: dict[str, Ticket] = {}
        self._closed = False

    async def lookup(self, step: str, message_id: str) -> Record | None:
        """The record, or null."""
        self._check()
        return self._records.get((step, message_id))

    async def record(
        self, record: Record, *, opens: Ticket | None = None, closes: Closing | None = None
    ) -> Record:
        """Keep ``record`` with what it does to tickets, or return the one that was kept first."""
        self._check()
        key = (record.step, record.message_id)
        if (first := self._records.get(key)) is not None:
            return first
        if closes is not None:
            waiting = self._tickets.get(closes.ticket_id)
            if waiting is None or waiting.state != "open":
                raise not_open(closes.ticket_id, waiting.state if waiting else "")
            self._tickets[closes.ticket_id] = replace(
                waiting,
                state=closes.state,
                answer=closes.answer,
                closed_at=closes.closed_at,
                closed_by=closes.closed_by,
            )
        if opens is not None:
            self._tickets.setdefault(opens.ticket_id, opens)
        self._records[key] = record
        return record

    async def ticket(self, ticket_id: str) -> Ticket | None:
        """The ticket, or null."""
        self._check()
        return self._tickets.get(ticket_id)

    async def tickets(
        self, collection: str, *, limit: int = 100, only_open: bool = False
    ) -> Sequence[Ticket]:
        """The newest of ``collection``, newest first, without their runs."""
        self._check()
        found = [
            replace(ticket, run=b"")
            for ticket in self._tickets.values()
            if ticket.collection == collection and (ticket.state == "open" or not only_open)
        ]
        return sorted(found, key=lambda ticket: (-ticket.opened_at, ticket.ticket_id))[:limit]

    async def prune(self, before: float) -> int:
        """Forget records older than ``before``, and tickets that expired before it; how many records went."""
        self._check()
        old = [key for key, record in self._records.items() if record.recorded_at < before]
        for key in old:
            del self._records[key]
        self._tickets = {
            name: ticket for name, ticket in self._tickets.items() if ticket.expires_at >= before
        }
        return len(old)

    async def close(self) -> None:
        """No further call is answered."""
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise StoreFailed("the ledger store is closed")


def not_open(ticket_id: str, state: str) -> TicketClosed:
    """What somebody is told who closes a ticket that is in ``state``, or gone (``""``)."""
    return TicketClosed(
        f"ticket {ticket_id!r} is {state} already" if state else f"ticket {ticket_id!r} is gone"
    )
