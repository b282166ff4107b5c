"""The broker behind MemoryBus: topics, named shared subscriptions, and who holds which message."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

from clew_services.adapters.bus.memory_group import Entry, Group, Topic, wake_one
from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew_services.ports import Clock, Delivery, Outgoing, Position


class WallClock:
    """The time of day, as the operating system has it."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``."""
        await asyncio.sleep(seconds)


class MemoryBroker:
    """Topics and their subscriptions, as long as this object lives. The parameters are those of MemoryBus."""

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        honour_delays: bool = True,
        nack_delay: float = 0.0,
        history: int | None = None,
    ) -> None:
        self._clock: Clock = clock or WallClock()
        self._honour_delays = honour_delays
        self._nack_delay = nack_delay
        self._history = history
        self._topics: dict[str, Topic] = {}
        self._later: set[asyncio.Task[None]] = set()
        self._up = True

    def append(self, message: Outgoing) -> None:
        """Keep ``message`` and offer it to every subscription of its topic. Raises BusFailed while stopped."""
        self.check_up()
        topic = self._topic(message.topic)
        topic.count += 1
        topic.history.append((topic.count, message))
        for group in topic.groups.values():
            self._enter(group, topic.count, message)

    def group(self, topic: str, name: str, position: Position) -> Group:
        """The subscription, made if it is new: with everything the topic keeps, or with nothing yet."""
        entry = self._topic(topic)
        group = entry.groups.get(name)
        if group is None:
            group = entry.groups[name] = Group(topic, name)
            if position == "earliest":
                for number, message in entry.history:
                    self._enter(group, number, message)
        return group

    def forget(self, topic: str, name: str) -> None:
        """Drop a subscription with its backlog, and its consumers."""
        group = self._topic(topic).groups.pop(name, None)
        for consumer in list(group.consumers) if group else ():
            consumer.drop()

    def nacked(self, group: Group, entry: Entry) -> None:
        """Offer ``entry`` again after the delay."""
        if self._nack_delay <= 0:
            group.hand_back([entry])
        else:
            self._after(self._nack_delay, group, entry)

    def stop(self) -> None:
        """As if the broker had died: publishing and acknowledging fail, nothing is handed out, all is kept."""
        self._up = False

    def start(self) -> None:
        """Run again; what consumers held and could not settle is handed out once more, as after a lost connection."""
        self._up = True
        for topic in self._topics.values():
            for group in topic.groups.values():
                group.hand_back([e for consumer in group.consumers for e in consumer.release()])
                for _ in group.ready:
                    wake_one(group.waiting)

    @property
    def up(self) -> bool:
        """Whether the broker runs."""
        return self._up

    def check_up(self) -> None:
        """Raise BusFailed while the broker is stopped."""
        if not self._up:
            raise BusFailed("the broker in memory is stopped; start it and try again")

    def messages(self, topic: str, key: str | None = None) -> Sequence[Outgoing]:
        """What ``topic`` keeps, in order: all, or what has this key."""
        found = self._topics.get(topic)
        kept = [message for _, message in found.history] if found else []
        return kept if key is None else [message for message in kept if message.key == key]

    def backlog(self, topic: str, name: str) -> int:
        """Unsettled messages of a subscription."""
        found = self._topics.get(topic)
        group = found.groups.get(name) if found else None
        return group.unsettled if group else 0

    def ready(self, topic: str, name: str) -> int:
        """Messages of a subscription that wait to be handed out."""
        found = self._topics.get(topic)
        group = found.groups.get(name) if found else None
        return sum(not entry.settled for entry in group.ready) if group else 0

    def topics(self) -> Sequence[str]:
        """Names of the topics that exist."""
        return list(self._topics)

    def _topic(self, name: str) -> Topic:
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = Topic(self._history)
        return topic

    def _enter(self, group: Group, number: int, message: Outgoing) -> None:
        group.unsettled += 1
        entry = Entry(number, message)
        if message.deliver_at and self._honour_delays:
            wait = message.deliver_at / 1000 - self._clock.now()
            if wait > 0:
                self._after(wait, group, entry)
                return
        group.offer(entry)

    def _after(self, seconds: float, group: Group, entry: Entry) -> None:
        async def offer_later() -> None:
            await self._clock.sleep(seconds)
            group.offer(entry)

        task = asyncio.get_running_loop().create_task(offer_later())
        self._later.add(task)
        task.add_done_callback(self._later.discard)


class MemorySubscription:
    """One consumer of a Group. Made by ``MemoryBus.subscribe``."""

    def __init__(
        self,
        broker: MemoryBroker,
        group: Group,
        width: int,
        fail_ack: Callable[[Delivery], bool] | None,
    ) -> None:
        self._broker = broker
        self._group = group
        self._width = width
        self._fail_ack = fail_ack
        self._held: dict[int, Entry] = {}
        self._full: deque[asyncio.Future[None]] = deque()
        self._waits: set[asyncio.Future[None]] = set()
        self._closed = False
        group.consumers.add(self)

    async def receive(self) -> Delivery:
        """The next message, once fewer than ``width`` are unsettled. Raises BusFailed once closed."""
        group = self._group
        while True:
            self._check_open()
            if len(self._held) >= self._width:
                if group.ready:
                    wake_one(group.waiting)  # it was meant for somebody with a free hand
                await self._wait(self._full)
            elif self._broker.up and (entry := group.take()) is not None:
                self._held[entry.number] = entry
                return entry.delivery
            else:
                await self._wait(group.waiting)

    async def ack(self, delivery: Delivery) -> None:
        """Settle. A second ack of the same delivery does nothing. Raises BusFailed."""
        entry = self._entry(delivery)
        if self._fail_ack is not None and self._fail_ack(delivery):
            raise BusFailed(f"acknowledging {delivery.broker_id} failed, as this bus was told to")
        self._let_go(entry)
        self._group.settle(entry)

    async def nack(self, delivery: Delivery) -> None:
        """Give it to somebody again. Nothing if it is settled, or not held by this consumer. Raises BusFailed."""
        entry = self._entry(delivery)
        if self._let_go(entry) and not entry.settled:
            self._broker.nacked(self._group, entry)

    async def close(self) -> None:
        """Hand back what is not settled. Idempotent."""
        self.drop()

    @property
    def closed(self) -> bool:
        """Whether this consumer is gone."""
        return self._closed

    def drop(self) -> None:
        """Close at once: what is held becomes ready again, every waiting ``receive`` raises BusFailed."""
        if self._closed:
            return
        self._closed = True
        self._group.consumers.discard(self)
        self._group.hand_back(self.release())
        for future in self._waits:
            if not future.done():
                future.set_result(None)
        for _ in self._waits:
            wake_one(self._group.waiting)  # a turn that was given to us must not be lost

    def release(self) -> list[Entry]:
        """Give up what is held, and return it."""
        held = list(self._held.values())
        self._held.clear()
        for _ in held:
            wake_one(self._full)
        return held

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.append(future)
        self._waits.add(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                wake_one(queue)  # the turn was ours and we do not take it
            raise
        finally:
            self._waits.discard(future)

    def _entry(self, delivery: Delivery) -> Entry:
        self._check_open()
        self._broker.check_up()
        if not isinstance(delivery.handle, Entry):
            raise TypeError(f"delivery {delivery.broker_id} was not received from this bus")
        return delivery.handle

    def _let_go(self, entry: Entry) -> bool:
        held = self._held.pop(entry.number, None)
        if held is None:
            return False
        wake_one(self._full)
        return True

    def _check_open(self) -> None:
        if self._closed:
            raise BusFailed(
                f"the consumer of {self._group.name} on {self._group.topic} is closed; subscribe again"
            )
