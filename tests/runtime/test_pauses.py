"""A run that pauses and goes on: what becomes of its ticket, of whoever answers, and of everybody who comes too late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from clew_schema import ids, topics
from clew_schema.facts import EvidenceRetrieved, QuestionAsked, RunPaused, RunResumed
from clew_schema.grading import GradingRequest, GradingResponse
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse, ReturnAddress
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.client import Client
from clew_services.errors import RetrievalFailed, TicketClosed, UnknownTicket
from clew_services.ports import Closing, Outgoing, Ticket
from clew_services.runtime.consume import Consumer
from clew_services.runtime.outcome import Opening, Outcome, Send
from clew_services.runtime.process import Processor
from clew_services.runtime.respond import DocumentRagCaller
from clew_services.runtime.step import Step
from clew_translators import bus as wire
from tests.runtime.world import World

Store = MemoryLedger | SqlLedger
ASKED = DocumentRagQuery(query="How long?", session_id="5e1f", collection="c", streaming=True)
TICKET = "ticket-of-5e1f"
ANSWER = DocumentRagQuery(ticket=TICKET, answer="the red one", collection="c")


@dataclass
class Pausing:
    """A plan step that asks a person first, and looks up what is answered; ``failures`` are raised by the look-up."""

    store: Store
    world: World | None = None
    failures: list[Exception] = field(default_factory=list)
    gate: asyncio.Event | None = None

    async def __call__(self, query: DocumentRagQuery) -> Outcome:
        if not query.ticket:
            return self.pause(query)
        ticket = await self.store.ticket(query.ticket)
        if ticket is None or ticket.collection != query.collection:
            raise UnknownTicket(f"nobody waits for {query.ticket}")
        if self.gate is not None:
            await self.gate.wait()
        if ticket.state != "open":
            raise TicketClosed(f"ticket {query.ticket} was answered")
        if self.failures:
            raise self.failures.pop(0)
        return self.go_on(ticket, query)

    def pause(self, query: DocumentRagQuery) -> Outcome:
        ticket = Ticket(
            ticket_id=f"ticket-of-{query.session_id}",
            session_id=query.session_id,
            collection=query.collection,
            question=query.query,
            prompt="Which?",
            opened_at=1.0,
            expires_at=2e9,
        )
        response = DocumentRagResponse(
            response="Which?", end_of_session=True, ticket=ticket.ticket_id, message_type="end"
        )
        paused = RunPaused(
            ticket=ticket.ticket_id, route="clarify", status="needs_clarification", prompt="Which?"
        )
        rest = GradingResponse(session_id=query.session_id, collection=query.collection, query=query)
        return Outcome(
            send=(Send(topics.DOCUMENT_RAG_RESPONSE, response, to=query.reply),),
            facts=(paused,),
            opens=Opening(ticket=ticket, rest=rest),
        )

    def go_on(self, ticket: Ticket, query: DocumentRagQuery) -> Outcome:
        rest = wire.decode(GradingResponse, ticket.run)
        request = GradingRequest(session_id=rest.session_id, collection=rest.collection, query=rest.query)
        resumed = RunResumed(
            ticket=ticket.ticket_id,
            answer=query.answer,
            from_route="clarify",
            from_status="needs_clarification",
        )
        return Outcome(
            send=(Send(topics.GRADING_REQUEST, request),),
            facts=(resumed, EvidenceRetrieved(query=query.answer, pass_number=2)),
            run=rest,
            closes=Closing(
                ticket_id=ticket.ticket_id, state="answered", answer=query.answer, closed_at=3.0, closed_by=""
            ),
        )


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryLedger() if request.param == "memory" else SqlLedger(f"sqlite:///{tmp_path}/ledger.db")


def pausing(store: Store, **changes: Any) -> World:
    handler = Pausing(store, **changes)
    return World(handler=handler, ledger=store)


async def settled(world: World, until: Callable[[], object]) -> None:
    """Let everything run; a store on disk takes real time."""
    for _ in range(400):
        await world.settle()
        if until():
            return
        await asyncio.sleep(0.005)
    pytest.fail("it did not come to that")


async def paused(world: World) -> None:
    await world.ask(ASKED, id="who asked", message_id="m-1")
    await settled(world, lambda: world.backlog() == 0)


def resumed(world: World) -> list[GradingRequest]:
    return [body for body, _ in world.on(topics.GRADING_REQUEST)]


def errors(world: World) -> list[str]:
    return [body.error.type for body, _ in world.told() if body.error]


async def tried_again(world: World, times: int) -> None:
    """Let ``times`` attempts fail, and the time pass until the next."""
    name = world.space.retry("document-rag-request", "document-rag")
    for number in range(1, times + 1):
        await settled(world, lambda n=number: len(world.bus.messages(name)) == n)  # type: ignore[misc]
        for _ in range(20):  # until the copy is received and its receiver sleeps
            await world.settle()
            await asyncio.sleep(0)
        await world.clock.advance(3600)


async def state(store: Store) -> str:
    found = await store.ticket(TICKET)
    return found.state if found else ""


async def test_a_run_rests_with_its_whole_trail(store: Store) -> None:
    async with pausing(store) as world:
        await paused(world)
        ticket = await store.ticket(TICKET)
        assert ticket is not None
        rest = wire.decode(GradingResponse, ticket.run)
        assert rest.query == ASKED
        assert [type(fact) for fact in rest.trail] == [QuestionAsked, RunPaused]
        assert {fact.step for fact in rest.trail} == {"document-rag.plan"}
        assert all(fact.ended_at for fact in rest.trail)
    await store.close()


async def test_an_answer_continues_the_run_for_the_one_who_answers(store: Store) -> None:
    async with pausing(store) as world:
        await paused(world)
        await world.ask(ANSWER, id="who answers", message_id="m-2", reply_to="mine", deadline=2**43)
        await settled(world, lambda: resumed(world))
        ((request, envelope),) = world.on(topics.GRADING_REQUEST)
        assert (request.session_id, request.collection, request.query) == ("5e1f", "c", ASKED)
        assert [type(fact) for fact in request.trail] == [
            QuestionAsked,
            RunPaused,
            RunResumed,
            EvidenceRetrieved,
        ]
        assert (envelope.id, envelope.session_id, envelope.reply_to) == ("who answers", "5e1f", "mine")
        assert envelope.deadline == 2**43
        batch = world.batches()[-1]
        assert batch.metadata is not None
        assert (batch.metadata.root, batch.metadata.collection) == ("urn:trustgraph:docrag:5e1f", "c")
        ((explained, heard),) = world.told("mine")
        assert (explained.message_type, explained.session_id, heard.id) == ("explain", "5e1f", "who answers")
        ticket = await store.ticket(TICKET)
        assert ticket is not None
        assert (ticket.state, ticket.answer) == ("answered", "the red one")
        assert ticket.closed_by == ids.cause("m-2", "who answers", wire.encode(ANSWER))
    await store.close()


async def test_the_question_is_told_once(store: Store) -> None:
    asked = "https://trustgraph.ai/ns/query"
    async with pausing(store) as world:
        await paused(world)
        await world.ask(ANSWER, id="who answers")
        await settled(world, lambda: resumed(world))
        told = {
            (t.s.iri, t.o.value)
            for batch in world.batches()
            for t in batch.triples
            if t.p and t.p.iri == asked and t.s and t.o and t.g == "urn:graph:retrieval"
        }
        assert [iri for iri, value in told if value == "How long?"] == ["urn:trustgraph:docrag:5e1f"]
        assert "" not in {value for _, value in told}
    await store.close()


async def test_an_answer_of_no_session_and_one_of_its_own_go_on_alike(store: Store) -> None:
    async with pausing(store) as world:
        await paused(world)
        await world.ask(ANSWER.model_copy(update={"session_id": "another"}))
        await settled(world, lambda: resumed(world))
        assert [body.session_id for body in resumed(world)] == ["5e1f"]
    await store.close()


async def test_the_same_answer_again_changes_nothing(store: Store) -> None:
    async with pausing(store) as world:
        await paused(world)
        for _ in range(3):
            await world.ask(ANSWER, message_id="m-2")
            await settled(world, lambda: world.backlog() == 0)
        assert len({e.message_id for _, e in world.on(topics.GRADING_REQUEST)}) == 1
        assert not errors(world)
        assert len(world.asked) == 2
    await store.close()


async def test_the_same_answer_in_another_message_is_late(store: Store) -> None:
    async with pausing(store) as world:
        await paused(world)
        await world.ask(ANSWER, message_id="m-2")
        await settled(world, lambda: resumed(world))
        for _ in range(2):
            await world.ask(ANSWER, message_id="m-3", id="late")
            await settled(world, lambda: world.backlog() == 0)
        late = [(b, e) for b, e in world.told() if e.id == "late"]
        assert len({e.message_id for _, e in late}) == 1
        body, envelope = late[0]
        assert (body.error and body.error.type, body.end_of_session) == ("ticket-closed", True)
        assert (
            body.session_id
            == envelope.session_id
            == ids.session_id(ids.cause("m-3", "late", wire.encode(ANSWER)))
        )
        assert body.explain_id is None
        assert len(resumed(world)) == 1
        assert not world.letters()
    await store.close()


async def test_no_failure_is_told_of_a_run_because_somebody_came_late(store: Store) -> None:
    async with pausing(store) as world:
        await paused(world)
        await world.ask(ANSWER, message_id="m-2")
        await settled(world, lambda: resumed(world))
        before = len(world.batches())
        await world.ask(ANSWER.model_copy(update={"session_id": "5e1f"}), message_id="m-3")
        await settled(world, lambda: errors(world))
        assert errors(world) == ["ticket-closed"]
        assert len(world.batches()) == before, "the run that goes on did not fail"
    await store.close()


async def test_another_collections_ticket_is_as_unknown_as_none(store: Store) -> None:
    async with pausing(store) as world:
        await paused(world)
        foreign = ANSWER.model_copy(update={"collection": "theirs"})
        unknown = ANSWER.model_copy(update={"ticket": "no-such-ticket", "collection": "theirs"})
        for number, body in enumerate((foreign, unknown)):
            await world.ask(body, id=f"thief-{number}", session_id="")
        await settled(world, lambda: len(errors(world)) == 2)
        told = [b for b, e in world.told() if e.id.startswith("thief")]
        plain = [
            b.model_dump_json().replace(t.ticket, "T").replace(b.session_id, "S")
            for b, t in zip(told, (foreign, unknown), strict=True)
        ]
        assert plain[0] == plain[1]
        assert '"type":"unknown-ticket"' in plain[0]
        assert await state(store) == "open"
    await store.close()


# --- two processes --------------------------------------------------------------------------------


async def other_process(world: World) -> Consumer:
    """A second consumer that shares nothing with the first but bus and ledger."""
    consumer = world.new_consumer(replace(world.processor, _in_hand={}))
    await consumer.start()
    return consumer


@pytest.mark.parametrize("second", [Processor, None], ids=["two processes", "one process"])
async def test_of_two_answers_at_the_same_time_one_is_taken(store: Store, second: object) -> None:
    gate = asyncio.Event()
    async with pausing(store, gate=gate) as world:
        await paused(world)
        consumer = await other_process(world) if second else None
        answers = [ANSWER.model_copy(update={"answer": text}) for text in ("red", "blue")]
        for query in answers:
            await world.ask(query, id=query.answer, message_id=query.answer)
        await settled(world, lambda: len(world.asked) == 3)
        gate.set()
        await settled(world, lambda: world.backlog() == 0)
        ((request, envelope),) = world.on(topics.GRADING_REQUEST)
        (fact,) = [f for f in request.trail if isinstance(f, RunResumed)]
        assert fact.answer == envelope.id
        (loser,) = {"red", "blue"} - {fact.answer}
        ((body, _),) = [(b, e) for b, e in world.told() if b.error]
        assert body.error is not None
        assert (body.error.type, body.error.message) == (
            "ticket-closed",
            f"ticket '{TICKET}' is answered already",
        )
        for text in (loser, fact.answer):  # whoever is delivered again is told what was said before
            await world.ask(
                DocumentRagQuery(**(ANSWER.model_dump() | {"answer": text})), id=text, message_id=text
            )
        await settled(world, lambda: world.backlog() == 0)
        assert len({e.message_id for _, e in world.on(topics.GRADING_REQUEST)}) == 1
        assert len({(e.id, e.message_id) for b, e in world.told() if b.error}) == 1
        assert "step_done" in world.log.names()
        assert not world.letters()
        if consumer:
            await consumer.stop()
    await store.close()


async def test_the_same_answer_in_two_processes_at_once_is_one(store: Store) -> None:
    gate = asyncio.Event()
    async with pausing(store, gate=gate) as world:
        await paused(world)
        consumer = await other_process(world)
        for _ in range(20):  # more than one consumer takes at once
            await world.ask(ANSWER, message_id="m-2")
        await settled(world, lambda: len(world.asked) == 3)
        gate.set()
        await settled(world, lambda: world.backlog() == 0)
        assert len({e.message_id for _, e in world.on(topics.GRADING_REQUEST)}) == 1
        assert not errors(world)
        await consumer.stop()
    await store.close()


async def test_a_process_that_dies_between_record_and_publish_loses_no_answer(store: Store) -> None:
    broken = True

    def fails(message: Outgoing) -> bool:
        return broken and message.topic.endswith("/grading-request")

    async with World(handler=Pausing(store), ledger=store, fail_publish=fails) as world:
        await paused(world)
        await world.ask(ANSWER, message_id="m-2")
        await settled(world, lambda: "settle_failed" in world.log.names())
        assert await state(store) == "answered"
        assert not resumed(world)
        broken = False
        world.bus.crash()
        second = world.new_consumer(replace(world.processor, _in_hand={}))
        await second.start()
        await settled(world, lambda: world.backlog() == 0)
        assert [type(f) for f in resumed(world)[0].trail] == [
            QuestionAsked,
            RunPaused,
            RunResumed,
            EvidenceRetrieved,
        ]
        assert len(world.asked) == 2, "what was recorded is published, and nobody is asked again"
        assert not errors(world)
        await second.stop()
    await store.close()


# --- failures -------------------------------------------------------------------------------------


async def test_an_answer_that_could_not_be_looked_up_leaves_the_ticket_open(store: Store) -> None:
    down: list[Exception] = [RetrievalFailed("down")] * 5
    async with pausing(store, failures=down) as world:
        await paused(world)
        before = len(world.batches())
        await world.ask(ANSWER.model_copy(update={"session_id": "mine"}), id="who answers", message_id="m-2")
        await tried_again(world, 4)
        await settled(world, lambda: errors(world))
        ((body, envelope),) = [(b, e) for b, e in world.told() if b.error]
        assert (body.error and body.error.type, body.session_id, envelope.id) == (
            "retrieval-failed",
            "mine",
            "who answers",
        )
        assert await state(store) == "open"
        assert len(world.batches()) == before, "no run failed: it still waits"
        (letter,) = world.letters()
        assert letter.session_id == "mine"
        await world.ask(ANSWER, message_id="m-3")
        await settled(world, lambda: resumed(world))
        assert await state(store) == "answered"
    await store.close()


async def test_an_answer_that_is_retried_goes_on_and_can_be_sent_again(store: Store) -> None:
    async with pausing(store, failures=[RetrievalFailed("down")]) as world:
        await paused(world)
        await world.ask(ANSWER, message_id="m-2")
        await tried_again(world, 1)
        await settled(world, lambda: resumed(world))
        await world.ask(ANSWER, message_id="m-2")
        await settled(world, lambda: world.backlog() == 0)
        assert len({e.message_id for _, e in world.on(topics.GRADING_REQUEST)}) == 1
        assert not errors(world)
    await store.close()


async def test_no_message_reaches_into_a_run_of_another_collection() -> None:
    async def careless(query: DocumentRagQuery) -> Outcome:
        return Outcome(run=GradingResponse(session_id="theirs", collection="theirs", query=query))

    async with World(handler=careless) as world:
        await world.ask(ANSWER)
        await tried_again(world, 1)
        await world.settle()
        assert errors(world) == ["internal-error"]
        assert len(world.letters()) == 1


async def test_a_step_without_a_record_opens_and_closes_no_ticket() -> None:
    store = MemoryLedger()
    world = World(handler=Pausing(store), ledger=store)
    step = Step(
        name="document-rag.plan",
        topic=topics.DOCUMENT_RAG_REQUEST,
        handle=Pausing(store),
        caller=DocumentRagCaller(),
        recorded=False,
    )
    consumer = Consumer(step, world.processor, world.brake)
    await consumer.start()
    await world.ask(ASKED)
    await tried_again(world, 1)
    await world.settle()
    assert errors(world) == ["internal-error"]
    assert await state(store) == ""
    await consumer.stop()
    await world.bus.close()


async def test_the_return_address_is_that_of_the_run_and_not_of_the_answer() -> None:
    store = MemoryLedger()
    async with World(handler=Pausing(store), ledger=store) as world:
        address = ReturnAddress(topic="agent-observation", correlation="tool-1", state="s")
        await world.ask(ASKED.model_copy(update={"reply": address}))
        await world.settle()
        ((body, envelope),) = world.told("agent-observation")
        assert (body.ticket, envelope.id) == (TICKET, "tool-1")
        await world.ask(ANSWER)
        await world.settle()
        (request,) = resumed(world)
        assert request.query.reply == address
        assert not world.told(), "explanations of a tool's run are not sent inline"


async def test_a_client_hears_the_run_that_its_answer_continues() -> None:
    store = MemoryLedger()
    async with World(handler=Pausing(store), ledger=store) as world, Client(world.bus) as client:
        first = await client.answer(ASKED)
        assert first.ticket == TICKET
        hearing = client.ask(ANSWER.model_copy(update={"session_id": "of its own"}))
        explained = await anext(hearing)
        assert (explained.body.message_type, explained.body.session_id) == ("explain", "5e1f")
        ((request, envelope),) = world.on(topics.GRADING_REQUEST)
        final = DocumentRagResponse(response="7 m", end_of_session=True, session_id=request.session_id)
        await world.bus.publish(
            Outgoing(
                topic=world.space.full("document-rag-response"),
                payload=wire.encode(final),
                properties=envelope.properties(),
            )
        )
        assert [heard.body.response async for heard in hearing] == ["7 m"]
        refused = await client.answer(ANSWER)
        assert refused.error is not None
        assert refused.error.type == "ticket-closed"
