"""Follow the explainability topic: each step of every run, as it is told."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from clew_schema import topics
from clew_schema.envelope import MESSAGE_ID
from clew_services.errors import BusFailed
from clew_translators import bus as wire
from clew_translators.explain.facts import FactsUnreadable, facts_of
from clew_translators.trace_digest import digest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from clew_schema.facts import Fact
    from clew_schema.rdf import Triples
    from clew_schema.topics import TopicSpace
    from clew_services.ports import Bus, Delivery

WIDTH = 256
"""Batches held unread."""

_REMEMBERED = 4096
"""Messages of which a second delivery is known."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What one step told. ``facts`` is empty for a batch without the PROV-O graph, as other systems publish."""

    run: str
    collection: str
    facts: tuple[Fact, ...]
    batch: Triples


async def watch(
    bus: Bus, space: TopicSpace, *, collection: str = "", opened: Callable[[], None] = lambda: None
) -> AsyncGenerator[Watched]:
    """Every batch that is told from now on, once; only those of ``collection``, where one is given.

    ``opened`` is called when nothing that is told can be missed any more. Reads by a private subscription, which ends
    with the iteration (close the iterator). What is no batch of a run is passed over. Raises BusFailed when the broker
    is lost.
    """
    topic, name = space.full(topics.EXPLAINABILITY.name), f"watch-{uuid4().hex}"
    subscription = await bus.subscribe(topic, name, width=WIDTH, position="latest")
    opened()
    seen: dict[str, None] = {}
    try:
        while True:
            delivery = await subscription.receive()
            await subscription.ack(delivery)
            if _again(delivery, seen):
                continue
            told = _read(delivery)
            if told and collection in {"", told.collection}:
                yield told
    finally:
        with suppress(BusFailed):  # a broker that is gone forgets the subscription by its own rules
            await subscription.close()
            await asyncio.shield(bus.unsubscribe(topic, name))


def _again(delivery: Delivery, seen: dict[str, None]) -> bool:
    name = delivery.properties.get(MESSAGE_ID) or delivery.broker_id
    if name in seen:
        return True
    seen[name] = None
    if len(seen) > _REMEMBERED:
        del seen[next(iter(seen))]
    return False


def _read(delivery: Delivery) -> Watched | None:
    """The batch, if it is one of a run: knowledge that is extracted travels on the same topic."""
    try:
        batch = wire.decode(topics.EXPLAINABILITY.body, delivery.payload)
    except wire.NotThisMessage:
        return None
    told = digest(batch)
    if told is None:
        return None
    try:
        facts = facts_of(batch.triples)
    except FactsUnreadable:
        facts = ()
    return Watched(told.run, told.collection, facts, batch)
