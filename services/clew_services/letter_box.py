"""The dead letters as the broker keeps them: one durable subscription whose messages nobody acknowledges unasked."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clew_schema import ids, topics
from clew_schema.errors import DeadLetter, Error
from clew_services.errors import BadRequest, Unreadable
from clew_services.letter_filter import moment
from clew_services.runtime.letter import body_of, text_of
from clew_translators import bus as wire

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from clew_schema.topics import TopicSpace
    from clew_services.ports import Bus, Delivery, Subscription

INBOX = "dead-letter.inbox"
"""The one durable subscription on the dead-letter topic; an unacknowledged letter stays in the box."""

WIDTH = 40_000
"""Messages looked at in one go: the oldest. A broker lets a consumer hold 50,000 that it has not settled."""

QUIET = 0.5
"""Seconds without another letter after which the box counts as read."""

SLOW = 4
"""So many times as long as the broker takes to answer a question, silence has to last."""

LONGEST = 10.0
"""Seconds after which letters that come while somebody reads are left for the next visit."""


async def keep_letters(bus: Bus, space: TopicSpace) -> None:
    """Make sure that the box exists, so that a broker keeps letters nobody reads yet. Raises BusFailed."""
    await (await bus.subscribe(space.full(topics.DEAD_LETTER.name), INBOX, width=1)).close()


class OpenBox:
    """The box while one visitor has it open: what lies in it is given to nobody else meanwhile."""

    def __init__(self, source: Subscription) -> None:
        """Empty until ``add``."""
        self._source = source
        self._held: dict[str, list[tuple[DeadLetter, Delivery]]] = {}
        self.full = False
        """Whether it holds more than one visit can see."""

    def add(self, delivery: Delivery) -> DeadLetter:
        """One more message of the box."""
        letter = letter_in(delivery)
        held = self._held.setdefault(letter.letter_id, [])
        held.append((letter, replace(delivery, payload=b"")))
        return letter

    def letters(self) -> Sequence[DeadLetter]:
        """Every letter once and whole, the oldest first."""
        whole = (_whole([letter for letter, _ in held]) for held in self._held.values())
        return sorted(whole, key=lambda x: (x.buried_at, x.letter_id))

    async def take_out(self, letter: DeadLetter) -> None:
        """``letter``, every delivery and part of it, leaves the box. Raises BusFailed."""
        for _, delivery in self._held.pop(letter.letter_id, ()):
            await self._source.ack(delivery)


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterBox:
    """The box of one topic space. ``bus`` stays the caller's to close; ``quiet`` is in seconds."""

    bus: Bus
    space: TopicSpace
    quiet: float = QUIET

    @property
    def topic(self) -> str:
        """Where letters are published."""
        return self.space.full(topics.DEAD_LETTER.name)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[OpenBox]:
        """The box, read. What is not taken out of it stays in it. Raises BusFailed."""
        source = await self.bus.subscribe(self.topic, INBOX, width=WIDTH)
        try:
            box = OpenBox(source)
            await self._read(box, source)
            yield box
        finally:
            await source.close()

    async def _read(self, box: OpenBox, source: Subscription) -> None:
        began, ends = time.time(), time.monotonic() + LONGEST
        for _ in range(WIDTH):
            delivery = await self._next(source)
            if delivery is None:
                return
            letter = box.add(delivery)
            # Where letters come all the time, the end is where those begin that were written since.
            if time.monotonic() > ends and _since(letter, began):
                return
        box.full = True

    async def _next(self, source: Subscription) -> Delivery | None:
        """The next letter; null once nothing came for so long that a broker as slow as this one has given all."""
        quiet, loop = self.quiet, asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout(quiet):
                    return await source.receive()
            except TimeoutError:
                asked = loop.time()
                await self.bus.ping()
                took = loop.time() - asked
                if took * SLOW <= max(quiet, 0.05):
                    return None
                quiet = took * SLOW


def letter_in(delivery: Delivery) -> DeadLetter:
    """What is in the box as a letter; what is none becomes one that says so, and can be shown and dropped."""
    try:
        return wire.decode(topics.DEAD_LETTER, delivery.payload)
    except wire.NotThisMessage as error:
        payload, encoding = text_of(delivery.payload)
        return DeadLetter(
            letter_id=ids.derive("foreign-letter", delivery.broker_id),
            properties=dict(delivery.properties),
            payload=payload,
            encoding=encoding,
            payload_bytes=len(delivery.payload),
            error=Error(type=Unreadable.type, message=f"in the box lies no letter: {error}"),
        )


def whole_body(letter: DeadLetter) -> bytes:
    """The bytes of the message. Raises Unreadable for a letter whose base64 is none."""
    try:
        return body_of(letter)
    except ValueError as error:
        raise Unreadable(
            f"letter {letter.letter_id} says that its body is base64, and it is not: give a repaired body"
        ) from error


def _whole(copies: Sequence[DeadLetter]) -> DeadLetter:
    """The newest edition of a letter, put together from its parts; cut, and so told, where a part is missing."""
    newest = max(letter.edited_at for letter in copies)
    edition = {letter.part: letter for letter in copies if letter.edited_at == newest}
    first = edition[min(edition)]
    if first.parts == 1:
        return first
    pieces = []
    for number in range(1, first.parts + 1):
        if number not in edition:
            break
        try:
            pieces.append(body_of(edition[number]))
        except ValueError:  # somebody else's letter: it hides no other
            break
    body = b"".join(pieces)
    changes = {"part": 1, "parts": 1, "truncated": len(pieces) < first.parts}
    payload, encoding = text_of(body) if not changes["truncated"] else (b64encode(body).decode(), "base64")
    return first.model_copy(update=changes | {"payload": payload, "encoding": encoding})


def _since(letter: DeadLetter, began: float) -> bool:
    try:
        at = moment(letter.buried_at, "buried_at")
    except BadRequest:  # somebody else's letter: it says nothing
        return False
    return at is not None and at.timestamp() > began
