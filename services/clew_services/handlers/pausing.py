"""A run that waits for a person: how it begins to wait, and how it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import ids, topics
from clew_schema.facts import EvidenceRetrieved, RunPaused, RunResumed, TicketCancelled
from clew_schema.grading import GradingRequest, GradingResponse
from clew_schema.limits import MAX_ROUNDS, TICKET_HOURS
from clew_schema.retrieval import DocumentRagResponse
from clew_services.core.questions import check_question
from clew_services.core.run import read, resumption
from clew_services.errors import TicketClosed, TicketExpired, UnknownTicket
from clew_services.handlers.answering import record
from clew_services.handlers.concurrently import together
from clew_services.ports import Closing, Search, Ticket
from clew_services.runtime.handling import iso
from clew_services.runtime.outcome import Opening, Outcome, Send
from clew_translators import bus

if TYPE_CHECKING:
    from clew_schema.facts import Outcome as RunOutcome
    from clew_schema.facts import PartQuestion
    from clew_schema.retrieval import DocumentRagQuery
    from clew_services.core.run import Run
    from clew_services.ports import Clock, Retriever, Tickets, TicketState


@dataclass(frozen=True, slots=True, kw_only=True)
class Pausing:
    """Opens tickets, and takes their answers. ``rounds`` is how often one run asks, ``hours`` how long it waits.

    Raises UnknownTicket (also for another collection's), TicketClosed, TicketExpired: an answer that comes too late,
    twice or to the wrong place changes nothing, whenever and however often it is delivered.
    """

    tickets: Tickets
    retriever: Retriever
    clock: Clock
    rounds: int = MAX_ROUNDS
    hours: float = TICKET_HOURS

    def pause(self, graded: GradingResponse, run: Run) -> Outcome:
        """Ask the person, and rest until they answer."""
        verdict, now = run.verdict, self.clock.now()
        ticket = Ticket(
            ticket_id=ids.derive("ticket", graded.session_id, run.asked_at, run.rounds + 1),
            session_id=graded.session_id,
            collection=graded.collection,
            question=run.question,
            prompt=verdict.asks,
            options=tuple(text for text in map(str.strip, verdict.options) if text),
            route=verdict.route,
            status=verdict.status,
            round=run.rounds + 1,
            opened_at=now,
            expires_at=now + self.hours * 3600,
        )
        paused = RunPaused(
            ticket=ticket.ticket_id,
            round=ticket.round,
            route=ticket.route,
            status=ticket.status,
            prompt=ticket.prompt,
            options=ticket.options,
            questions=run.waiting,
            expires_at=iso(ticket.expires_at),
        )
        asks: RunOutcome = "needs_clarification" if ticket.route == "clarify" else "needs_scope_selection"
        response = DocumentRagResponse(
            response=ticket.prompt,
            outcome=asks,
            ticket=ticket.ticket_id,
            options=ticket.options,
            expires_at=paused.expires_at,
        )
        return Outcome(
            send=(_final(graded, response, paused),),
            facts=(paused,),
            opens=Opening(ticket=ticket, rest=graded),
        )

    async def go_on(self, query: DocumentRagQuery) -> Outcome:
        """Take the answer, or the wish not to be asked any more."""
        if not query.cancel:
            check_question(query.answer)
        ticket = await self._open(query)
        rest = _rest(ticket, query)
        if query.cancel:
            return self._cancelled(ticket, rest, query.user)
        run = read(rest.trail, rest.query.query)
        questions = resumption(run, query.answer)
        resumed = RunResumed(
            ticket=ticket.ticket_id,
            answer=query.answer,
            from_route=ticket.route,
            from_status=ticket.status,
            questions=questions,
            person=query.user,
        )
        run = read((*rest.trail, resumed), rest.query.query)
        found = await together(*(self._retrieve(rest, run, each) for each in questions))
        request = GradingRequest(session_id=rest.session_id, collection=rest.collection, query=rest.query)
        return Outcome(
            send=(Send(topics.GRADING_REQUEST, request),),
            facts=(resumed, *found),
            run=rest,
            closes=self._closing(ticket, "answered", query.answer),
        )

    async def _retrieve(self, rest: GradingResponse, run: Run, asked: PartQuestion) -> EvidenceRetrieved:
        found = await self.retriever.retrieve(
            rest.collection,
            Search.of(asked.question),
            doc_limit=rest.query.doc_limit,
            fetch_limit=rest.query.fetch_limit,
        )
        return EvidenceRetrieved(
            part=asked.part,
            pass_number=run.branches[asked.part].next_pass,
            stage="hitl_targeted_retrieval",
            query=asked.question,
            evidence=found.evidence,
            rejected=found.rejected,
            retrieval=found.retrieval,
        )

    async def _open(self, query: DocumentRagQuery) -> Ticket:
        ticket = await self.tickets.ticket(query.ticket)
        if ticket is None or ticket.collection != query.collection:
            raise UnknownTicket(
                f"no run of collection {query.collection!r} waits for ticket {query.ticket!r}: see `clew ticket list`"
            )
        if ticket.state != "open":
            raise TicketClosed(
                f"ticket {query.ticket!r} was {ticket.state} at {iso(ticket.closed_at)}: ask the question again"
            )
        if self.clock.now() > ticket.expires_at:
            raise TicketExpired(
                f"ticket {query.ticket!r} expired at {iso(ticket.expires_at)}: ask the question again"
            )
        return ticket

    def _cancelled(self, ticket: Ticket, rest: GradingResponse, person: str) -> Outcome:
        cancelled = TicketCancelled(ticket=ticket.ticket_id, person=person)
        response = DocumentRagResponse(response="", outcome="cancelled", ticket=ticket.ticket_id)
        return Outcome(
            send=(_final(rest, response, cancelled),),
            facts=(cancelled,),
            run=rest,
            closes=self._closing(ticket, "cancelled", ""),
        )

    def _closing(self, ticket: Ticket, state: TicketState, answer: str) -> Closing:
        return Closing(
            ticket_id=ticket.ticket_id,
            state=state,
            answer=answer,
            closed_at=self.clock.now(),
            closed_by="",  # the runtime knows the message
        )


def _rest(ticket: Ticket, query: DocumentRagQuery) -> GradingResponse:
    """The message in which the run rests, answered to whoever answers it."""
    rest = bus.decode(GradingResponse, ticket.run)
    asked = rest.query.model_copy(update={"streaming": query.streaming, "reply": query.reply})
    return rest.model_copy(update={"query": asked})


def _final(
    graded: GradingResponse, response: DocumentRagResponse, fact: RunPaused | TicketCancelled
) -> Send[DocumentRagResponse]:
    return Send(topics.DOCUMENT_RAG_RESPONSE, record(graded, response, (fact,)), to=graded.query.reply)
