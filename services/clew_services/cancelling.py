"""Cancelling: a row of the ledger says that a run is not wanted any more, and every step looks before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import ids, topics
from clew_schema.cancelling import CancelResponse
from clew_schema.limits import DEFAULT_COLLECTION, MAX_NAME_CHARACTERS
from clew_schema.retrieval import DocumentRagQuery
from clew_services.core.bounds import clip
from clew_services.errors import BadRequest
from clew_services.ports import Outgoing, Record
from clew_services.runtime.outcome import Outcome, Send

if TYPE_CHECKING:
    from clew_schema.cancelling import CancelRequest
    from clew_schema.errors import Error
    from clew_services.ports import Clock, Ledger, Tickets

CANCELLED = "run.cancelled"
"""The step by whose name the ledger knows that a run was cancelled; no message has it."""


def cancelled_name(collection: str, session_id: str) -> str:
    """What that row is found by."""
    return ids.derive("cancelled", collection, session_id)


async def why_cancelled(ledger: Ledger, collection: str, session_id: str) -> str | None:
    """The reason that was given for cancelling the run, ``""`` without one; null if it was not cancelled."""
    row = await ledger.lookup(CANCELLED, cancelled_name(collection, session_id))
    return None if row is None else row.outputs[0].payload.decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRun:
    """Bound to ``topics.CANCEL_REQUEST``. Doing a request twice changes nothing more than doing it once."""

    ledger: Ledger
    tickets: Tickets
    clock: Clock

    async def __call__(self, request: CancelRequest) -> Outcome:
        """Write the row, withdraw what waits for a person, and answer. Raises BadRequest and StoreFailed."""
        if not request.session_id.strip():
            raise BadRequest("session_id: name the run that is to end")
        collection = request.collection or DEFAULT_COLLECTION
        name = cancelled_name(collection, request.session_id)
        known = await self.ledger.lookup(CANCELLED, name)
        reason = clip(request.reason, MAX_NAME_CHARACTERS)
        note = Outgoing(topic=CANCELLED, payload=reason.encode(), properties={"user": request.user})
        await self.ledger.record(
            Record(step=CANCELLED, message_id=name, outputs=(note,), recorded_at=self.clock.now())
        )
        waiting = [
            ticket
            for ticket in await self.tickets.tickets(collection, limit=10_000, only_open=True)
            if ticket.session_id == request.session_id
        ]
        response = CancelResponse(
            session_id=request.session_id,
            collection=collection,
            state="already-cancelled" if known else "cancelled",
            tickets=tuple(ticket.ticket_id for ticket in waiting),
        )
        withdrawals = tuple(
            Send(
                topics.DOCUMENT_RAG_REQUEST,
                DocumentRagQuery(
                    ticket=ticket.ticket_id,
                    cancel=True,
                    collection=collection,
                    session_id=request.session_id,
                    user=request.user,
                ),
            )
            for ticket in waiting
        )
        return Outcome(send=(*withdrawals, Send(topics.CANCEL_RESPONSE, response)))


def cancel_failed(request: CancelRequest | None, error: Error) -> Send[CancelResponse]:
    """The answer to a request that could not be served."""
    session_id = request.session_id if request else ""
    collection = (request.collection or DEFAULT_COLLECTION) if request else ""
    return Send(
        topics.CANCEL_RESPONSE, CancelResponse(session_id=session_id, collection=collection, error=error)
    )
