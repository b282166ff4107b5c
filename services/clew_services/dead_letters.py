"""The dead letters as a box: look into it, send a letter's message again, throw one away. Nothing else empties it."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from clew_schema import topics
from clew_schema.envelope import Envelope
from clew_services.ports import Outgoing
from clew_translators import bus as wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew_schema.errors import DeadLetter
    from clew_schema.topics import TopicSpace
    from clew_services.ports import Bus, Delivery, Subscription

INBOX = "dead-letter.inbox"
"""The one durable subscription on the dead-letter topic; an unacknowledged letter stays in the box."""

WIDTH = 1000
"""Letters looked at in one go."""

QUIET = 0.5
"""Seconds without another letter after which the box counts as read."""


async def keep_letters(bus: Bus, space: TopicSpace) -> None:
    """Make sure that the box exists, so that a broker keeps letters nobody reads yet. Raises BusFailed."""
    await (await bus.subscribe(space.full(topics.DEAD_LETTER.name), INBOX, width=1)).close()


class DeadLetters:
    """Works on the box of one topic space. One at a time: two who look at once see different letters."""

    def __init__(self, bus: Bus, space: TopicSpace) -> None:
        """``bus`` stays the caller's to close."""
        self._bus = bus
        self._space = space

    async def letters(self) -> list[DeadLetter]:
        """Every letter, the oldest first; all stay in the box. Raises BusFailed."""
        return [letter for letter, _ in await self._visit(lambda _: False)]

    async def find(self, letter_id: str) -> DeadLetter | None:
        """The letter whose id begins with ``letter_id``; it stays in the box."""
        return next((x for x in await self.letters() if x.letter_id.startswith(letter_id)), None)

    async def requeue(self, letter_id: str, payload: str | None = None) -> DeadLetter | None:
        """Publish the letter's message again where it came from, with ``payload`` instead of its own if given.

        It gets a new message id, because its old one is recorded as failed, and starts at attempt 1; the
        caller's correlation id stays. Then the letter leaves the box. Null when there is none of that id.
        """
        letter = await self.find(letter_id)
        if letter is None:
            return None
        envelope = replace(
            Envelope.of(letter.properties), message_id=str(uuid4()), attempt=1, due=0, deadline=0
        )
        body = payload.encode() if payload is not None else _bytes(letter)
        await self._bus.publish(
            Outgoing(topic=letter.topic, payload=body, key=letter.key, properties=envelope.properties())
        )
        return await self.drop(letter.letter_id)

    async def drop(self, letter_id: str) -> DeadLetter | None:
        """Throw the letter away. Null when there is none of that id."""
        gone = await self._visit(lambda letter: letter.letter_id.startswith(letter_id))
        return next((letter for letter, dropped in gone if dropped), None)

    async def _visit(self, drop: Callable[[DeadLetter], bool]) -> list[tuple[DeadLetter, bool]]:
        """Every letter once, with whether it was dropped: redelivered copies of one letter count as that letter."""
        box = await self._bus.subscribe(self._space.full(topics.DEAD_LETTER.name), INBOX, width=WIDTH)
        seen: dict[str, tuple[DeadLetter, bool]] = {}
        try:
            while (delivery := await _next(box)) is not None:
                letter = wire.decode(topics.DEAD_LETTER, delivery.payload)
                gone = drop(letter)
                if gone:
                    await box.ack(delivery)
                seen.setdefault(letter.letter_id, (letter, gone))
        finally:
            await box.close()
        return list(seen.values())


async def _next(box: Subscription) -> Delivery | None:
    try:
        async with asyncio.timeout(QUIET):
            return await box.receive()
    except TimeoutError:
        return None


def _bytes(letter: DeadLetter) -> bytes:
    return b64decode(letter.payload) if letter.encoding == "base64" else letter.payload.encode()
