"""The fate of a message: what the one settling place promises."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from clew_schema import ids, topics
from clew_schema.facts import QuestionAsked
from clew_schema.retrieval import DocumentRagQuery, ReturnAddress
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.errors import (
    BadRequest,
    ClewError,
    ModelBusy,
    ModelFailed,
    ModelReplyInvalid,
    RetrievalFailed,
    StoreFailed,
)
from clew_services.ports import Closing, Emit, Outgoing, Record, Ticket
from clew_services.runtime.brake import Brake
from clew_services.runtime.outcome import Outcome
from clew_translators import bus as wire
from tests.runtime.world import World, answered

QUERY = DocumentRagQuery(query="Does it?", session_id="5e1f", collection="c")
TG_QUERY = "https://trustgraph.ai/ns/query"


def failing(*errors: Exception) -> Callable[[DocumentRagQuery], Awaitable[Outcome]]:
    """A handler that fails with each of ``errors`` in turn, then answers."""
    left = list(errors)

    async def handle(query: DocumentRagQuery) -> Outcome:
        if left:
            raise left.pop(0)
        return answered(query)

    return handle


async def test_an_answer_is_recorded_published_once_and_acknowledged() -> None:
    async with World() as world:
        await world.ask(QUERY)
        await world.settle()
        ((response, envelope),) = world.told()
        assert (response.response, response.end_of_session) == ("yes", True)
        assert (response.session_id, response.collection) == ("5e1f", "c")
        assert (envelope.id, envelope.session_id) == ("caller-1", "5e1f")
        assert ids.is_uuid(envelope.message_id)
        assert world.backlog() == 0
        (batch,) = world.batches()
        assert batch.metadata is not None
        assert batch.metadata.collection == "c"
        assert batch.metadata.root == "urn:trustgraph:docrag:5e1f"


async def test_the_whole_trace_comes_inline_with_the_answer_of_a_caller_who_does_not_stream() -> None:
    async with World() as world:
        await world.ask(QUERY)
        await world.settle()
        ((response, _),) = world.told()
        assert response.explain_graph == "urn:graph:retrieval"
        assert response.explain_id == "urn:trustgraph:docrag:5e1f"
        said = [t.o.value for t in response.explain_triples if t.p and t.p.iri == TG_QUERY and t.o]
        assert said == ["Does it?"]


async def test_a_caller_who_streams_gets_each_explanation_as_a_message_and_the_text_in_pieces() -> None:
    async def stream(query: DocumentRagQuery, emit: Emit) -> Outcome:
        await emit("ye")
        await emit("s")
        return answered(query)

    async with World(stream=stream) as world:
        await world.ask(QUERY.model_copy(update={"streaming": True}))
        await world.settle()
        told = world.told()
        assert [b.message_type for b, _ in told] == ["chunk", "chunk", "explain", "end"]
        assert [b.response for b, _ in told] == ["ye", "s", None, "yes"]
        assert [e.other.get("sequence") for e in (e for _, e in told[:2])] == ["0", "1"]
        assert told[2][0].explain_triples
        assert not told[3][0].explain_triples


async def test_failures_that_may_pass_are_retried_with_growing_delay_then_answered() -> None:
    handler = failing(RetrievalFailed("down"), ModelFailed("slow"))
    async with World(handler=handler) as world:
        await world.ask(QUERY)
        await world.settle()
        assert not world.told()
        await world.clock.advance(0.5)
        await world.settle()
        assert not world.told()
        await world.clock.advance(0.9)
        await world.settle()
        assert len(world.asked) == 2, "the second delay is a second"
        await world.clock.advance(0.1)
        await world.settle()
        assert [b.response for b, _ in world.told()] == ["yes"]
        attempts = [
            e.attempt
            for _, e in world.on(topics.DOCUMENT_RAG_REQUEST, "document-rag-request.document-rag.retry")
        ]
        assert attempts == [2, 3]
        assert not world.letters()


async def test_the_delayed_copy_waits_also_on_a_broker_that_ignores_delays() -> None:
    async with World(handler=failing(RetrievalFailed("down")), honour_delays=False) as world:
        await world.ask(QUERY)
        await world.settle()
        await world.clock.advance(0.4)
        await world.settle()
        assert len(world.asked) == 1
        await world.clock.advance(0.1)
        await world.settle()
        assert len(world.asked) == 2
        assert len(world.told()) == 1


async def test_a_service_that_says_when_to_come_back_is_believed() -> None:
    async with World(handler=failing(ModelBusy("later", retry_after=7.0))) as world:
        await world.ask(QUERY)
        await world.settle()
        await world.clock.advance(6.9)
        await world.settle()
        assert len(world.asked) == 1
        await world.clock.advance(0.2)
        await world.settle()
        assert len(world.told()) == 1


async def test_a_failure_that_does_not_pass_is_buried_explained_and_answered() -> None:
    async def down(_: DocumentRagQuery) -> Outcome:
        raise RetrievalFailed("the store is down")

    async with World(handler=down) as world:
        await world.ask(QUERY)
        for _ in range(6):
            await world.settle()
            await world.clock.advance(60)
        await world.settle()
        assert len(world.asked) == 5
        ((response, envelope),) = world.told()
        assert response.error is not None
        assert response.error.type == "retrieval-failed"
        assert (response.end_of_stream, response.end_of_session) == (True, True)
        assert envelope.id == "caller-1"
        (letter,) = world.letters()
        assert letter.error.type == "retrieval-failed"
        assert (letter.attempt, letter.session_id, letter.collection) == (5, "5e1f", "c")
        assert DocumentRagQuery.model_validate_json(letter.payload) == QUERY
        assert world.batches(), "an explained trace"
        assert world.backlog() == 0


async def test_a_refusal_is_answered_at_once_and_leaves_no_letter() -> None:
    async with World(handler=failing(BadRequest("say what you want"))) as world:
        await world.ask(QUERY.model_copy(update={"streaming": True}))
        await world.settle()
        ends = [b for b, _ in world.told() if b.end_of_session]
        assert [(b.error and b.error.type, b.end_of_stream, b.message_type) for b in ends] == [
            ("bad-request", True, "end")
        ]
        assert not world.letters()
        assert "step_refused" in world.log.names()


@pytest.mark.parametrize(
    "payload",
    [b"", b"garbage", b"\xff\xfe", b"[]", b'{"query": 5}', b'{"query": "q", "streaming": "no"}', b"{" * 5000],
)
async def test_garbage_becomes_a_letter_and_an_error_and_no_consumer_dies(payload: bytes) -> None:
    async with World() as world:
        await world.ask(payload)
        await world.ask(QUERY, id="caller-2")
        await world.settle()
        by_caller = {e.id: b for b, e in world.told()}
        error = by_caller["caller-1"].error
        assert error is not None
        assert error.type == "unreadable"
        assert by_caller["caller-1"].end_of_session
        assert by_caller["caller-2"].response == "yes"
        (letter,) = world.letters()
        assert letter.topic == "persistent://public/default/document-rag-request"
        assert letter.encoding == ("base64" if payload.startswith(b"\xff") else "utf-8")
        assert world.consumer.ready


async def test_a_bug_is_tried_twice_and_its_text_stays_inside() -> None:
    async def bug(_: DocumentRagQuery) -> Outcome:
        raise KeyError("secret-value")

    async with World(handler=bug) as world:
        await world.ask(QUERY)
        for _ in range(3):
            await world.settle()
            await world.clock.advance(60)
        await world.settle()
        assert len(world.asked) == 2
        ((response, _),) = world.told()
        assert response.error is not None
        assert response.error.type == "internal-error"
        assert "secret-value" not in response.error.message
        assert "secret-value" not in world.letters()[0].model_dump_json()


async def test_a_crash_between_record_and_publish_repeats_the_bytes_and_asks_nobody() -> None:
    broken = {"yes": True}
    async with World(fail_publish=lambda m: broken["yes"] and "response" in m.topic) as world:
        await world.ask(QUERY)
        await world.settle()
        assert not world.told()
        assert "settle_failed" in world.log.names()
        first = world.bus.messages(world.space.full("explainability"))
        broken["yes"] = False
        await world.clock.advance(1)
        await world.settle()
        assert len(world.told()) == 1
        assert len(world.asked) == 1, "the record exists: no one is asked again"
        again = world.bus.messages(world.space.full("explainability"))
        assert again[-1] == first[0], "the same bytes under the same id"


async def test_a_process_that_dies_before_the_acknowledgement_changes_nothing() -> None:
    async with World(fail_ack=lambda _: True) as world:
        await world.ask(QUERY)
        await world.settle()
        world.bus.crash()
        second = world.new_consumer()
        await second.start()
        await world.settle()
        assert len(world.asked) == 1
        message_ids = {e.message_id for _, e in world.told()}
        assert len(message_ids) == 1
        await second.stop()


async def test_the_same_message_twice_at_once_is_handled_once() -> None:
    gate = asyncio.Event()

    async def slow(query: DocumentRagQuery) -> Outcome:
        await gate.wait()
        return answered(query)

    async with World(handler=slow) as world:
        await world.ask(QUERY, message_id="m-1")
        await world.ask(QUERY, message_id="m-1")
        await world.settle()
        gate.set()
        await world.settle()
        assert len(world.asked) == 1
        assert len({e.message_id for _, e in world.told()}) == 1


async def test_who_records_first_wins() -> None:
    class Raced(MemoryLedger):
        async def record(
            self, record: Record, *, opens: Ticket | None = None, closes: Closing | None = None
        ) -> Record:
            other = Outgoing(topic="persistent://public/default/document-rag-response", payload=b"{}")
            await super().record(
                Record(
                    step=record.step,
                    message_id=record.message_id,
                    outputs=(other,),
                    recorded_at=record.recorded_at,
                )
            )
            return await super().record(record, opens=opens, closes=closes)

    async with World(ledger=Raced()) as world:
        await world.ask(QUERY)
        await world.settle()
        assert [b.response for b, _ in world.told()] == [""], "the other process's decision is published"


async def test_a_ledger_that_is_down_loses_nothing() -> None:
    class Down(MemoryLedger):
        up = False

        async def lookup(self, step: str, message_id: str) -> Record | None:
            if not self.up:
                raise StoreFailed("down")
            return await super().lookup(step, message_id)

    ledger = Down()
    async with World(ledger=ledger) as world:
        await world.ask(QUERY)
        await asyncio.sleep(0.01)
        assert not world.asked
        ledger.up = True
        await world.clock.advance(1)
        await world.settle()
        assert len(world.told()) == 1


async def test_no_more_than_the_width_is_in_hand() -> None:
    gate, in_hand, most = asyncio.Event(), 0, 0

    async def slow(query: DocumentRagQuery) -> Outcome:
        nonlocal in_hand, most
        in_hand += 1
        most = max(most, in_hand)
        await gate.wait()
        in_hand -= 1
        return answered(query)

    async with World(handler=slow, width=4) as world:
        for number in range(20):
            await world.ask(QUERY, id=str(number))
        await world.settle()
        assert 2 <= most <= 4
        gate.set()
        await world.settle()
        assert len(world.told()) == 20


async def test_stopping_finishes_what_is_in_hand_and_hands_back_the_rest() -> None:
    gate = asyncio.Event()

    async def slow(query: DocumentRagQuery) -> Outcome:
        await gate.wait()
        return answered(query)

    async with World(handler=slow, width=3) as world:
        for number in range(9):
            await world.ask(QUERY, id=str(number))
        await world.settle()
        begun = len(world.asked)
        stopping = asyncio.create_task(world.consumer.stop())
        await world.settle()
        assert not stopping.done(), "it waits for what is in hand"
        gate.set()
        await stopping
        assert len(world.told()) == begun
        assert world.backlog() == 9 - begun
        again = world.new_consumer()
        await again.start()
        await world.settle()
        assert len({e.id for _, e in world.told()}) == 9
        await again.stop()


async def test_a_copy_that_is_not_due_is_handed_back_on_stop() -> None:
    async with World(handler=failing(RetrievalFailed("down")), honour_delays=False) as world:
        await world.ask(QUERY)
        await world.settle()
        await world.consumer.stop()
        retry = world.space.retry("document-rag-request", "document-rag")
        assert world.bus.backlog(retry, "document-rag.plan") == 1


async def test_the_brake_stops_a_consumer_that_only_buries() -> None:
    async def broken(_: DocumentRagQuery) -> Outcome:
        raise ModelReplyInvalid("prose")

    async with World(handler=broken, brake=Brake(limit=3), width=2) as world:
        for number in range(10):
            await world.ask(QUERY, id=str(number))
        await world.settle()
        assert 3 <= len(world.letters()) <= 5
        assert world.backlog() >= 5
        assert not world.consumer.ready
        assert "brake_on" in world.log.names()


async def test_a_success_releases_the_brake() -> None:
    brake = Brake(limit=3)
    errors: list[ClewError] = [ModelReplyInvalid("a"), ModelReplyInvalid("b")]
    async with World(handler=failing(*errors), brake=brake) as world:
        for number in range(3):
            await world.ask(QUERY, id=str(number))
            await world.settle()
        brake.pull()
        assert not brake.on


async def test_a_callers_own_response_topic_is_used() -> None:
    async with World() as world:
        await world.ask(QUERY, reply_to="persistent://public/default/mine")
        await world.settle()
        assert not world.told()
        assert len(world.told("mine")) == 1


@pytest.mark.parametrize("elsewhere", ["persistent://other/ns/theirs", "non-persistent://public/private/x"])
async def test_nobody_is_answered_outside_our_topics(elsewhere: str) -> None:
    async with World() as world:
        await world.ask(QUERY, reply_to=elsewhere)
        await world.ask(QUERY.model_copy(update={"reply": ReturnAddress(topic=elsewhere)}), id="caller-2")
        await world.settle()
        assert [b.error and b.error.type for b, _ in world.told()] == ["forbidden", "forbidden"]
        assert elsewhere not in world.bus.topics()
        assert not world.asked


async def test_a_return_address_gets_the_answer_and_its_state_back() -> None:
    async def handle(query: DocumentRagQuery) -> Outcome:
        outcome = answered(query)
        (send,) = outcome.send
        state = query.reply.state if query.reply else ""
        body = send.body.model_copy(update={"state": state})
        return Outcome(send=(type(send)(send.topic, body, to=send.to),), facts=outcome.facts)

    query = QUERY.model_copy(
        update={"reply": ReturnAddress(topic="agent-observation", correlation="other", state="s")}
    )
    async with World(handler=handle) as world:
        await world.ask(query)
        await world.settle()
        assert not world.told()
        ((response, envelope),) = world.told("agent-observation")
        assert (response.state, envelope.id) == ("s", "other")


async def test_an_error_goes_to_the_return_address_too() -> None:
    query = QUERY.model_copy(update={"reply": ReturnAddress(topic="agent-observation", state="s")})
    async with World(handler=failing(BadRequest("no"))) as world:
        await world.ask(query)
        await world.settle()
        ((response, envelope),) = world.told("agent-observation")
        assert response.error is not None
        assert (response.state, envelope.id) == ("s", "caller-1")


async def test_a_deadline_that_has_passed_is_refused_before_anything_is_spent() -> None:
    async with World() as world:
        await world.ask(QUERY, deadline=int(world.clock.now() * 1000) - 1)
        await world.settle()
        assert not world.asked
        assert [b.error and b.error.type for b, _ in world.told()] == ["deadline-exceeded"]


async def test_what_would_be_tried_again_after_the_deadline_ends_at_once() -> None:
    """Half a second later nobody would wait any more; before that, it is tried again."""
    async with World(handler=failing(*(ModelFailed("away") for _ in range(9)))) as world:
        await world.ask(QUERY, id="hurried", deadline=int((world.clock.now() + 0.3) * 1000))
        await world.ask(QUERY, id="patient", deadline=int((world.clock.now() + 1.2) * 1000))
        await world.settle()
        told = {envelope.id: body.error for body, envelope in world.told()}
        assert [(name, error.type) for name, error in told.items() if error] == [
            ("hurried", "deadline-exceeded")
        ]
        assert "away" in str(told["hurried"])
        await world.clock.advance(0.6)
        await world.settle()
        assert [envelope.id for _, envelope in world.told()] == ["hurried", "patient"]
        assert len(world.asked) == 3
        assert not world.letters()


async def test_a_request_without_a_session_gets_one_that_a_replay_gives_again() -> None:
    async with World() as world:
        question = DocumentRagQuery(query="q")
        await world.ask(question, message_id="m")
        await world.settle()
        ((response, _),) = world.told()
        assert response.session_id == ids.session_id(ids.cause("m", "caller-1", wire.encode(question)))
        assert response.collection == "default"
        assert world.batches()


async def test_an_effect_that_no_broker_carries_is_a_letter_not_a_loop() -> None:
    async def large(query: DocumentRagQuery) -> Outcome:
        return answered(query, "x" * (5 * 1024 * 1024))

    async with World(handler=large) as world:
        await world.ask(QUERY)
        await world.settle()
        assert [letter.error.type for letter in world.letters()] == ["too-large"]
        assert [b.error and b.error.type for b, _ in world.told()] == ["too-large"]


async def test_a_dead_letter_topic_that_is_down_keeps_the_message() -> None:
    down = {"yes": True}
    async with World(
        handler=failing(ModelReplyInvalid("prose")),
        fail_publish=lambda m: down["yes"] and "dead-letter" in m.topic,
    ) as world:
        await world.ask(QUERY)
        await world.settle()
        assert not world.letters()
        down["yes"] = False
        await world.clock.advance(1)
        await world.settle()
        assert len(world.letters()) == 1
        assert world.backlog() == 0
        assert len(world.asked) == 1


async def test_properties_of_a_caller_travel_on_and_foreign_ones_do_not() -> None:
    async with World() as world:
        await world.ask(QUERY, traceparent="00-ab-cd-01", deadline=9_999_999_999_999, other={"mine": "x"})
        await world.settle()
        ((_, envelope),) = world.told()
        assert (envelope.traceparent, envelope.deadline) == ("00-ab-cd-01", 9_999_999_999_999)
        assert envelope.other == {}


async def test_a_run_that_wants_no_trace_leaves_none() -> None:
    async with World() as world:
        await world.ask(QUERY, traced=False)
        await world.settle()
        ((response, envelope),) = world.told()
        assert not envelope.traced
        assert response.explain_id is None
        assert not response.explain_triples
        assert not world.batches()


async def test_the_opening_is_a_fact_of_the_first_message_only() -> None:
    caller = World().consumer.step.caller
    assert caller is not None
    opening = caller.opening(QUERY)
    assert isinstance(opening, QuestionAsked)
    assert opening.query == "Does it?"


async def test_garbage_inside_a_run_is_answered_in_the_name_of_its_session() -> None:
    async with World() as world:
        await world.ask(b"garbage", session_id="5e1f")
        await world.settle()
        ((response, envelope),) = world.told()
        assert (response.session_id, envelope.session_id) == ("5e1f", "5e1f")
        assert [letter.session_id for letter in world.letters()] == ["5e1f"]


async def test_a_piece_of_text_says_which_attempt_it_belongs_to_and_a_second_execution_is_another_stream() -> (
    None
):
    left = [RetrievalFailed("down")]

    async def stream(query: DocumentRagQuery, emit: Emit) -> Outcome:
        await emit("a piece")
        if left:
            raise left.pop()
        return answered(query)

    async with World(stream=stream) as world:
        await world.ask(QUERY.model_copy(update={"streaming": True}))
        await world.settle()
        await world.clock.advance(1)
        await world.settle()
        pieces = [envelope for body, envelope in world.told() if body.message_type == "chunk"]
        assert [piece.attempt for piece in pieces] == [1, 2]
        assert len({piece.other["stream"] for piece in pieces}) == 2
