"""What the bus in memory can do beyond its port: faults on demand, a clock of the test's own, a look inside."""

from __future__ import annotations

import asyncio

import pytest

from clew_services.adapters.bus.memory import MemoryBroker, MemoryBus
from clew_services.errors import BusFailed, TooLarge
from clew_services.ports import Outgoing


class SlowClock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.moved = asyncio.Condition()

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        due = self.time + seconds
        async with self.moved:
            await self.moved.wait_for(lambda: self.time >= due)

    async def advance(self, seconds: float) -> None:
        await asyncio.sleep(0)
        async with self.moved:
            self.time += seconds
            self.moved.notify_all()
        for _ in range(5):
            await asyncio.sleep(0)


def message(payload: str, *, topic: str = "t", key: str = "", deliver_at: int = 0) -> Outgoing:
    return Outgoing(topic=topic, payload=payload.encode(), key=key, deliver_at=deliver_at)


async def test_a_publish_that_was_told_to_fail_publishes_nothing() -> None:
    bus = MemoryBus(fail_publish=lambda m: m.payload == b"bad")
    await bus.publish(message("good"))
    with pytest.raises(BusFailed, match="told to"):
        await bus.publish(message("bad"))
    assert bus.messages("t") == [message("good")]


async def test_an_ack_that_was_told_to_fail_settles_nothing() -> None:
    bus = MemoryBus(fail_ack=lambda d: d.payload == b"bad")
    consumer = await bus.subscribe("t", "s", width=2)
    await bus.publish(message("bad"))
    with pytest.raises(BusFailed, match="told to"):
        await consumer.ack(await consumer.receive())
    assert bus.backlog("t", "s") == 1


async def test_messages_are_found_by_topic_and_key() -> None:
    bus = MemoryBus()
    await bus.publish(message("1", key="a"))
    await bus.publish(message("2", key="b"))
    await bus.publish(message("3", topic="u", key="a"))
    assert bus.messages("t", "a") == [message("1", key="a")]
    assert bus.messages("nowhere") == []
    assert bus.topics() == ["t", "u"]
    assert bus.backlog("nowhere", "s") == 0


async def test_a_crash_drops_the_consumers_of_one_bus_and_the_bus_goes_on() -> None:
    broker = MemoryBroker()
    dying, other = MemoryBus(broker=broker), MemoryBus(broker=broker)
    consumer = await dying.subscribe("t", "s", width=4)
    for payload in ("0", "1", "2"):
        await dying.publish(message(payload))
    held = [await consumer.receive() for _ in range(2)]
    await consumer.ack(held[0])
    dying.crash()
    with pytest.raises(BusFailed, match="closed"):
        await consumer.ack(held[1])
    survivor = await other.subscribe("t", "s", width=4)
    assert [(await survivor.receive()).broker_id for _ in range(2)] == [held[1].broker_id, "t/3"]
    await dying.publish(message("3"))
    assert (await survivor.receive()).payload == b"3"


async def test_delays_follow_the_clock() -> None:
    clock = SlowClock()
    bus = MemoryBus(clock, nack_delay=5)
    consumer = await bus.subscribe("t", "s", width=4)
    await bus.publish(message("due at 1010", deliver_at=1_010_000))
    waiting = asyncio.ensure_future(consumer.receive())
    await clock.advance(9)
    assert not waiting.done()
    await clock.advance(1)
    await consumer.nack(await waiting)
    waiting = asyncio.ensure_future(consumer.receive())
    await clock.advance(4)
    assert not waiting.done()
    await clock.advance(1)
    assert (await waiting).payload == b"due at 1010"


async def test_delays_may_be_ignored_as_some_brokers_do() -> None:
    bus = MemoryBus(SlowClock(), honour_delays=False)
    consumer = await bus.subscribe("t", "s", width=4)
    await bus.publish(message("late", deliver_at=9_999_999_000))
    assert (await consumer.receive()).payload == b"late"


async def test_history_and_size_are_bounded_on_request() -> None:
    bus = MemoryBus(history=2, max_bytes=1)
    consumer = await bus.subscribe("t", "s", width=4)
    for payload in ("0", "1", "2"):
        await bus.publish(message(payload))
    with pytest.raises(TooLarge):
        await bus.publish(message("10"))
    assert [m.payload for m in bus.messages("t")] == [b"1", b"2"]
    assert [(await consumer.receive()).payload for _ in range(3)] == [b"0", b"1", b"2"]


async def test_a_turn_that_a_full_consumer_cannot_take_goes_to_another() -> None:
    bus = MemoryBus()
    narrow = await bus.subscribe("t", "s", width=1)
    both = [asyncio.ensure_future(narrow.receive()) for _ in range(2)]
    await asyncio.sleep(0)
    wide = await bus.subscribe("t", "s", width=1)
    third = asyncio.ensure_future(wide.receive())
    await asyncio.sleep(0)
    await bus.publish(message("0"))
    await bus.publish(message("1"))
    assert (await asyncio.wait_for(third, 1)).payload == b"1"
    assert [task.done() for task in both] == [True, False]
    await narrow.close()
    with pytest.raises(BusFailed):
        await both[1]


async def test_a_turn_that_is_cancelled_goes_to_another() -> None:
    bus = MemoryBus()
    consumer = await bus.subscribe("t", "s", width=2)
    first, second = (asyncio.ensure_future(consumer.receive()) for _ in range(2))
    await asyncio.sleep(0)
    await bus.publish(message("0"))
    first.cancel()
    assert (await asyncio.wait_for(second, 1)).payload == b"0"


async def test_a_delivery_of_another_bus_is_refused() -> None:
    bus = MemoryBus()
    consumer = await bus.subscribe("t", "s", width=1)
    await bus.publish(message("0"))
    delivery = await consumer.receive()
    with pytest.raises(TypeError, match="not received from this bus"):
        await consumer.ack(type(delivery)(topic="t", payload=b"", key="", properties={}, broker_id="x"))
