"""A watchdog: a consumer that gets nothing although its broker has something for it is subscribed anew.

Brokers were seen to stop handing out to a consumer that is connected and idle (apache/pulsar#14082, #25394): its
connection is well, its process is well, and its backlog grows. Only a lack of progress shows it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_services.ports import Backlogs, Clock
    from clew_services.runtime.consume import Consumer
    from clew_services.runtime.observe import Observer

PATIENCE = 30.0
"""Seconds without a delivery, with nothing in hand, after which the broker is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watchdog:
    """Looks at ``consumers`` every third of ``patience`` seconds. ``backlogs`` asks the broker."""

    consumers: Sequence[Consumer]
    backlogs: Backlogs
    clock: Clock
    observer: Observer
    patience: float = PATIENCE

    async def run(self) -> None:
        """Look, until cancelled."""
        while True:
            await self.clock.sleep(self.patience / 3)
            for consumer in self.consumers:
                await self.look(consumer)

    async def look(self, consumer: Consumer) -> None:
        """Subscribe ``consumer`` anew wherever it was quiet for too long and something waits for it."""
        for topic, quiet in consumer.quiet().items():
            if quiet < self.patience:
                continue
            try:
                async with asyncio.timeout(self.patience):
                    waiting = await self.backlogs.ready(topic, consumer.step.name)
            except (BusFailed, TimeoutError):
                continue  # a broker that does not answer is another trouble, and /readyz tells of it
            if waiting and consumer.quiet().get(topic, 0.0) >= self.patience:
                self.observer.stuck(consumer.step.name, topic, waiting, quiet)
                await consumer.subscribe_anew(topic)
