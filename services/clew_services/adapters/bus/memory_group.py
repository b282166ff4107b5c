"""One subscription of the broker in memory: what is ready, who waits for it, what is settled."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from clew_services.ports import Delivery

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from clew_services.adapters.bus.memory_broker import MemorySubscription
    from clew_services.ports import Outgoing


class Entry:
    """One message in one subscription: what is handed out, and whether it is settled."""

    __slots__ = ("delivery", "number", "settled")

    def __init__(self, number: int, message: Outgoing) -> None:
        self.number = number
        self.settled = False
        self.delivery = Delivery(
            topic=message.topic,
            payload=message.payload,
            key=message.key,
            properties=dict(message.properties),
            broker_id=f"{message.topic}/{number}",
            handle=self,
        )


class Group:
    """A named subscription: what is ready to be handed out, and the calls of ``receive`` that wait for it."""

    __slots__ = ("consumers", "name", "ready", "topic", "unsettled", "waiting")

    def __init__(self, topic: str, name: str) -> None:
        self.topic = topic
        self.name = name
        self.ready: deque[Entry] = deque()
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.consumers: set[MemorySubscription] = set()
        self.unsettled = 0

    def offer(self, entry: Entry) -> None:
        """Make ``entry`` ready and wake one waiting call."""
        self.ready.append(entry)
        wake_one(self.waiting)

    def hand_back(self, entries: Sequence[Entry]) -> None:
        """Make entries ready again, before all newer ones, in their old order."""
        for entry in sorted(entries, key=lambda e: e.number, reverse=True):
            self.ready.appendleft(entry)
            wake_one(self.waiting)

    def take(self) -> Entry | None:
        """The next entry that nobody settled in the meantime, if there is one."""
        while self.ready:
            entry = self.ready.popleft()
            if not entry.settled:
                return entry
        return None

    def settle(self, entry: Entry) -> None:
        """Never hand ``entry`` out again."""
        if not entry.settled:
            entry.settled = True
            self.unsettled -= 1


def wake_one(waiting: deque[asyncio.Future[None]]) -> None:
    """Let the call go on that waited longest and was not cancelled."""
    while waiting:
        future = waiting.popleft()
        if not future.done():
            future.set_result(None)
            return


class Topic:
    """What was published, in order, and the subscriptions that read it."""

    __slots__ = ("count", "groups", "history")

    def __init__(self, history: int | None) -> None:
        self.count = 0
        self.history: deque[tuple[int, Outgoing]] = deque(maxlen=history)
        self.groups: dict[str, Group] = {}
