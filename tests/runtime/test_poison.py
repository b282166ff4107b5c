"""A message that no attempt survives, on pulsar-lite: it reaches the dead letters whoever was restarted in between.

The count of attempts travels in the delayed copy. Here every attempt is made by services that know nothing of the one
before: another bus, an empty ledger, and a broker that was killed and started again over its folder. That broker
delivers copies at once, whatever delay is asked for, so the tests also show that they are held until they are due.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clew_schema import topics
from clew_schema.envelope import Envelope
from clew_schema.retrieval import DocumentRagQuery
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.adapters.bus.pulsar_lite import PulsarLite
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.core.retry import RetryPolicy
from clew_services.dead_letters import DeadLetters, keep_letters
from clew_services.errors import ModelFailed
from clew_services.ports import Outgoing
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.observe import Observer
from clew_services.runtime.outcome import Outcome
from clew_services.runtime.pack import Packer
from clew_services.runtime.process import Processor
from clew_services.runtime.respond import DocumentRagCaller
from clew_services.runtime.service import Service
from clew_services.runtime.step import Step
from clew_translators import bus as wire
from tests.runtime.world import Log

SPACE = TopicSpace()
ATTEMPTS = 4
BASE = 0.4


class Poisoned:
    """A service whose handler dies of every message, and that says when."""

    def __init__(self, bus: PulsarBus) -> None:
        self.died = asyncio.Event()
        self.at: list[float] = []

        async def handle(query: DocumentRagQuery) -> Outcome:
            del query
            self.at.append(time.time())
            self.died.set()
            raise ModelFailed("the model does not survive this one")

        step = Step(
            name="document-rag.plan",
            topic=topics.DOCUMENT_RAG_REQUEST,
            handle=handle,
            caller=DocumentRagCaller(),
            width=4,
        )
        processor = Processor(
            bus=bus,
            ledger=MemoryLedger(),
            clock=SystemClock(),
            packer=Packer(space=SPACE),
            observer=Observer(log=Log()),
            policy=RetryPolicy(max_attempts=ATTEMPTS, base=BASE, factor=1.0, jitter=0),
        )
        self.service = Service([step], processor)


@asynccontextmanager
async def generation(folder: Path) -> AsyncIterator[tuple[PulsarLite, PulsarBus]]:
    """A broker and a bus over ``folder``. The broker's process is killed at the end."""
    broker = PulsarLite(folder, max_restarts=0)
    await broker.start()
    bus = PulsarBus(broker.url, lite=True, log_path=Path(os.devnull))
    try:
        yield broker, bus
    finally:
        await bus.close()
        os.kill(broker.pid, signal.SIGKILL)
        await broker.stop()


async def ask(bus: PulsarBus) -> None:
    query = DocumentRagQuery(query="Does it?", session_id="5e1f", collection="c")
    topic = SPACE.full("document-rag-request")
    await bus.publish(
        Outgoing(topic=topic, payload=wire.encode(query), properties=Envelope(id="c").properties())
    )


async def attempt(bus: PulsarBus) -> Poisoned:
    """A service from its start to its end, with one attempt in between."""
    poisoned = Poisoned(bus)
    await poisoned.service.start()
    async with asyncio.timeout(20):
        await poisoned.died.wait()
    await poisoned.service.stop()
    return poisoned


async def letters(bus: PulsarBus) -> list[Any]:
    return list(await DeadLetters(bus, SPACE).letters())


@pytest.mark.slow
async def test_a_poison_message_is_buried_although_all_is_restarted_between_its_attempts(
    tmp_path: Path,
) -> None:
    times: list[float] = []
    found: list[Any] = []
    for number in range(1, ATTEMPTS + 1):
        async with generation(tmp_path / "broker") as (_, bus):
            await keep_letters(bus, SPACE)
            if number == 1:
                await ask(bus)
            times += (await attempt(bus)).at
            found = await letters(bus)
            assert len(found) == (number == ATTEMPTS), f"after attempt {number}"
    assert len(times) == ATTEMPTS, "each was made once"
    (letter,) = found
    assert (letter.attempt, letter.error.type) == (ATTEMPTS, "model-failed")
    assert [one.number for one in letter.attempts] == [1, 2, 3, 4]
    assert (letter.session_id, letter.properties["id"]) == ("5e1f", "c")


@pytest.mark.slow
async def test_a_copy_that_the_broker_delivers_early_is_held_until_it_is_due(tmp_path: Path) -> None:
    async with generation(tmp_path / "broker") as (_, bus):
        await keep_letters(bus, SPACE)
        retries = await bus.subscribe(SPACE.retry("document-rag-request", "document-rag"), "a-test", width=8)
        poisoned = Poisoned(bus)
        await poisoned.service.start()
        await ask(bus)
        early, due = [], []
        async with asyncio.timeout(20):
            for _ in range(ATTEMPTS - 1):
                copy = await retries.receive()
                due.append(Envelope.of(copy.properties).due / 1000)
                early.append(due[-1] - time.time())
                await retries.ack(copy)
            while len(poisoned.at) < ATTEMPTS:
                poisoned.died.clear()
                await poisoned.died.wait()
        await poisoned.service.stop()
        assert min(early) > BASE / 2, "the broker gave each copy away long before it was due"
        assert all(tried >= when for tried, when in zip(poisoned.at[1:], due, strict=True))
        assert len(await letters(bus)) == 1
