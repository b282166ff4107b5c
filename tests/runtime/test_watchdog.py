"""A consumer that gets nothing although something waits is subscribed anew; one that is idle or busy is left alone."""

from __future__ import annotations

import asyncio
from typing import Any

from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.bus.memory import MemoryBus, MemorySubscription
from clew_services.errors import BusFailed
from clew_services.ports import Delivery
from clew_services.runtime.outcome import Outcome
from clew_services.runtime.service import Service
from tests.runtime.world import World, answered

QUERY = DocumentRagQuery(query="What is a clew?", session_id="S", collection="c")


class StuckSubscription(MemorySubscription):
    """Connected, and never handed anything, as a broker does whose dispatcher sleeps."""

    async def receive(self) -> Delivery:
        while not self.closed:
            await self._wait(self._full)  # nobody wakes that but a close
        raise BusFailed("the consumer was closed")


class StuckBus(MemoryBus):
    """Its first subscriptions get nothing."""

    stuck = 2

    async def subscribe(
        self, topic: str, subscription: str, *, width: int, position: Any = "earliest"
    ) -> Any:
        if self.stuck:
            self.stuck -= 1
            return self._joined(
                StuckSubscription(self.broker, self.broker.group(topic, subscription, position), width, None)
            )
        return await super().subscribe(topic, subscription, width=width, position=position)

    def _joined(self, consumer: MemorySubscription) -> MemorySubscription:
        self._consumers.append(consumer)
        return consumer


def service(world: World, bus: MemoryBus | None = None) -> Service:
    processor = world.processor
    if bus is not None:
        from dataclasses import replace

        processor = replace(processor, bus=bus)
    return Service([world.consumer.step], processor, backlogs=bus or world.bus, patience=30)


async def pass_time(world: World, seconds: int) -> None:
    for _ in range(seconds // 5):
        await world.clock.advance(5)
        await world.settle()


async def test_what_waits_is_handed_out_after_a_new_subscription() -> None:
    world = World()
    bus = StuckBus(world.clock, broker=world.bus.broker)
    running = service(world, bus)
    await running.start()
    await world.ask(QUERY)
    await pass_time(world, 25)
    assert not world.told(), "it may yet come by itself"
    await pass_time(world, 20)
    assert len(world.told()) == 1
    events = [values for _, name, values in world.log.events if name == "consumer_stuck"]
    assert [(each["waiting"], each["step"]) for each in events] == [(1, "document-rag.plan")]
    assert "clew_consumer_stuck_total" in world.processor.observer.metrics.text().decode()
    await running.stop()
    await bus.close()


async def test_nobody_who_is_idle_or_busy_is_disturbed() -> None:
    released = asyncio.Event()

    async def slow(query: DocumentRagQuery) -> Outcome:
        await released.wait()
        return answered(query)

    world = World(handler=slow, width=1)
    running = service(world)
    await running.start()
    await pass_time(world, 120)
    for number in range(3):
        await world.ask(QUERY, id=str(number))
    await pass_time(world, 300)
    assert not world.told(), "one is in hand for minutes, and two wait for it"
    released.set()
    await world.settle()
    assert len(world.told()) == 3
    names = world.log.names()
    assert "consumer_stuck" not in names
    assert "consumer_lost" not in names
    await running.stop()
    await world.bus.close()


async def test_a_broker_that_cannot_be_asked_is_asked_again() -> None:
    class Away(MemoryBus):
        calls = 0

        async def ready(self, topic: str, subscription: str) -> int:
            self.calls += 1
            raise BusFailed("the admin API does not answer")

    world = World()
    away = Away(world.clock, broker=world.bus.broker)
    running = service(world, away)
    await running.start()
    await pass_time(world, 100)
    assert away.calls > 2
    await world.ask(QUERY)
    await world.settle()
    assert len(world.told()) == 1
    await running.stop()
    await away.close()
