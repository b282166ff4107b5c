"""The contract of a bus in trouble: closed, killed, cut off, given too much."""

from __future__ import annotations

import asyncio
import time

import pytest

from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_services.core.outgoing import MAX_HEADER_CHARACTERS
from clew_services.errors import BadRequest, BusFailed, TooLarge
from clew_services.ports import Outgoing
from tests.contract.bus_basics import bodies, drain, numbers, send, take
from tests.contract.bus_brokers import SEND_TIMEOUT, Broker

SETTLED = 0.3
"""Acknowledgements are on their way for up to 100 ms."""


class Durability:
    async def test_what_is_not_settled_comes_again_after_close(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=8)
        await send(bus, topic, *numbers(5))
        held = await take(consumer, 5, ack=False)
        await consumer.ack(held[0])
        await consumer.ack(held[3])
        await consumer.close()
        again = await take(await bus.subscribe(topic, "s", width=8), 3)
        assert sorted(bodies(again)) == ["m001", "m002", "m004"]
        assert {d.broker_id for d in again} == {held[i].broker_id for i in (1, 2, 4)}
        await bus.close()

    async def test_what_was_settled_stays_settled(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        await send(bus, topic, *numbers(10))
        await take(await bus.subscribe(topic, "s", width=8), 10)
        await bus.close()
        bus = broker.bus()
        assert await drain(await bus.subscribe(topic, "s", width=8)) == []
        await bus.close()

    async def test_messages_wait_for_a_subscription_whose_last_consumer_left(self, broker: Broker) -> None:
        """Shutting down never unsubscribes."""
        bus, topic = broker.bus(), broker.topic()
        await bus.subscribe(topic, "s", width=8)
        await bus.close()
        bus = broker.bus()
        await send(bus, topic, *numbers(2))
        await bus.close()
        bus = broker.bus()
        assert await drain(await bus.subscribe(topic, "s", width=8, position="latest")) == numbers(2)
        await bus.close()

    async def test_a_closed_consumer_says_so(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=8)
        await send(bus, topic, "x")
        [held] = await take(consumer, 1, ack=False)
        waiting = [asyncio.ensure_future(consumer.receive()) for _ in range(3)]
        await asyncio.sleep(0.05)
        await asyncio.gather(consumer.close(), consumer.close())
        await consumer.close()
        for outcome in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(outcome, BusFailed)
        with pytest.raises(BusFailed, match="closed"):
            await consumer.receive()
        with pytest.raises(BusFailed, match="closed"):
            await consumer.ack(held)
        with pytest.raises(BusFailed, match="closed"):
            await consumer.nack(held)
        await bus.close()

    async def test_a_closed_bus_says_so(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=8)
        await send(bus, topic, "x")
        waiting = asyncio.ensure_future(consumer.receive())
        waiting_more = asyncio.ensure_future(consumer.receive())
        await waiting
        await asyncio.gather(bus.close(), bus.close())
        await bus.close()
        with pytest.raises(BusFailed):
            await waiting_more
        with pytest.raises(BusFailed, match="closed"):
            await send(bus, topic, "x")
        with pytest.raises(BusFailed, match="closed"):
            await bus.subscribe(topic, "s", width=8)
        with pytest.raises(BusFailed, match="closed"):
            await bus.ping()

    async def test_what_a_dead_client_held_comes_again(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        await bus.subscribe(topic, "keeper", width=1)
        await send(bus, topic, *numbers(5))
        await broker.die_holding(topic, "s", 5)
        consumer = await bus.subscribe(topic, "s", width=8)
        assert sorted(bodies(await take(consumer, 5))) == numbers(5)
        assert await drain(consumer) == []
        await bus.close()

    async def test_three_clients_share_300_messages_exactly_once(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        got = await broker.consume_apart(3, topic, lambda: send(bus, topic, *numbers(300)), 300)
        assert all(got)
        assert sorted(body for mine in got for body in mine) == numbers(300)
        assert await drain(await bus.subscribe(topic, "s", width=8)) == []
        await bus.close()

    async def test_nothing_is_lost_when_the_broker_is_killed(self, mortal: Broker) -> None:
        bus, topic = mortal.bus(), mortal.topic()
        consumer = await bus.subscribe(topic, "s", width=3)
        await send(bus, topic, *numbers(6))
        settled = bodies(await take(consumer, 2))
        held = await take(consumer, 3, ack=False)
        await asyncio.sleep(SETTLED)
        await mortal.kill()
        await mortal.revive()
        await consumer.close()
        again = await drain(await bus.subscribe(topic, "s", width=8))
        assert set(again) >= {*bodies(held), "m005"}
        if not mortal.differences.forgets_acks:
            assert not set(again) & set(settled)
            assert sorted(again) == numbers(6)[2:]
        await bus.close()

    async def test_a_consumer_lives_on_when_the_broker_comes_back(self, mortal: Broker) -> None:
        bus, topic = mortal.bus(), mortal.topic()
        consumer = await bus.subscribe(topic, "s", width=4)
        await send(bus, topic, "before")
        waiting = asyncio.ensure_future(consumer.receive())
        await consumer.ack(await waiting)
        waiting = asyncio.ensure_future(consumer.receive())
        await asyncio.sleep(SETTLED)
        await mortal.kill()
        await mortal.revive()
        limit = time.monotonic() + 20
        while True:  # the client needs a moment to find the broker again
            try:
                await send(bus, topic, "after")
                break
            except BusFailed:
                assert time.monotonic() < limit
        got = {(await asyncio.wait_for(waiting, 10)).payload.decode(), *await drain(consumer)}
        assert "after" in got
        assert got <= {"before", "after"}
        await bus.close()

    async def test_a_dead_broker_is_an_error_in_time_and_no_state(self, mortal: Broker) -> None:
        bus, topic = mortal.bus(), mortal.topic()
        consumer = await bus.subscribe(topic, "s", width=4)
        await send(bus, topic, "before")
        await take(consumer, 1)
        await mortal.kill()
        begun = time.monotonic()
        with pytest.raises(BusFailed):
            await send(bus, topic, "lost")
        with pytest.raises(BusFailed):
            await bus.ping()
        with pytest.raises(BusFailed):
            await bus.subscribe(topic, "other", width=1)
        assert time.monotonic() - begun < 3 * (SEND_TIMEOUT + 1)
        await mortal.revive()
        limit = time.monotonic() + 20
        while True:
            try:
                await send(bus, topic, "after")
                break
            except BusFailed:
                assert time.monotonic() < limit
        await bus.ping()
        assert "after" in await drain(consumer)
        await bus.close()

    async def test_closing_towards_a_dead_broker_ends(self, mortal: Broker) -> None:
        bus, topic = mortal.bus(), mortal.topic()
        consumer = await bus.subscribe(topic, "s", width=4)
        await send(bus, topic, *numbers(2))
        await take(consumer, 1, ack=False)
        await mortal.kill()
        try:
            await asyncio.wait_for(bus.close(), 4 * SEND_TIMEOUT)
        finally:
            await mortal.revive()

    async def test_the_largest_body_fits_and_one_byte_more_is_refused(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=4)
        properties = {"long": "é" * (MAX_HEADER_CHARACTERS - 4)}
        largest = Outgoing(topic=topic, payload=b"x" * MAX_MESSAGE_BYTES, properties=properties)
        await bus.publish(largest)
        with pytest.raises(TooLarge, match=str(MAX_MESSAGE_BYTES + 1)):
            await bus.publish(Outgoing(topic=topic, payload=b"x" * (MAX_MESSAGE_BYTES + 1)))
        with pytest.raises(TooLarge, match="properties"):
            await bus.publish(Outgoing(topic=topic, payload=b"", properties={**properties, "a": ""}))
        await send(bus, topic, "after")
        got = await take(consumer, 2)
        assert (got[0].payload, dict(got[0].properties)) == (largest.payload, properties)
        assert got[1].payload == b"after"
        await bus.close()

    async def test_half_a_character_is_refused(self, broker: Broker) -> None:
        bus, topic = broker.bus(), broker.topic()
        with pytest.raises(BadRequest, match="half of a character"):
            await bus.publish(Outgoing(topic=topic, payload=b"", properties={"id": "\ud83e"}))
        await bus.close()
