"""A bus inside the process: for tests of whatever stands on the bus, for benchmarks, for one-process use.

It keeps the promises of the port: durable subscriptions (durable as long as the broker object),
redelivery after a lost consumer, stable ids, at most ``width`` unsettled messages for a consumer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_services.adapters.bus.memory_broker import MemoryBroker, MemorySubscription
from clew_services.core.outgoing import check_outgoing
from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew_services.ports import Clock, Delivery, Outgoing, Position

__all__ = ["MemoryBroker", "MemoryBus", "MemorySubscription"]


class MemoryBus:
    """A connection to a MemoryBroker; two of them on one broker are like two processes.

    Args:
        clock: tells the time for ``deliver_at`` and ``nack``; the wall clock if absent.
        broker: what holds the topics; a new one if absent.
        fail_publish: publishing raises BusFailed, and publishes nothing, where this returns true.
        fail_ack: acknowledging raises BusFailed, and settles nothing, where this returns true.
        max_bytes: the largest body.
        honour_delays: whether ``deliver_at`` counts; a broker may ignore it (pulsar-lite does). Given to the
            new broker; so are the next two.
        nack_delay: seconds before a nacked message comes again.
        history: how many messages a topic keeps for later subscriptions and for ``messages``; all if absent.
    """

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        broker: MemoryBroker | None = None,
        fail_publish: Callable[[Outgoing], bool] | None = None,
        fail_ack: Callable[[Delivery], bool] | None = None,
        max_bytes: int = MAX_MESSAGE_BYTES,
        honour_delays: bool = True,
        nack_delay: float = 0.0,
        history: int | None = None,
    ) -> None:
        self.broker = broker or MemoryBroker(
            clock, honour_delays=honour_delays, nack_delay=nack_delay, history=history
        )
        self._fail_publish = fail_publish
        self._fail_ack = fail_ack
        self._max_bytes = max_bytes
        self._consumers: list[MemorySubscription] = []
        self._closed = False

    async def publish(self, message: Outgoing) -> None:
        """Append to the topic. Raises BusFailed (closed, stopped, or told to fail), TooLarge, BadRequest."""
        self._check_open()
        check_outgoing(message, self._max_bytes)
        if self._fail_publish is not None and self._fail_publish(message):
            raise BusFailed(f"publishing to {message.topic} failed, as this bus was told to")
        self.broker.append(message)

    async def subscribe(
        self, topic: str, subscription: str, *, width: int, position: Position = "earliest"
    ) -> MemorySubscription:
        """Join the subscription, made if it is new. Raises BusFailed; ValueError for a width below 1."""
        self._check_open()
        if width < 1:
            raise ValueError(f"width {width} for {subscription} on {topic}: give at least 1")
        self.broker.check_up()
        group = self.broker.group(topic, subscription, position)
        consumer = MemorySubscription(self.broker, group, width, self._fail_ack)
        self._consumers = [c for c in self._consumers if not c.closed]
        self._consumers.append(consumer)
        return consumer

    async def unsubscribe(self, topic: str, subscription: str) -> None:
        """Forget the subscription and its backlog; its consumers are closed. Nothing if there is none."""
        self._check_open()
        self.broker.check_up()
        self.broker.forget(topic, subscription)

    async def ping(self) -> None:
        """Return if the broker runs, else raise BusFailed."""
        self._check_open()
        self.broker.check_up()

    async def close(self) -> None:
        """Close the consumers, which hands back what is not settled. Idempotent. The broker keeps its topics."""
        self._closed = True
        self.crash()

    def crash(self) -> None:
        """As if the process had died: all consumers of this bus are gone, what they held comes again to others.

        The bus itself stays open, so that a test can go on with it as the restarted process.
        """
        consumers, self._consumers = self._consumers, []
        for consumer in consumers:
            consumer.drop()

    def messages(self, topic: str, key: str | None = None) -> Sequence[Outgoing]:
        """What was published to ``topic`` and is still kept, in order: all, or what has this key."""
        return self.broker.messages(topic, key)

    def backlog(self, topic: str, subscription: str) -> int:
        """How many messages of ``topic`` the subscription has not acknowledged; 0 if there is none."""
        return self.broker.backlog(topic, subscription)

    async def ready(self, topic: str, subscription: str) -> int:
        """How many messages the subscription could hand out now: this bus is its own port Backlogs."""
        return self.broker.ready(topic, subscription)

    def topics(self) -> Sequence[str]:
        """The topics that exist, in the order in which they were first used."""
        return self.broker.topics()

    def _check_open(self) -> None:
        if self._closed:
            raise BusFailed("the bus is closed; open another")
