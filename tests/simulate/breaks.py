"""The product, broken on purpose in twelve ways: each a subclass in the place of a part, and each must be found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clew_schema.base import Message
from clew_schema.envelope import ATTEMPT, MESSAGE_ID
from clew_schema.topics import Topic
from clew_services.errors import StoreFailed
from clew_services.ports import Closing, Delivery, Outgoing, Record, Subscription, Ticket
from clew_services.runtime.brake import Brake
from clew_services.runtime.outcome import Outcome
from clew_services.runtime.step import Step
from tests.promise.checker import Summary, summary
from tests.simulate.play import Make, Noting, play
from tests.simulate.scenario import scenario
from tests.simulate.world import DEAD, TOLD, SimBus, SimLedger, World, noted


class _Once:
    """A source whose acknowledgement was given before."""

    def __init__(self, source: Subscription) -> None:
        self._source = source

    async def ack(self, delivery: Delivery) -> None:
        return

    async def nack(self, delivery: Delivery) -> None:
        return

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AckFirst(Noting):
    async def __call__(self, step: Step[Any], delivery: Delivery, source: Any, brake: Brake) -> None:
        await source.ack(delivery)
        await Noting.__call__(self, step, delivery, _Once(source), brake)


@dataclass(frozen=True, slots=True, kw_only=True)
class NackForgotten(Noting):
    async def _give_back(self, source: Subscription, delivery: Delivery, step: Step[Any], cause: str) -> None:
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class AckWithoutPublishing(Noting):
    """A publisher that does not wait for the broker's word."""

    async def publish(self, outputs: Sequence[Outgoing]) -> None:
        for output in outputs:
            asyncio.create_task(self.bus.publish(output)).add_done_callback(lambda task: task.exception())


class LastWriterWins(SimLedger):
    async def record(
        self, record: Record, *, opens: Ticket | None = None, closes: Closing | None = None
    ) -> Record:
        self._records.pop((record.step, record.message_id), None)
        return await super().record(record, opens=opens, closes=closes)


class Forgetful(SimLedger):
    """Keeps rows, and does not find them."""

    async def lookup(self, step: str, message_id: str) -> Record | None:
        await super().lookup(step, message_id)
        return None


class RecordedInVain(SimLedger):
    """Says that it kept a row, and lost it."""

    async def record(
        self, record: Record, *, opens: Ticket | None = None, closes: Closing | None = None
    ) -> Record:
        if self._world.chance("vain").random() < 0.2:
            noted(self._world, record)
            return record
        return await super().record(record, opens=opens, closes=closes)


class RandomIds(SimBus):
    """Names every message anew when it is published."""

    async def publish(self, message: Outgoing) -> None:
        name = f"random-{self._world.chance('names').random()}"
        await super().publish(replace(message, properties={**message.properties, MESSAGE_ID: name}))


class Losing(SimBus):
    """Says that it published, and did not: what ``lost`` chooses."""

    def lost(self, message: Outgoing) -> bool:
        raise NotImplementedError

    async def publish(self, message: Outgoing) -> None:
        if not self.lost(message):
            await super().publish(message)


class LosingBatches(Losing):
    def lost(self, message: Outgoing) -> bool:
        return message.topic == TOLD and self._world.chance("batches").random() < 0.1


class LosingLetters(Losing):
    def lost(self, message: Outgoing) -> bool:
        return message.topic == DEAD


class LosingRetries(Losing):
    def lost(self, message: Outgoing) -> bool:
        return ATTEMPT in message.properties


def swallowing(steps: Sequence[Step[Any]], _: World) -> Sequence[Step[Any]]:
    """Handlers that fail return nothing instead."""
    return [_swallowing(step) for step in steps]


def _swallowing(step: Step[Any]) -> Step[Any]:
    async def stream(body: Any, emit: Any) -> Outcome:
        try:
            return await step.run(body, emit, _tell)
        except Exception:  # noqa: BLE001 - that is the mistake
            return Outcome()

    return replace(step, handle=None, progress=None, stream=stream)


async def _emit(text: str) -> None:
    """Nobody hears it."""


async def _tell(topic: Topic[Any], body: Message) -> None:
    """Nobody hears it."""


def storing_later(steps: Sequence[Step[Any]], world: World) -> Sequence[Step[Any]]:
    """The trace store acknowledges what it could not store."""
    return [_forgiving(step) if step.name == "trace-store.store" else step for step in steps]


def _forgiving(step: Step[Any]) -> Step[Any]:
    async def handle(body: Any) -> Outcome:
        try:
            return await step.run(body, _emit, _tell)
        except StoreFailed:
            return Outcome()

    return replace(step, handle=handle)


BREAKS: Mapping[str, Make] = {
    "acknowledges before it records": Make(processor=AckFirst),
    "acknowledges without waiting for what it publishes": Make(processor=AckWithoutPublishing),
    "gives nothing back when settling fails": Make(processor=NackForgotten),
    "the last writer wins": Make(ledger=LastWriterWins),
    "does not find what was recorded": Make(ledger=Forgetful),
    "loses rows that it kept": Make(ledger=RecordedInVain),
    "random message ids": Make(bus=RandomIds),
    "drops batches of triples": Make(bus=LosingBatches),
    "writes no dead letter": Make(bus=LosingLetters),
    "loses the copy that is to be tried again": Make(bus=LosingRetries),
    "swallows errors": Make(steps=swallowing),
    "acknowledges traces that are not stored": Make(steps=storing_later),
}


def judged(seed: int, broken: str | None = None) -> tuple[int, Summary]:
    """What a seed shows of the product, or of a broken one; for a process of its own, which finds it by name."""
    return seed, summary(play(scenario(seed), BREAKS[broken] if broken else None).events)
