"""pulsar-lite forgets to hand on what is published while it writes a large message; a nudge reminds it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.adapters.bus.pulsar_lite import PulsarLite
from clew_services.adapters.bus.pulsar_nudge import AFTER_SECONDS, LARGE, NUDGE, Nudger
from clew_services.errors import BusFailed
from clew_services.ports import Outgoing

TOPIC = "persistent://public/default/nudged"


async def test_a_topic_is_nudged_once_after_its_last_large_message() -> None:
    sent: list[Outgoing] = []

    async def send(message: Outgoing) -> None:
        sent.append(message)

    nudger = Nudger(send)
    for size in (LARGE, LARGE - 1, LARGE + 1):
        nudger.published(Outgoing(topic=TOPIC, payload=b"x" * size))
    nudger.published(Outgoing(topic="small", payload=b"x"))
    await asyncio.sleep(AFTER_SECONDS * 1.5)
    assert [(m.topic, m.payload, dict(m.properties)) for m in sent] == [(TOPIC, b"", {NUDGE: "1"})]
    await nudger.close()


async def test_a_closed_nudger_sends_nothing_and_a_broker_that_is_gone_is_no_error() -> None:
    async def gone(message: Outgoing) -> None:
        raise BusFailed(f"{message.topic} is gone")

    nudger = Nudger(gone)
    nudger.published(Outgoing(topic=TOPIC, payload=b"x" * LARGE))
    await asyncio.sleep(AFTER_SECONDS * 1.5)
    nudger.published(Outgoing(topic=TOPIC, payload=b"x" * LARGE))
    await nudger.close()
    await asyncio.sleep(AFTER_SECONDS * 1.5)


@pytest.mark.slow
async def test_what_follows_a_large_message_arrives(tmp_path: Path) -> None:
    broker = PulsarLite(tmp_path / "broker")
    await broker.start()
    bus = PulsarBus(broker.url, lite=True)
    try:
        subscription = await bus.subscribe(TOPIC, "reader", width=4)
        for _ in range(40):
            await bus.publish(Outgoing(topic=TOPIC, payload=b"x" * (4 << 20)))
            await bus.publish(Outgoing(topic=TOPIC, payload=b"after"))
            for size in (4 << 20, 5):
                async with asyncio.timeout(10):
                    delivery = await subscription.receive()
                assert len(delivery.payload) == size
                await subscription.ack(delivery)
        await asyncio.sleep(AFTER_SECONDS * 1.5)
        waiting = asyncio.create_task(subscription.receive())
        await asyncio.sleep(0.2)
        assert not waiting.done(), "a nudge is not shown"
        waiting.cancel()
    finally:
        await bus.close()
        await broker.stop()
