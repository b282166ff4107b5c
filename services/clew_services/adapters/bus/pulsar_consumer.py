"""One Pulsar consumer behind the Subscription port.

The library is asked for one message at a time, and that question is never taken back: a cancelled one would
stay queued in the library and take a message that nobody sees. What can be cancelled is our own waiting.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any

import _pulsar

from clew_services.adapters.bus.pulsar_calls import CallFailed, call, hand_over
from clew_services.adapters.bus.pulsar_errors import translated
from clew_services.adapters.bus.pulsar_nudge import NUDGE
from clew_services.errors import BusFailed
from clew_services.ports import Delivery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class PulsarSubscription:
    """A consumer on a Shared subscription. Made by ``PulsarBus.subscribe``.

    At most ``width`` messages are out of the library's queue and not settled; the queue itself holds up to as
    many again. A message that comes again (the connection was lost) while the first copy is still held here is
    not handed out twice: settling the one settles both.

    Args:
        consumer: the library's, subscribed.
        topic: the name that deliveries carry.
        name: the subscription's.
        width: at most so many unsettled messages.
        release: called once after the consumer is closed; closes a client that belongs to this consumer alone.
    """

    def __init__(
        self,
        consumer: Any,
        *,
        topic: str,
        name: str,
        width: int,
        release: Callable[[PulsarSubscription], Awaitable[None]],
    ) -> None:
        self.topic = topic
        self.name = name
        self._consumer = consumer
        self._width = width
        self._release = release
        self._loop = asyncio.get_running_loop()
        self._held: set[str] = set()
        self._buffer: deque[Delivery] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._armed = False
        self._accept = partial(hand_over, self._loop, self._arrived)
        self._closing: asyncio.Task[None] | None = None
        self._failure: CallFailed | None = None
        self._arm()

    async def receive(self) -> Delivery:
        """The next message, once fewer than ``width`` are unsettled. Raises BusFailed."""
        while True:
            if self._closing is not None:
                raise BusFailed(f"the consumer of {self.name} on {self.topic} is closed; subscribe again")
            if self._buffer:
                return self._buffer.popleft()
            if self._failure is not None:
                raise translated(self._failure, f"receiving from {self.topic}")
            await self._turn()

    async def ack(self, delivery: Delivery) -> None:
        """Settle. Sent with others within 100 ms, so a broker or process that dies right now may forget it."""
        self._check_open("acknowledging")
        try:
            await call(self._consumer.acknowledge_async, _message_id(delivery))
        except CallFailed as error:
            raise translated(error, f"acknowledging {delivery.broker_id}") from error
        self._settled(delivery)

    async def nack(self, delivery: Delivery) -> None:
        """Hand back; it comes again after the bus's ``nack_delay``, to whichever consumer is free."""
        self._check_open("handing back")
        self._consumer.negative_acknowledge(_message_id(delivery))
        self._settled(delivery)

    async def close(self) -> None:
        """Hand back what is not settled, keep the subscription. Idempotent; concurrent calls wait for one close."""
        if self._closing is None:
            self._closing = self._loop.create_task(self._close())
            self._wake_all()
        await asyncio.shield(self._closing)

    async def unsubscribe(self) -> None:
        """Forget the subscription and close. Raises BusFailed, for instance when it has other consumers."""
        self._check_open("unsubscribing")
        try:
            await call(self._consumer.unsubscribe_async)
        except CallFailed as error:
            raise translated(error, f"unsubscribing {self.name} from {self.topic}") from error
        finally:
            await self.close()

    async def _close(self) -> None:
        try:
            await call(self._consumer.close_async)
        except CallFailed as error:
            if error.name != "AlreadyClosed":
                raise translated(error, f"closing {self.name} on {self.topic}") from error
        finally:
            self._buffer.clear()
            await self._release(self)

    def _arm(self) -> None:
        """Ask the library for one message, unless it was asked already or ``width`` are unsettled."""
        if (
            self._armed
            or self._closing is not None
            or self._failure is not None
            or len(self._held) >= self._width
        ):
            return
        self._armed = True
        self._consumer.receive_async(self._accept)

    def _arrived(self, result: Any, message: Any) -> None:
        self._armed = False
        if self._closing is not None:
            return
        if result != _pulsar.Result.Ok:
            self._failure = CallFailed(result.name)
            self._wake_all()
            return
        message_id = message.message_id()
        broker_id = f"{self.topic}/{message_id}"
        if broker_id not in self._held:
            delivery = _delivery(message, message_id, broker_id, self.topic)
            if NUDGE in delivery.properties:
                self._consumer.acknowledge_async(message_id, _unheard)
            else:
                self._held.add(broker_id)
                self._buffer.append(delivery)
                self._wake_one()
        self._arm()

    def _settled(self, delivery: Delivery) -> None:
        self._held.discard(delivery.broker_id)
        self._arm()

    async def _turn(self) -> None:
        future: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._wake_one()  # the turn was ours and we do not take it
            raise

    def _wake_one(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                return

    def _wake_all(self) -> None:
        while self._waiting:
            self._wake_one()

    def _check_open(self, doing: str) -> None:
        if self._closing is not None:
            raise BusFailed(
                f"{doing}: the consumer of {self.name} on {self.topic} is closed; the message comes again"
            )


def _unheard(*result: Any) -> None:
    """Whether a nudge's acknowledgement arrived: if not, it comes again and is acknowledged again."""
    del result


def _delivery(message: Any, message_id: Any, broker_id: str, topic: str) -> Delivery:
    try:
        properties, key = message.properties(), message.partition_key()
    except UnicodeDecodeError:
        # A foreign producer's bytes. Without them the message is read like one that has no properties.
        properties, key = {}, ""
    return Delivery(
        topic=topic,
        payload=message.data(),
        key=key,
        properties=properties,
        broker_id=broker_id,
        handle=message_id,
    )


def _message_id(delivery: Delivery) -> Any:
    if not isinstance(delivery.handle, _pulsar.MessageId):
        raise TypeError(f"delivery {delivery.broker_id} was not received from this bus")
    return delivery.handle
