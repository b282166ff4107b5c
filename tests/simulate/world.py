"""What outlives a process in the simulation: broker, ledger, traces; each fails now and then, and writes the history."""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from clew_schema import topics
from clew_schema.envelope import ASKED_AT, ATTEMPT, ID, MESSAGE_ID, SEQUENCE, STREAM
from clew_schema.rdf import Triples
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.memory import MemoryBroker, MemoryBus, MemorySubscription
from clew_services.adapters.bus.memory_group import Entry, Group
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.errors import BusFailed, StoreFailed
from clew_services.ports import Closing, Delivery, Outgoing, Record, Ticket
from clew_translators import bus as wire
from tests.promise.history import Acked, Batch, Buried, Event, Published, Recorded, Recovered, digest
from tests.simulate.loop import PROCESS

SPACE = TopicSpace()
HANDLED: ContextVar[tuple[str, str, float]] = ContextVar("HANDLED", default=("", "", 0.0))
"""The step and the cause of the message that a task settles, and since when it does."""
DEAD = SPACE.full(topics.DEAD_LETTER.name)
TOLD = SPACE.full(topics.EXPLAINABILITY.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often what goes wrong: shares of the calls, 0 to 1. ``delay``: most seconds that a call takes."""

    publish_lost: float = 0.0
    publish_unsure: float = 0.0
    ack_lost: float = 0.0
    ack_unsure: float = 0.0
    reordered: float = 0.0
    ledger: float = 0.0
    ledger_unsure: float = 0.0
    traces: float = 0.0
    models: float = 0.0
    drops: float = 0.0
    delay: float = 0.0


@dataclass(slots=True)
class World:
    """One run's stores and its history. ``calm`` ends all faults."""

    seed: int
    rates: Rates
    events: list[Event] = field(default_factory=list)
    calm: bool = False
    skews: dict[str, float] = field(default_factory=dict)
    _chances: dict[str, random.Random] = field(default_factory=dict)

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def add(self, event: Event) -> None:
        self.events.append(event)

    def chance(self, what: str) -> random.Random:
        """Dice of its own for each kind of thing: taking one away leaves the others as they were."""
        if what not in self._chances:
            self._chances[what] = random.Random(f"{self.seed} {what}")
        return self._chances[what]

    def happens(self, what: str) -> bool:
        share: float = 0.0 if self.calm else getattr(self.rates, what)
        return share > 0 and self.chance(what).random() < share

    async def takes_time(self, what: str) -> None:
        """An await, at which anything may happen; sometimes a long one."""
        most = 0.0 if self.calm else self.rates.delay
        await asyncio.sleep(self.chance(f"delay {what}").random() ** 4 * most)


@dataclass(frozen=True, slots=True)
class SimClock:
    """Virtual time, ``skew`` seconds off."""

    skew: float = 0.0
    begin: float = 1_767_225_600.0

    def now(self) -> float:
        return self.begin + self.skew + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class SimBroker(MemoryBroker):
    """Reorders what it hands out. Its own tasks belong to no process: they outlive whoever published."""

    def __init__(self, world: World, *, honour_delays: bool) -> None:
        super().__init__(SimClock(), honour_delays=honour_delays)
        self._world = world
        self._own = contextvars.copy_context()

    def _enter(self, group: Group, number: int, message: Outgoing) -> None:
        super()._enter(group, number, message)
        if len(group.ready) > 1 and self._world.happens("reordered"):
            place = self._world.chance("place").randrange(len(group.ready))
            group.ready.insert(place, group.ready.pop())

    def _after(self, seconds: float, group: Group, entry: Entry) -> None:
        self._own.run(super()._after, seconds, group, entry)


class SimBus(MemoryBus):
    """One process's connection. Calls fail before the broker did it, or after."""

    def __init__(self, world: World, broker: SimBroker) -> None:
        super().__init__(SimClock(), broker=broker)
        self._world = world
        self._names: dict[str, str] = {}

    async def publish(self, message: Outgoing) -> None:
        await self._world.takes_time("publish")
        if self._world.happens("publish_lost"):
            raise BusFailed("the connection broke before the broker took it")
        await super().publish(message)
        published(self._world, message)
        if self._world.happens("publish_unsure"):
            raise BusFailed("the connection broke before the broker said that it took it")

    async def subscribe(
        self, topic: str, subscription: str, *, width: int, position: Any = "earliest"
    ) -> MemorySubscription:
        await self._world.takes_time("subscribe")
        if self._world.happens("drops"):
            raise BusFailed("no connection now")
        self._check_open()
        group = self.broker.group(topic, subscription, position)
        consumer = SimSubscription(self._world, self.broker, group, width)
        self._consumers = [each for each in self._consumers if not each.closed]
        self._consumers.append(consumer)
        return consumer

    def drop_one(self, which: int) -> None:
        """The connection of one consumer breaks."""
        live = [each for each in self._consumers if not each.closed]
        if live:
            live[which % len(live)].drop()


class SimSubscription(MemorySubscription):
    """Acknowledging fails before the broker did it, or after."""

    def __init__(self, world: World, broker: MemoryBroker, group: Group, width: int) -> None:
        super().__init__(broker, group, width, None)
        self._world = world

    async def ack(self, delivery: Delivery) -> None:
        await self._world.takes_time("ack")
        if self._world.happens("ack_lost"):
            self.drop()
            raise BusFailed("the connection broke before the acknowledgement")
        await super().ack(delivery)
        step, cause, _ = HANDLED.get()
        self._world.add(
            Acked(
                at=self._world.now(),
                step=step,
                topic=delivery.topic,
                broker_id=delivery.broker_id,
                cause=cause,
            )
        )
        process = PROCESS.get()
        if process is not None and process.awaited_since is not None:
            took = self._world.now() - process.awaited_since
            process.awaited_since = None
            self._world.add(Recovered(at=self._world.now(), whom=process.name, seconds=took))
        if self._world.happens("ack_unsure"):
            raise BusFailed("the connection broke after the acknowledgement")


class SimLedger(MemoryLedger):
    """Fails before it kept a row, or after."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def lookup(self, step: str, message_id: str) -> Record | None:
        await self._world.takes_time("ledger")
        if self._world.happens("ledger"):
            raise StoreFailed("the ledger does not answer")
        return await super().lookup(step, message_id)

    async def record(
        self, record: Record, *, opens: Ticket | None = None, closes: Closing | None = None
    ) -> Record:
        await self._world.takes_time("ledger")
        if self._world.happens("ledger"):
            raise StoreFailed("the ledger does not answer")
        kept = await super().record(record, opens=opens, closes=closes)
        noted(self._world, kept)
        if self._world.happens("ledger_unsure"):
            raise StoreFailed("the ledger did not say that it kept it")
        return kept


class SimTraces(MemoryTraceStore):
    """Does not answer now and then."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def add(self, batches: Sequence[Triples]) -> None:
        await self._world.takes_time("traces")
        if self._world.happens("traces"):
            raise StoreFailed("the trace store does not answer")
        await super().add(batches)


def noted(world: World, kept: Record) -> None:
    """A row, known by all that it holds."""
    text = repr([(each.topic, each.payload, sorted(each.properties.items())) for each in kept.outputs])
    world.add(Recorded(at=world.now(), step=kept.step, cause=kept.message_id, digest=digest(text.encode())))


def published(world: World, message: Outgoing) -> None:
    """What the broker took, known by all that tells it from others; pieces of a stream by execution and number."""
    given = message.properties
    step, cause, _ = HANDLED.get()
    stream = given.get(STREAM, "")
    if stream:
        return  # pieces that are not recorded: another execution is another stream
    name = "|".join(given.get(each, "") for each in (MESSAGE_ID, SEQUENCE, ASKED_AT))
    attempt = int(given.get(ATTEMPT, "1"))
    known = digest(message.payload)
    world.add(
        Published(
            at=world.now(),
            topic=message.topic,
            message_id=name,
            attempt=attempt,
            digest=known,
            step=step,
            cause=cause,
        )
    )
    if message.topic == TOLD:
        batch = wire.decode(topics.EXPLAINABILITY, message.payload)
        run = batch.metadata.root if batch.metadata else ""
        world.add(Batch(at=world.now(), run=run, name=name, digest=known))
    elif message.topic == DEAD:
        letter = wire.decode(topics.DEAD_LETTER, message.payload)
        world.add(
            Buried(
                at=world.now(),
                letter_id=letter.letter_id,
                cause=letter.message_id,
                step=letter.step,
                digest=digest(letter.payload.encode()),
                id=given.get(ID, "") or letter.properties.get(ID, ""),
            )
        )
