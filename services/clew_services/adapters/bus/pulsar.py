"""The bus on Apache Pulsar, and on pulsar-lite.

Shared subscriptions, batching off, the receiver queue as long as the width, earliest position for a new
subscription, and nothing unsubscribed on the way out: a message waits for the next process. What differs
between a real broker and pulsar-lite stands in ``_open_consumer`` and nowhere else.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from typing import TYPE_CHECKING, Any

from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_services.adapters.bus.pulsar_calls import CallFailed, call, consumer_options
from clew_services.adapters.bus.pulsar_client import (
    PulsarSecurity,
    client_options,
    close_at_exit,
    close_client,
    new_client,
)
from clew_services.adapters.bus.pulsar_consumer import PulsarSubscription
from clew_services.adapters.bus.pulsar_errors import ALIVE, translated
from clew_services.adapters.bus.pulsar_nudge import Nudger
from clew_services.adapters.bus.pulsar_producers import Producers
from clew_services.core.outgoing import check_outgoing
from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from clew_services.ports import Outgoing, Position

LITE_RANKS = 16
"""How many processes may share a subscription on pulsar-lite."""

_PING_TOPIC = "persistent://public/default/clew-ping"
_LITE_SETTLE_SECONDS = 0.15
"""pulsar-lite drops a connection on which an unsubscribe overtakes an ack; acks are sent within 100 ms."""


class PulsarBus:
    """A connection to a broker, for the life of a process. Close it.

    Must be made, used and closed in one event loop. A process that forgets to close it still ends in
    order. Not for use across a fork.

    Args:
        url: ``pulsar://host:6650`` or ``pulsar+ssl://host:6651``.
        lite: the broker is pulsar-lite, which confuses two consumers with the same number on one subscription:
            each consumer gets a client of its own, and a number that no other process uses.
        lite_rank: this process's number among those that share a subscription on pulsar-lite.
        security: token and TLS.
        operation_timeout: seconds for opening a producer or a consumer.
        send_timeout: seconds until an unconfirmed message counts as failed. It outlives shorter outages.
        nack_delay: seconds before a nacked message comes again.
        max_in_flight: at most so many unconfirmed messages; further calls of ``publish`` wait.
        max_producers: producers kept open beside those of ``pinned``.
        pinned: topics whose producer stays open.
        max_bytes: the largest body.
        log_path: where the client library writes its own errors; standard error if absent.
    """

    def __init__(
        self,
        url: str,
        *,
        lite: bool,
        lite_rank: int = 0,
        security: PulsarSecurity | None = None,
        operation_timeout: float = 10.0,
        send_timeout: float = 10.0,
        nack_delay: float = 1.0,
        max_in_flight: int = 500,
        max_producers: int = 64,
        pinned: Collection[str] = (),
        max_bytes: int = MAX_MESSAGE_BYTES,
        log_path: Path | None = None,
    ) -> None:
        if not 0 <= lite_rank < LITE_RANKS:
            raise ValueError(f"lite_rank {lite_rank}: give each process a number from 0 to {LITE_RANKS - 1}")
        if not url.startswith(("pulsar://", "pulsar+ssl://")):
            raise ValueError(
                f"broker address {url!r}: it has the form pulsar://HOST:6650 or pulsar+ssl://HOST:6651"
            )
        self.url = url
        self._lite = lite
        self._lite_rank = lite_rank
        self._client_options = client_options(security or PulsarSecurity(), operation_timeout, log_path)
        self._nack_delay = nack_delay
        self._max_bytes = max_bytes
        self._client = self._new_client()
        self._in_flight = asyncio.Semaphore(max_in_flight)
        self._producers = Producers(
            self._client,
            send_timeout=send_timeout,
            capacity=max_producers,
            pinned=pinned,
            max_pending=max_in_flight + 1,
        )
        self._nudger = Nudger(self._producers.send) if lite else None
        self._subscriptions: dict[PulsarSubscription, tuple[Any, int]] = {}
        self._opening: set[tuple[str, str, int]] = set()
        self._strays: set[asyncio.Task[Any]] = set()
        self._closing: asyncio.Task[None] | None = None
        _OPEN.add(self)

    async def publish(self, message: Outgoing) -> None:
        """Return once the broker confirmed. Raises BusFailed, TooLarge, or BadRequest (properties not UTF-8).

        A cancelled or failed call may have published all the same.
        """
        self._check_open()
        check_outgoing(message, self._max_bytes)
        async with self._in_flight:
            await self._producers.send(message)
        if self._nudger is not None:
            self._nudger.published(message)

    async def subscribe(
        self, topic: str, subscription: str, *, width: int, position: Position = "earliest"
    ) -> PulsarSubscription:
        """Join a Shared subscription. Raises BusFailed; ValueError for a width below 1."""
        self._check_open()
        if width < 1:
            raise ValueError(f"width {width} for {subscription} on {topic}: give at least 1")
        opening = asyncio.get_running_loop().create_task(self._open(topic, subscription, width, position))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            # The library opens it all the same, and a consumer that nobody knows would sit on messages.
            self._strays.add(opening)
            opening.add_done_callback(self._close_stray)
            raise

    async def unsubscribe(self, topic: str, subscription: str) -> None:
        """Forget a subscription; one that does not exist is forgotten already. Raises BusFailed."""
        self._check_open()
        ours = [s for s in self._subscriptions if (s.topic, s.name) == (topic, subscription)]
        for extra in ours[1:]:
            await extra.close()
        consumer = ours[0] if ours else await self.subscribe(topic, subscription, width=1)
        if self._lite:
            await asyncio.sleep(_LITE_SETTLE_SECONDS)
        await consumer.unsubscribe()

    async def ping(self) -> None:
        """Return if the broker answers a lookup, else raise BusFailed after the operation timeout."""
        self._check_open()
        try:
            await call(self._client.get_topic_partitions_async, _PING_TOPIC)
        except CallFailed as error:
            if error.name not in ALIVE:
                raise translated(error, f"asking the broker at {self.url}") from error

    async def close(self) -> None:
        """Close consumers, then producers, then the clients. Idempotent; concurrent calls wait for one close."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await asyncio.gather(*self._strays, return_exceptions=True)
            await asyncio.gather(*(s.close() for s in list(self._subscriptions)), return_exceptions=True)
            if self._nudger is not None:
                await self._nudger.close()
            await self._producers.close()
            await close_client(self._client)
        finally:
            _OPEN.discard(self)

    async def _open(
        self, topic: str, subscription: str, width: int, position: Position
    ) -> PulsarSubscription:
        number = self._free_number(topic, subscription)
        self._opening.add((topic, subscription, number))
        try:
            client, consumer = await self._open_consumer(topic, subscription, number, width, position)
        except CallFailed as error:
            raise translated(error, f"subscribing {subscription} to {topic} at {self.url}") from error
        finally:
            self._opening.discard((topic, subscription, number))
        opened = PulsarSubscription(
            consumer, topic=topic, name=subscription, width=width, release=self._released
        )
        self._subscriptions[opened] = (client, number)
        if self._closing is not None:
            await opened.close()
            self._check_open()
        return opened

    def _close_stray(self, opening: asyncio.Task[PulsarSubscription]) -> None:
        self._strays.discard(opening)
        if not opening.cancelled() and opening.exception() is None:
            closing = asyncio.get_running_loop().create_task(opening.result().close())
            self._strays.add(closing)
            closing.add_done_callback(self._strays.discard)

    async def _open_consumer(
        self, topic: str, subscription: str, number: int, width: int, position: Position
    ) -> tuple[Any, Any]:
        """Subscribe; on pulsar-lite with a client of its own whose first ``number`` consumer ids are used up."""
        client = self._new_client() if self._lite else self._client
        try:
            if self._lite and number:
                burnt = [f"non-persistent://public/default/burn-{number}-{i}" for i in range(number)]
                name = f"burn-{os.getpid()}-{id(client)}"
                options = consumer_options(width=1, nack_delay_ms=1000, earliest=False)
                burner = await call(client.subscribe_async_v2, burnt, name, options)
                await call(burner.close_async)
            options = consumer_options(
                width=width,
                nack_delay_ms=max(100, round(self._nack_delay * 1000)),
                earliest=position == "earliest",
            )
            consumer = await call(client.subscribe_async_v2, topic, subscription, options)
        except BaseException:
            if client is not self._client:
                await close_client(client)
            raise
        return client, consumer

    def _free_number(self, topic: str, subscription: str) -> int:
        """The consumer's number on its subscription: our rank, then our rank one round further, and so on."""
        used = {n for s, (_, n) in self._subscriptions.items() if (s.topic, s.name) == (topic, subscription)}
        used |= {n for t, s, n in self._opening if (t, s) == (topic, subscription)}
        number = self._lite_rank
        while number in used:
            number += LITE_RANKS
        return number

    async def _released(self, subscription: PulsarSubscription) -> None:
        client, _ = self._subscriptions.pop(subscription, (self._client, 0))
        if client is not self._client:
            await close_client(client)

    def _new_client(self) -> Any:
        return new_client(self.url, self._client_options)

    def clients(self) -> list[Any]:
        """The library's clients that are open now."""
        own = [client for client, _ in self._subscriptions.values() if client is not self._client]
        return [*own, self._client]

    def _check_open(self) -> None:
        if self._closing is not None:
            raise BusFailed(f"the bus to {self.url} is closed; open another")


_OPEN: set[PulsarBus] = set()
"""Kept here until closed: a client object that is collected unclosed can abort the process."""


@atexit.register
def _shut_down_open() -> None:
    close_at_exit([client for bus in _OPEN for client in bus.clients()])
