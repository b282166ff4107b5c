"""A consumer: one step's subscriptions, its bound on what is in hand, and its way to stop without losing a thing."""

from __future__ import annotations

import asyncio
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

REOPEN_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
"""Waits before a broken subscription is opened again; the last one repeats."""


class Consumer:
    """Takes a step's messages, and its delayed copies, and hands each to the processor.

    At most ``step.width`` messages are handled at once. ``stop`` lets those finish; what was
    received and not begun goes back to the broker.
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
        space, topic = self._processor.space, self.step.topic.name
        retries = space.retry(topic, self.step.service)
        for full, width in ((space.full(topic), self.step.width), (retries, RETRIES_HELD)):
            await self._open(full, width)
            self._loops.append(asyncio.create_task(self._take(full, width), name=f"{self.step.name}:{full}"))
        self._processor.observer.event("consumer_started", step=self.step.name, topic=space.full(topic))

    async def stop(self) -> None:
        """Stop taking, finish what is in hand, close. Idempotent."""
        if self._stopping:
            return
        self._stopping = True
        for task in (*self._loops, *self._waiting):
            task.cancel()
        await asyncio.gather(*self._loops, *self._waiting, return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for subscription in self._subscriptions.values():
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

    async def _open(self, full: str, width: int) -> None:
        self._subscriptions[full] = await self._processor.bus.subscribe(full, self.step.name, width=width)

    async def _take(self, full: str, width: int) -> None:
        delayed = full != self._processor.space.full(self.step.topic.name)
        while not self._stopping:
            if self.brake.on:
                await self._halt()
            await self._slots.acquire()
            held = False
            try:
                delivery = await self._subscriptions[full].receive()
                if delayed and self._early(delivery) > 0:
                    held = True
                    self._hold(delivery, full)
                else:
                    held = True
                    self._begin(delivery, full)
            except BusFailed as error:
                await self._reopen(full, width, error)
            finally:
                if not held:
                    self._slots.release()

    def _early(self, delivery: Delivery) -> float:
        """Seconds until ``delivery`` is due: a broker may ignore the delay that was asked for."""
        return Envelope.of(delivery.properties).due / 1000 - self._processor.clock.now()

    def _hold(self, delivery: Delivery, full: str) -> None:
        """Keep ``delivery`` until it is due, unacknowledged; it occupies no slot meanwhile."""
        self._slots.release()
        task = asyncio.create_task(self._later(delivery, full))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _later(self, delivery: Delivery, full: str) -> None:
        await self._processor.clock.sleep(self._early(delivery))
        await self._slots.acquire()
        self._begin(delivery, full)

    def _begin(self, delivery: Delivery, full: str) -> None:
        task = asyncio.create_task(
            self._processor(self.step, delivery, self._subscriptions[full], self.brake)
        )
        self._tasks[task] = self._processor.clock.now()
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._slots.release()

    async def _halt(self) -> None:
        """The brake is on: somebody has to look. Only a restart takes messages again."""
        self._processor.observer.event("brake_on", "error", step=self.step.name, burials=self.brake.limit)
        await asyncio.Event().wait()

    async def _reopen(self, full: str, width: int, error: BusFailed) -> None:
        broken = self._subscriptions.pop(full, None)
        self._processor.observer.event(
            "consumer_lost", "warning", step=self.step.name, topic=full, error=str(error)
        )
        tries = 0
        while full not in self._subscriptions and not self._stopping:
            await self._processor.clock.sleep(REOPEN_SECONDS[min(tries, len(REOPEN_SECONDS) - 1)])
            tries += 1
            try:
                if broken is not None:
                    await broken.close()
                    broken = None
                await self._open(full, width)
            except BusFailed:
                continue
