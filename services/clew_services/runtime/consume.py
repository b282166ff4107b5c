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
        self._heard: dict[str, float] = {}
        self._stopping = False
        self._braked = False
        self._gate = asyncio.Lock()
        self._released = asyncio.Event()

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

    def quiet(self) -> dict[str, float]:
        """Per topic, seconds since the last delivery or subscription. Nothing while a message is in hand or held."""
        if self._tasks or self._waiting or self.brake.on or self._stopping:
            return {}
        now = self._processor.clock.now()
        return {topic: now - self._heard[topic] for topic in self._subscriptions if topic in self._heard}

    async def subscribe_anew(self, topic: str) -> None:
        """Close the subscription of ``topic``; the loop that reads it opens another."""
        if topic in self._subscriptions:
            with suppress(BusFailed):
                await self._subscriptions[topic].close()

    def release_brake(self) -> bool:
        """Take the brake off, as an operator asks; whether it was on. What is wrong may pull it again."""
        if not self.brake.on:
            return False
        self.brake.open()
        self._brake_is_off("an operator")
        self._released.set()
        return True

    async def _open(self, full: str, width: int) -> Subscription:
        opened = await self._processor.bus.subscribe(full, self.step.name, width=width)
        self._heard[full] = self._processor.clock.now()
        return opened

    async def _take(self, full: str, width: int) -> None:
        delayed = full == self._processor.space.retry(self.step.topic.name, self.step.service)
        while True:
            source = self._subscriptions[full]
            try:
                delivery = await source.receive()
                self._heard[full] = self._processor.clock.now()
            except BusFailed as error:
                await self._reopen(full, width, error)
                continue
            if delayed and self._early(delivery) > 0:
                self._hold(delivery, source)
            else:
                await self._begin(delivery, source)

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
        """Handle ``delivery`` when there is a slot and the brake is off. With the brake on it may be the probe."""
        await self._slots.acquire()
        while self.brake.on:
            self._slots.release()
            if await self._held_by_brake(delivery, source):
                return
            await self._slots.acquire()
        self._handle(delivery, source)

    def _handle(self, delivery: Delivery, source: Subscription) -> asyncio.Task[None]:
        task = asyncio.create_task(self._processor(self.step, delivery, source, self.brake))
        self._tasks[task] = self._processor.clock.now()
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._slots.release()
        if self.brake.on and not self._braked:
            self._braked = True
            self._released.clear()
            self._processor.observer.event(
                "brake_on", "error", step=self.step.name, burials=self.brake.limit, probe_in=self.brake.wait
            )

    async def _held_by_brake(self, delivery: Delivery, source: Subscription) -> bool:
        """Wait for the brake; whether ``delivery`` needs no more handling: it was the probe, or is somebody else's."""
        async with self._gate:
            if self.brake.on:
                await self._until_probe()
            if source not in self._subscriptions.values():
                return True  # a subscription that was lost meanwhile gives it to us again
            if not self.brake.on:
                return False
            self.brake.probing = True
            self._processor.observer.event("brake_probe", "warning", step=self.step.name)
            await self._slots.acquire()
            await asyncio.wait([self._handle(delivery, source)])
            if self.brake.probed():
                self._brake_is_off("a probe")
            return True

    async def _until_probe(self) -> None:
        """Return when it is time for a probe, or when an operator took the brake off."""
        sleeping = asyncio.create_task(self._processor.clock.sleep(self.brake.wait))
        released = asyncio.create_task(self._released.wait())
        try:
            await asyncio.wait((sleeping, released), return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            released.cancel()

    def _brake_is_off(self, by: str) -> None:
        self._braked = False
        self._processor.observer.event("brake_off", "warning", step=self.step.name, by=by)

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
