"""A consumer's slots, its brake, and what it does when a subscription is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from clew_schema.envelope import Envelope
from clew_schema.retrieval import DocumentRagQuery
from clew_services.core.retry import RetryPolicy
from clew_services.errors import BusFailed, ModelFailed, ModelReplyInvalid, RetrievalFailed, Unreadable
from clew_services.ports import Outgoing
from clew_services.runtime.brake import Brake
from clew_services.runtime.consume import Consumer
from clew_services.runtime.outcome import Outcome
from tests.runtime.test_process import QUERY, failing
from tests.runtime.world import World, answered


@pytest.mark.parametrize("width", [1, 2, 3])
async def test_a_held_retry_runs_at_every_width(width: int) -> None:
    async with World(handler=failing(RetrievalFailed("down")), honour_delays=False, width=width) as world:
        await world.ask(QUERY)
        await world.settle()
        await world.clock.advance(1)
        await world.settle()
        assert len(world.asked) == 2
        assert len(world.told()) == 1


async def test_as_many_as_the_width_are_handled_at_once() -> None:
    gate, in_hand, most = asyncio.Event(), 0, 0

    async def slow(query: DocumentRagQuery) -> Outcome:
        nonlocal in_hand, most
        in_hand += 1
        most = max(most, in_hand)
        await gate.wait()
        in_hand -= 1
        return answered(query)

    async with World(handler=slow, width=3) as world:
        for number in range(9):
            await world.ask(QUERY, id=str(number))
        await world.settle()
        assert most == 3
        gate.set()
        await world.settle()
        assert len(world.told()) == 9


async def test_a_brake_that_is_on_stays_on_also_when_the_next_message_would_do() -> None:
    bad = 3
    errors = [ModelReplyInvalid("prose") for _ in range(bad)]
    async with World(handler=failing(*errors), brake=Brake(limit=bad), width=1) as world:
        for number in range(bad + 4):
            await world.ask(QUERY, id=str(number))
        await world.settle()
        assert world.brake.on
        assert not world.consumer.ready
        assert len(world.asked) == bad
        assert world.backlog() == 4


async def test_garbage_from_callers_pulls_no_brake() -> None:
    async with World(brake=Brake(limit=3)) as world:
        for _ in range(10):
            await world.ask(b"garbage")
        await world.ask(QUERY, id="good")
        await world.settle()
        assert len(world.letters()) == 10
        assert not world.brake.on
        assert [body.response for body, envelope in world.told() if envelope.id == "good"] == ["yes"]


async def test_a_lost_subscription_is_opened_again_and_nothing_is_lost() -> None:
    async with World() as world:
        await world.ask(QUERY, id="before")
        await world.settle()
        world.bus.broker.stop()
        world.bus.crash()
        await world.settle()
        assert "consumer_lost" in world.log.names()
        await world.clock.advance(0.1)
        await world.settle()
        assert not world.consumer.ready, "the broker is still away"
        world.bus.broker.start()
        for _ in range(6):
            await world.clock.advance(5)
            await world.settle()
        await world.ask(QUERY, id="after")
        await world.settle()
        assert {envelope.id for _, envelope in world.told()} == {"before", "after"}


async def test_copies_held_over_a_lost_subscription_leave_the_slots_as_they_were() -> None:
    errors = [RetrievalFailed("down") for _ in range(6)]
    async with World(handler=failing(*errors), honour_delays=False, width=4) as world:
        for number in range(6):
            await world.ask(QUERY, id=str(number))
        await world.settle()
        world.bus.broker.stop()
        world.bus.crash()
        await world.settle()
        await world.clock.advance(1)
        await world.settle()
        world.bus.broker.start()
        for _ in range(8):
            await world.clock.advance(5)
            await world.settle()
        assert {envelope.id for _, envelope in world.told()} == {str(number) for number in range(6)}
        assert world.consumer.in_hand == 0
        for number in range(20):
            await world.ask(QUERY, id=f"more-{number}")
        await world.settle()
        assert len({envelope.id for _, envelope in world.told()}) == 26


async def test_stopping_closes_every_subscription_also_when_one_refuses() -> None:
    async with World() as world:
        closed: list[str] = []
        for name, subscription in list(world.consumer._subscriptions.items()):
            world.consumer._subscriptions[name] = _Stubborn(subscription, name, closed)  # type: ignore[assignment]
        await world.consumer.stop()
        assert len(closed) == 2


class _Stubborn:
    """A subscription whose close fails after it has been noted."""

    def __init__(self, inner: object, name: str, closed: list[str]) -> None:
        self._inner, self._name, self._closed = inner, name, closed

    async def close(self) -> None:
        self._closed.append(self._name)
        raise BusFailed("the broker is gone")


async def test_lost_acknowledgements_multiply_no_work() -> None:
    lost = {"left": 3}

    def fail_ack(_: object) -> bool:
        lost["left"] -= 1
        return lost["left"] >= 0

    async def down(_: DocumentRagQuery) -> Outcome:
        raise ModelFailed("down")

    async with World(handler=down, fail_ack=fail_ack, honour_delays=False) as world:
        await world.ask(QUERY)
        for _ in range(12):
            await world.settle()
            await world.clock.advance(61)
        await world.settle()
        assert len(world.asked) <= 5 + 3, "an attempt that is recorded is not made again"
        assert len({letter.letter_id for letter in world.letters()}) == 1
        assert len({envelope.message_id for _, envelope in world.told()}) == 1


async def test_a_retry_keeps_the_name_of_the_first_attempt() -> None:
    async with World(handler=failing(RetrievalFailed("down"))) as world:
        await world.bus.publish(
            Outgoing(
                topic=world.space.full("document-rag-request"),
                payload=QUERY.model_dump_json().encode(),
                properties={"id": "caller-1"},
            )
        )
        await world.settle()
        (copy,) = world.bus.messages(world.space.retry("document-rag-request", "document-rag"))
        envelope = Envelope.of(copy.properties)
        assert envelope.message_id
        assert copy.deliver_at == envelope.due > 0
        await world.clock.advance(1)
        await world.settle()
        assert await world.ledger.lookup("document-rag.plan", envelope.message_id) is not None


async def test_one_topics_messages_stay_in_their_order() -> None:
    published: list[str] = []

    class Slow:
        """The first message of a topic takes longest."""

        async def publish(self, message: Outgoing) -> None:
            await asyncio.sleep(0.01 if message.payload == b"1" else 0)
            published.append(message.payload.decode())

    world = World()
    processor = world.processor
    object.__setattr__(processor, "bus", Slow())
    await processor.publish(
        [
            Outgoing(topic="t", payload=b"1"),
            Outgoing(topic="t", payload=b"2"),
            Outgoing(topic="u", payload=b"3"),
        ]
    )
    assert published.index("1") < published.index("2")
    assert published[0] == "3", "other topics do not wait"


async def test_garbage_pulls_no_brake_wherever_it_stands() -> None:
    async with World(
        handler=failing(*(Unreadable("garbage") for _ in range(5))), brake=Brake(limit=3)
    ) as world:
        for number in range(6):
            await world.ask(QUERY, id=str(number))
        await world.settle()
        assert len(world.letters()) == 5
        assert not world.brake.on


async def test_a_step_may_be_more_patient_than_the_others() -> None:
    errors = [RetrievalFailed("down") for _ in range(7)]
    async with World(handler=failing(*errors)) as world:
        step = world.consumer.step
        patient = Consumer(replace(step, policy=RetryPolicy(max_attempts=50)), world.processor)
        await world.consumer.stop()
        await patient.start()
        await world.ask(QUERY)
        for _ in range(10):
            await world.settle()
            await world.clock.advance(61)
        await world.settle()
        assert [body.response for body, _ in world.told()] == ["yes"]
        await patient.stop()
