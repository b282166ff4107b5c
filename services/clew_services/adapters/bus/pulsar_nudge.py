"""pulsar-lite 0.2.0 can forget to hand a message on; another message on the topic reminds it.

A message that is published while the broker is still writing a large one to the consumer may stay where it is
until the next publish. Seen with the plain client, too: 11 of 692 pairs of a 4 MB and a small message, 1 of 720 at
1 MB, none of 6,600 at 100 kB; none of 300 on Apache Pulsar. So after a large message the topic gets an empty one,
which our consumers acknowledge and do not show.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from clew_services.errors import ClewError
from clew_services.ports import Outgoing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

NUDGE = "clew-nudge"
"""The property that marks such a message."""

LARGE = 256 * 1024
"""Bytes from which a message is followed by a nudge."""

AFTER_SECONDS = 0.5
"""Wait after a topic's last large message."""


class Nudger:
    """Sends nudges through ``send``, at most one per topic and half second."""

    def __init__(self, send: Callable[[Outgoing], Awaitable[None]]) -> None:
        self._send = send
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def published(self, message: Outgoing) -> None:
        """Note that ``message`` is at the broker."""
        if len(message.payload) < LARGE:
            return
        if (timer := self._timers.get(message.topic)) is not None:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[message.topic] = loop.call_later(AFTER_SECONDS, self._nudge, message.topic)

    async def close(self) -> None:
        """Send no more."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _nudge(self, topic: str) -> None:
        del self._timers[topic]
        task = asyncio.get_running_loop().create_task(self._publish(topic))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _publish(self, topic: str) -> None:
        with suppress(
            ClewError
        ):  # a broker that is gone has forgotten nothing: it delivers anew when it is back
            await self._send(Outgoing(topic=topic, payload=b"", properties={NUDGE: "1"}))
