"""A running set of consumers: started together, stopped without losing a message, asked for their health."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from clew_services.errors import ClewError
from clew_services.runtime.consume import Consumer
from clew_services.runtime.watchdog import PATIENCE, Watchdog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_services.ports import Backlogs
    from clew_services.runtime.process import Processor
    from clew_services.runtime.step import Step

PRUNE_EVERY = 600.0
"""Seconds between looks for old records in the ledger, or a quarter of their retention, if that is less."""


class Service:
    """Runs ``steps`` until ``stop``. ``retention``: seconds that ledger records are kept.

    A record must outlive every redelivery of its message, so ``retention`` has to be longer than the
    longest time a broker may hold one back.
    """

    def __init__(
        self,
        steps: Sequence[Step[Any]],
        processor: Processor,
        *,
        retention: float = 86_400.0,
        backlogs: Backlogs | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """Nothing runs before ``start``. Without ``backlogs`` no watchdog: it could not tell stuck from idle."""
        self.consumers = [Consumer(step, processor) for step in steps]
        self._watchdog: Watchdog | None = None
        if backlogs is not None:
            self._watchdog = Watchdog(
                consumers=self.consumers,
                backlogs=backlogs,
                clock=processor.clock,
                observer=processor.observer,
                patience=patience,
            )
        self._processor = processor
        self._retention = retention
        self._aside: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Subscribe every step. Raises BusFailed, and then has stopped what it had started."""
        try:
            for consumer in self.consumers:
                await consumer.start()
        except ClewError:
            await self.stop()
            raise
        self._aside = [asyncio.create_task(self._prune())]
        if self._watchdog is not None:
            self._aside.append(asyncio.create_task(self._watchdog.run()))
        self._processor.observer.event("service_ready", steps=[c.step.name for c in self.consumers])

    async def stop(self) -> None:
        """Stop taking, finish what is in hand, close the subscriptions. Idempotent."""
        self._processor.observer.event("service_stopping", in_hand=sum(c.in_hand for c in self.consumers))
        for task in self._aside:
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)
        self._aside = []
        await asyncio.gather(*(consumer.stop() for consumer in self.consumers))
        self._processor.observer.event("service_stopped")

    @property
    def ready(self) -> bool:
        """Whether every consumer takes messages."""
        return all(consumer.ready for consumer in self.consumers)

    def release_brakes(self, steps: Sequence[str]) -> list[str]:
        """Take the brakes of ``steps`` off, or all with none named; which were on. Raises KeyError for another name."""
        known = {consumer.step.name: consumer for consumer in self.consumers}
        return [name for name in steps or known if known[name].release_brake()]

    def health(self) -> dict[str, dict[str, object]]:
        """Per step: ready, in hand, age of the oldest in seconds, brake."""
        metrics = self._processor.observer.metrics
        for consumer in self.consumers:
            name = consumer.step.name
            metrics.in_flight.labels(name).set(consumer.in_hand)
            metrics.oldest.labels(name).set(consumer.oldest())
            metrics.braked.labels(name).set(consumer.brake.on)
        return {
            c.step.name: {
                "ready": c.ready,
                "in_hand": c.in_hand,
                "oldest_seconds": round(c.oldest(), 3),
                "brake": c.brake.on,
            }
            for c in self.consumers
        }

    async def _prune(self) -> None:
        while True:
            await self._processor.clock.sleep(min(PRUNE_EVERY, self._retention / 4))
            with suppress(
                ClewError
            ):  # the next round tries again; the ledger's own failures show in settling
                gone = await self._processor.ledger.prune(self._processor.clock.now() - self._retention)
                self._processor.observer.event("ledger_pruned", records=gone)
