"""A consumer: one step's subscriptions, its bound on what is in hand, and its way to stop without losing a thing."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from clew_schema.envelope import Envelope
from clew_services.errors import BusFailed
from clew_services.runtime.brake import Brake

if TYPE_CHECKING:
    from clew_services.ports import Delivery, Subscription
    from clew_services.runtime.process import Processor
    from clew_services.runtime.step import Step

RETRIES_HELD = 256
"""Delayed copies held until they are due, when the broker delivers them early."""

LONGEST_HOLD = 300.0
"""Seconds that a copy is held at most, whatever its ``due`` says: anybody may write a property."""

REOPEN_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Waits before a broken subscription is opened again; the last one repeats."""


class Consumer:
    """Takes a step's messages, and its delayed copies, and hands each to the processor.

    At most ``step.width`` messages are handled at once; each subscription holds as many received ones
    ready. ``stop`` lets what was begun finish; what was received and not begun goes back to the broker.
    """

    def __init__(self, step: Step[Any], processor: Processor, brake: Brake | None = None) -> None:
        """Nothing is opened before ``start``."""
        self.step = step
        self.brake = brake or Brake()
        self._processor = processor
        self._slots = asyncio.Semaphore(step.width)
        self._loops: list[asyncio.Task[None]] = []
        self._subscriptions: dict[str, Subscription] = {}
        self._tasks: dict[asyncio.Task[None], float] = {}
        self._waiting: set[asyncio.Task[None]] = set()
        self._stopping = False

    async def start(self) -> None:
        """Open the subscriptions. Raises BusFailed."""
        space, topic, width = self._processor.space, self.step.topic.name, self.step.width
        # The topic as callers know it, and as our own services do: one and the same but in profile trustgraph.
        wanted = {space.full(topic): width, space.own(topic): width}
        for full, most in (wanted | {space.retry(topic, self.step.service): RETRIES_HELD}).items():
            self._subscriptions[full] = await self._open(full, most)
            self._loops.append(asyncio.create_task(self._take(full, most), name=f"{self.step.name}:{full}"))
        self._processor.observer.event("consumer_started", step=self.step.name, topic=space.full(topic))

    async def stop(self) -> None:
        """Stop taking, finish what is in hand, close. Idempotent; a broker that is gone is no reason to stay."""
        if self._stopping:
            return
        self._stopping = True
        for task in (*self._loops, *self._waiting):
            task.cancel()
        await asyncio.gather(*self._loops, *self._waiting, return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for subscription in self._subscriptions.values():
            with suppress(BusFailed):
                await subscription.close()
        self._processor.observer.event("consumer_stopped", step=self.step.name)

    @property
    def ready(self) -> bool:
        """Whether it takes messages: subscribed, running, brake off."""
        running = bool(self._loops) and not any(task.done() for task in self._loops)
        return running and len(self._subscriptions) == len(self._loops) and not self.brake.on

    @property
    def in_hand(self) -> int:
        """How many messages are being handled."""
        return len(self._tasks)

    def oldest(self) -> float:
        """Seconds since the oldest message in hand was begun; 0 with none."""
        return self._processor.clock.now() - min(self._tasks.values()) if self._tasks else 0.0

    async def _open(self, full: str, width: int) -> Subscription:
        return await self._processor.bus.subscribe(full, self.step.name, width=width)

    async def _take(self, full: str, width: int) -> None:
        delayed = full == self._processor.space.retry(self.step.topic.name, self.step.service)
        while not self.brake.on:
            source = self._subscriptions[full]
            try:
                delivery = await source.receive()
            except BusFailed as error:
                await self._reopen(full, width, error)
                continue
            if delayed and self._early(delivery) > 0:
                self._hold(delivery, source)
            else:
                await self._begin(delivery, source)
        # Somebody has to look, and only a restart takes messages again. What was received is not acknowledged.
        self._processor.observer.event("brake_on", "error", step=self.step.name, burials=self.brake.limit)
        await asyncio.Event().wait()

    def _early(self, delivery: Delivery) -> float:
        """Seconds until ``delivery`` is due: a broker may ignore the delay that was asked for."""
        due = Envelope.of(delivery.properties).due / 1000
        return min(due - self._processor.clock.now(), LONGEST_HOLD)

    def _hold(self, delivery: Delivery, source: Subscription) -> None:
        """Keep ``delivery`` until it is due, unacknowledged; it occupies no slot meanwhile."""
        task = asyncio.create_task(self._later(delivery, source))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _later(self, delivery: Delivery, source: Subscription) -> None:
        await self._processor.clock.sleep(self._early(delivery))
        # A subscription that was lost meanwhile gives it to us again.
        if source in self._subscriptions.values():
            await self._begin(delivery, source)

    async def _begin(self, delivery: Delivery, source: Subscription) -> None:
        """Handle ``delivery`` as soon as there is a slot, unless the brake came on meanwhile."""
        await self._slots.acquire()
        if self.brake.on:
            self._slots.release()
            return
        task = asyncio.create_task(self._processor(self.step, delivery, source, self.brake))
        self._tasks[task] = self._processor.clock.now()
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._slots.release()

    async def _reopen(self, full: str, width: int, error: BusFailed) -> None:
        broken = self._subscriptions.pop(full)
        self._processor.observer.event(
            "consumer_lost", "warning", step=self.step.name, topic=full, error=str(error)
        )
        with suppress(BusFailed):
            await broken.close()
        tries = 0
        while full not in self._subscriptions:
            await self._processor.clock.sleep(REOPEN_SECONDS[min(tries, len(REOPEN_SECONDS) - 1)])
            tries += 1
            with suppress(BusFailed):
                self._subscriptions[full] = await self._open(full, width)
