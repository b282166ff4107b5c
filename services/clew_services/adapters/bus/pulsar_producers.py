"""Producers by topic: made once, kept, the least recently used closed when there are too many.

Making one for each message would grow the library's memory without end.
"""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from clew_services.adapters.bus.pulsar_calls import CallFailed, built, call, producer_options
from clew_services.adapters.bus.pulsar_errors import translated
from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from collections.abc import Collection

    from clew_services.ports import Outgoing

_SURVIVED = frozenset({"Timeout", "MessageTooBig", "ProducerQueueIsFull", "MemoryBufferIsFull"})
"""Errors of a send after which the producer works as before."""


class _Entry:
    """A producer that is being made or is there, and how many sends use it now."""

    __slots__ = ("made", "producer", "users")

    def __init__(self, made: asyncio.Task[Any]) -> None:
        self.made = made
        self.producer: Any = None
        self.users = 0


class Producers:
    """A bounded cache of producers on one client.

    Args:
        client: the library's.
        send_timeout: seconds after which an unconfirmed message counts as failed.
        capacity: how many are kept open beside the pinned ones; more only while all are in use.
        pinned: topics whose producers are never closed.
        max_pending: how many unconfirmed messages a producer holds; the bus keeps fewer in flight.
    """

    def __init__(
        self,
        client: Any,
        *,
        send_timeout: float,
        capacity: int,
        pinned: Collection[str],
        max_pending: int,
    ) -> None:
        self._client = client
        self._send_timeout_ms = max(1, round(send_timeout * 1000))
        self._capacity = capacity
        self._pinned = frozenset(pinned)
        self._max_pending = max_pending
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._evicted: set[asyncio.Task[None]] = set()
        # pulsar-lite would call all producers of all processes the same; a broker's log should tell them apart.
        self._prefix = f"clew-{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._made = 0

    def __len__(self) -> int:
        return len(self._entries)

    async def send(self, message: Outgoing) -> None:
        """Publish, with the cached producer of its topic. Raises BusFailed or TooLarge."""
        topic = message.topic
        entry = self._entry(topic)
        entry.users += 1
        try:
            producer = entry.producer or await self._opened(topic, entry)
            await call(producer.send_async, built(message))
        except CallFailed as error:
            if error.name not in _SURVIVED:
                self._drop(topic, entry)
            raise translated(error, f"publishing to {topic}") from error
        finally:
            entry.users -= 1

    async def close(self) -> None:
        """Close all. What is not confirmed yet fails."""
        entries = list(self._entries.values())
        self._entries.clear()
        await asyncio.gather(*(_close(entry) for entry in entries), *self._evicted)

    def _entry(self, topic: str) -> _Entry:
        entry = self._entries.get(topic)
        if entry is None:
            entry = _Entry(asyncio.get_running_loop().create_task(self._make(topic)))
            self._entries[topic] = entry
            self._shrink()
        self._entries.move_to_end(topic)
        return entry

    async def _opened(self, topic: str, entry: _Entry) -> Any:
        try:
            entry.producer = await asyncio.shield(entry.made)
        except CallFailed as error:
            self._forget(topic, entry)
            raise translated(error, f"opening a producer on {topic}") from error
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if entry.made.cancelled() and task is not None and not task.cancelling():
                # Not the caller was cancelled: the bus was closed.
                raise BusFailed(f"publishing to {topic}: the bus was closed") from None
            raise
        return entry.producer

    async def _make(self, topic: str) -> Any:
        self._made += 1
        options = producer_options(
            name=f"{self._prefix}-{self._made}",
            send_timeout_ms=self._send_timeout_ms,
            max_pending=self._max_pending,
        )
        return await call(self._client.create_producer_async_v2, topic, options)

    def _shrink(self) -> None:
        for topic, entry in list(self._entries.items()):
            if len(self._entries) - len(self._pinned & self._entries.keys()) <= self._capacity:
                return
            if entry.users == 0 and entry.made.done() and topic not in self._pinned:
                self._drop(topic, entry)

    def _drop(self, topic: str, entry: _Entry) -> None:
        if self._forget(topic, entry):
            task = asyncio.get_running_loop().create_task(_close(entry))
            self._evicted.add(task)
            task.add_done_callback(self._evicted.discard)

    def _forget(self, topic: str, entry: _Entry) -> bool:
        if self._entries.get(topic) is not entry:
            return False
        del self._entries[topic]
        return True


async def _close(entry: _Entry) -> None:
    """Close without complaint: there is nothing that a caller could do about it."""
    if not entry.made.done():
        entry.made.cancel()
        return
    if entry.made.cancelled() or entry.made.exception() is not None:
        return
    try:
        await call(entry.made.result().close_async)
    except CallFailed:
        return
