"""The contract of a bus that runs: what is published is received, by whom, in which order, how often."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from clew_services.errors import BusFailed
from clew_services.ports import Bus, Delivery, Outgoing, Subscription
from tests.contract.bus_brokers import Broker

PATIENCE = 15.0
SILENCE = 0.6
"""How long nothing must come before nothing counts as coming."""


async def send(bus: Bus, topic: str, *payloads: str) -> None:
    for payload in payloads:
        await bus.publish(Outgoing(topic=topic, payload=payload.encode()))


async def take(consumer: Subscription, count: int, *, ack: bool = True) -> list[Delivery]:
    """The next `count` messages, settled unless told otherwise."""
    got: list[Delivery] = []
    for _ in range(count):
        delivery = await asyncio.wait_for(consumer.receive(), PATIENCE)
        if ack:
            await consumer.ack(delivery)
        got.append(delivery)
    return got


async def drain(consumer: Subscription) -> list[str]:
    """Everything that still comes, settled."""
    got: list[str] = []
    while True:
        try:
            delivery = await asyncio.wait_for(consumer.receive(), SILENCE)
        except TimeoutError:
            return got
        await consumer.ack(delivery)
        got.append(delivery.payload.decode())


def bodies(deliveries: list[Delivery]) -> list[str]:
    return [delivery.payload.decode() for delivery in deliveries]


def numbers(count: int, prefix: str = "m") -> list[str]:
    return [f"{prefix}{i:03}" for i in range(count)]


class Basics:
    @pytest.fixture
    async def bus(self, broker: Broker) -> AsyncIterator[Bus]:
        bus = broker.bus()
        yield bus
        await bus.close()

    @pytest.fixture
    def topic(self, broker: Broker) -> str:
        return broker.topic()

    async def test_one_consumer_gets_everything_in_order(self, bus: Bus, topic: str) -> None:
        consumer = await bus.subscribe(topic, "s", width=8)
        await send(bus, topic, *numbers(100))
        assert bodies(await take(consumer, 100)) == numbers(100)

    async def test_body_key_and_properties_arrive_as_they_were_sent(self, bus: Bus, topic: str) -> None:
        properties = {"empty": "", "ключ": "值 🧵", "id": "a" * 36, "line": "a\nb\x00c"}
        sent = [
            Outgoing(topic=topic, payload=bytes(range(256)), key="сеанс-1", properties=properties),
            Outgoing(topic=topic, payload=b""),
        ]
        consumer = await bus.subscribe(topic, "s", width=2)
        for message in sent:
            await bus.publish(message)
        got = await take(consumer, 2)
        assert [(d.topic, d.payload, d.key, dict(d.properties)) for d in got] == [
            (m.topic, m.payload, m.key, dict(m.properties)) for m in sent
        ]

    async def test_a_new_subscription_begins_with_what_is_there(self, bus: Bus, topic: str) -> None:
        keeper = await bus.subscribe(topic, "keeper", width=1)  # a topic that nobody reads may be forgotten
        await send(bus, topic, *numbers(5))
        early = await bus.subscribe(topic, "early", width=8)
        late = await bus.subscribe(topic, "late", width=8, position="latest")
        await send(bus, topic, "new")
        assert bodies(await take(early, 6)) == [*numbers(5), "new"]
        assert bodies(await take(late, 1)) == ["new"]
        assert bodies(await take(keeper, 6)) == [*numbers(5), "new"]

    async def test_two_consumers_of_one_subscription_share(self, bus: Bus, topic: str) -> None:
        consumers = [await bus.subscribe(topic, "s", width=4) for _ in range(2)]
        got: list[list[str]] = [[], []]

        async def work(consumer: Subscription, mine: list[str]) -> None:
            while True:
                mine.extend(bodies(await take(consumer, 1)))

        workers = [asyncio.ensure_future(work(*pair)) for pair in zip(consumers, got, strict=True)]
        await send(bus, topic, *numbers(60))
        async with asyncio.timeout(PATIENCE):
            while sum(map(len, got)) < 60:
                await asyncio.sleep(0.01)
        for worker in workers:
            worker.cancel()
        assert sorted(got[0] + got[1]) == numbers(60)
        assert got[0]
        assert got[1]

    async def test_two_subscriptions_get_everything_each(self, bus: Bus, topic: str) -> None:
        consumers = [await bus.subscribe(topic, name, width=4) for name in ("a", "b")]
        await send(bus, topic, *numbers(10))
        for consumer in consumers:
            assert bodies(await take(consumer, 10)) == numbers(10)

    async def test_sixteen_publishers_at_once(self, bus: Bus, topic: str) -> None:
        consumer = await bus.subscribe(topic, "s", width=16)
        await asyncio.gather(*(send(bus, topic, *numbers(25, f"p{i:02}-")) for i in range(16)))
        got = bodies(await take(consumer, 400))
        assert len(set(got)) == 400
        for i in range(16):
            assert [body for body in got if body.startswith(f"p{i:02}-")] == numbers(25, f"p{i:02}-")

    async def test_a_cancelled_receive_loses_nothing(self, bus: Bus, topic: str) -> None:
        consumer = await bus.subscribe(topic, "s", width=32)
        waiting = [asyncio.ensure_future(consumer.receive()) for _ in range(5)]
        await asyncio.sleep(0.05)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await send(bus, topic, *numbers(20))
        assert bodies(await take(consumer, 20)) == numbers(20)

    async def test_a_receive_that_is_given_up_again_and_again_loses_nothing(
        self, bus: Bus, topic: str
    ) -> None:
        consumer = await bus.subscribe(topic, "s", width=4)
        sending = asyncio.ensure_future(send(bus, topic, *numbers(200)))
        got: list[str] = []
        limit = time.monotonic() + PATIENCE
        while len(got) < 200 and time.monotonic() < limit:
            try:
                delivery = await asyncio.wait_for(consumer.receive(), 0.0005)
            except TimeoutError:
                continue
            await consumer.ack(delivery)
            got.append(delivery.payload.decode())
        await sending
        assert got == numbers(200)

    async def test_no_more_than_width_are_handed_out(self, bus: Bus, topic: str) -> None:
        """Width bounds what was returned by `receive` and is not settled, over all calls together."""
        consumer = await bus.subscribe(topic, "s", width=3)
        await send(bus, topic, *numbers(10))
        calls = [asyncio.ensure_future(consumer.receive()) for _ in range(6)]
        await asyncio.wait(calls, timeout=SILENCE)
        first = [call.result() for call in calls if call.done()]
        assert bodies(first) == numbers(3)
        await consumer.ack(first[0])
        await consumer.nack(first[1])
        await asyncio.wait(calls, timeout=SILENCE)
        assert sum(call.done() for call in calls) == 5
        for call in calls:
            call.cancel()

    async def test_what_is_nacked_comes_again_and_holds_up_nobody(self, bus: Bus, topic: str) -> None:
        consumer = await bus.subscribe(topic, "s", width=4)
        await send(bus, topic, *numbers(3))
        [first] = await take(consumer, 1, ack=False)
        await consumer.nack(first)
        got = await take(consumer, 3)
        assert sorted(bodies(got)) == numbers(3)
        assert {d.broker_id for d in got if d.payload == first.payload} == {first.broker_id}
        assert len({d.broker_id for d in got}) == 3
        assert await drain(consumer) == []

    async def test_settling_twice_does_nothing(self, bus: Bus, topic: str) -> None:
        consumer = await bus.subscribe(topic, "s", width=4)
        await send(bus, topic, *numbers(2))
        got = await take(consumer, 2)
        await consumer.ack(got[0])
        assert await drain(consumer) == []

    async def test_deliver_at_is_a_hint(self, broker: Broker, bus: Bus, topic: str) -> None:
        consumer = await bus.subscribe(topic, "s", width=4)
        begun = time.time()
        due = int((begun + 1.5) * 1000)
        await bus.publish(Outgoing(topic=topic, payload=b"later", deliver_at=due))
        await send(bus, topic, "now")
        got = bodies(await take(consumer, 2))
        waited = time.time() - begun
        if broker.differences.delays:
            assert got == ["now", "later"]
            assert 1.0 < waited < 5.0
        else:
            assert got == ["later", "now"]
            assert waited < 1.0

    async def test_unsubscribing_forgets_the_backlog(self, bus: Bus, topic: str) -> None:
        keeper = await bus.subscribe(topic, "keeper", width=1)
        consumer = await bus.subscribe(topic, "private", width=4)
        await send(bus, topic, *numbers(3))
        await take(consumer, 1)
        await bus.unsubscribe(topic, "private")
        with pytest.raises(BusFailed, match="closed"):
            await consumer.receive()
        again = await bus.subscribe(topic, "private", width=4, position="latest")
        await send(bus, topic, "new")
        assert await drain(again) == ["new"]
        assert bodies(await take(keeper, 4)) == [*numbers(3), "new"]
        await bus.unsubscribe(topic, "never-there")

    async def test_a_missing_namespace_is_named(self, broker: Broker, bus: Bus) -> None:
        topic = "persistent://nobody/made-this/t"
        if broker.differences.namespaces:
            with pytest.raises(BusFailed, match="clew topics create"):
                await send(bus, topic, "x")
            with pytest.raises(BusFailed, match="clew topics create"):
                await bus.subscribe(topic, "s", width=1)
        else:
            consumer = await bus.subscribe(topic, "s", width=1)
            await send(bus, topic, "x")
            assert bodies(await take(consumer, 1)) == ["x"]

    async def test_the_bus_answers(self, bus: Bus) -> None:
        await bus.ping()

    async def test_a_width_below_one_is_refused(self, bus: Bus, topic: str) -> None:
        with pytest.raises(ValueError, match="at least 1"):
            await bus.subscribe(topic, "s", width=0)
