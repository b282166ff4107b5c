"""The dead letters as a box: look into it, send a letter's message again, throw one away. Nothing else empties it."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clew_schema import ids, topics
from clew_schema.envelope import Envelope
from clew_schema.errors import DeadLetter, Error
from clew_services.errors import BadRequest, TooLarge, Unreadable
from clew_services.ports import Outgoing
from clew_translators import bus as wire

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew_schema.topics import TopicSpace
    from clew_services.ports import Bus, Delivery, Subscription

INBOX = "dead-letter.inbox"
"""The one durable subscription on the dead-letter topic; an unacknowledged letter stays in the box."""

WIDTH = 1000
"""Letters looked at in one go: the oldest."""

QUIET = 0.5
"""Seconds without another letter after which the box counts as read."""


async def keep_letters(bus: Bus, space: TopicSpace) -> None:
    """Make sure that the box exists, so that a broker keeps letters nobody reads yet. Raises BusFailed."""
    await (await bus.subscribe(space.full(topics.DEAD_LETTER.name), INBOX, width=1)).close()


@dataclass(frozen=True, slots=True)
class _Found:
    """A letter, and every delivery of it that this visit holds."""

    letter: DeadLetter
    deliveries: list[Delivery]


class DeadLetters:
    """Works on the box of one topic space. One at a time: two who look at once see different letters.

    A letter is named by its id or a beginning of it that no other letter has. Every method raises BusFailed, and
    BadRequest for a beginning that several letters have.
    """

    def __init__(self, bus: Bus, space: TopicSpace, *, quiet: float = QUIET) -> None:
        """``bus`` stays the caller's to close; ``quiet`` is in seconds."""
        self._bus = bus
        self._space = space
        self._topic = space.full(topics.DEAD_LETTER.name)
        self._quiet = quiet

    async def letters(self) -> Sequence[DeadLetter]:
        """Every letter once, the oldest first; all stay in the box."""
        return await self._visit(lambda _: None)

    async def find(self, letter_id: str) -> DeadLetter | None:
        """The letter of that id; it stays in the box."""
        return _named(letter_id, await self.letters())

    async def requeue(self, letter_id: str, payload: bytes | None = None) -> DeadLetter | None:
        """Publish the letter's message again where it came from, with ``payload`` instead of its own if given.

        It gets a new message id, because its old one is recorded as failed, and starts at attempt 1 without a
        deadline; the caller's correlation id stays. The new id follows from letter and payload, so to do it once
        more after an interruption has no second effect. Then the letter leaves the box. Null when there is none of
        that id; raises Unreadable for a letter that says of no topic where it came from.
        """
        letter = await self.find(letter_id)
        if letter is None:
            return None
        if not letter.topic:
            raise Unreadable(
                f"letter {letter.letter_id} was written by somebody else and does not say where it belongs: "
                "show it, publish what is right, and drop it"
            )
        if letter.truncated and payload is None:
            raise TooLarge(
                f"letter {letter.letter_id} holds the beginning of a message of {letter.payload_bytes} bytes: "
                "send it again with the whole body in a file"
            )
        body = payload if payload is not None else _bytes(letter)
        name = ids.derive("requeued", letter.letter_id, b64encode(body).decode())
        envelope = replace(Envelope.of(letter.properties), message_id=name, attempt=1, due=0, deadline=0)
        envelope = replace(envelope, asked_at=envelope.asked_at or letter.started_at)
        await self._bus.publish(
            Outgoing(topic=letter.topic, payload=body, key=letter.key, properties=envelope.properties())
        )
        return await self.drop(letter.letter_id)

    async def drop(self, letter_id: str) -> DeadLetter | None:
        """Throw the letter away. Null when there is none of that id."""
        dropped: list[DeadLetter] = []

        def choose(letters: Sequence[DeadLetter]) -> DeadLetter | None:
            chosen = _named(letter_id, letters)
            dropped.extend([chosen] if chosen else [])
            return chosen

        await self._visit(choose)
        return dropped[0] if dropped else None

    async def _visit(
        self, choose: Callable[[Sequence[DeadLetter]], DeadLetter | None]
    ) -> Sequence[DeadLetter]:
        """Read the whole box, take the letter out that ``choose`` chooses, leave the others in."""
        box = await self._bus.subscribe(self._topic, INBOX, width=WIDTH)
        found: dict[str, _Found] = {}
        try:
            while (delivery := await self._next(box)) is not None:
                letter = _letter(delivery)
                found.setdefault(letter.letter_id, _Found(letter, [])).deliveries.append(delivery)
            letters = sorted((f.letter for f in found.values()), key=lambda x: (x.buried_at, x.letter_id))
            chosen = choose(letters)
            for delivery in found[chosen.letter_id].deliveries if chosen else ():
                await box.ack(delivery)
        finally:
            await box.close()
        return letters

    async def _next(self, box: Subscription) -> Delivery | None:
        try:
            async with asyncio.timeout(self._quiet):
                return await box.receive()
        except TimeoutError:
            return None


def _named(letter_id: str, letters: Sequence[DeadLetter]) -> DeadLetter | None:
    same = [x for x in letters if x.letter_id == letter_id]
    if same:
        return same[0]
    alike = [x for x in letters if letter_id and x.letter_id.startswith(letter_id)]
    if len(alike) > 1:
        raise BadRequest(f"{len(alike)} letters have an id that begins with {letter_id!r}: give more of it")
    return alike[0] if alike else None


def _letter(delivery: Delivery) -> DeadLetter:
    """What is in the box as a letter; what is none becomes one that says so, and can be shown and dropped."""
    try:
        return wire.decode(topics.DEAD_LETTER, delivery.payload)
    except wire.NotThisMessage as error:
        try:
            payload, encoding = delivery.payload.decode(), "utf-8"
        except UnicodeDecodeError:
            payload, encoding = b64encode(delivery.payload).decode(), "base64"
        return DeadLetter(
            letter_id=ids.derive("foreign-letter", delivery.broker_id),
            properties=dict(delivery.properties),
            payload=payload,
            encoding=encoding,
            error=Error(type=Unreadable.type, message=f"in the box lies no letter: {error}"),
        )


def _bytes(letter: DeadLetter) -> bytes:
    try:
        return (
            b64decode(letter.payload, validate=True)
            if letter.encoding == "base64"
            else letter.payload.encode()
        )
    except ValueError as error:
        raise Unreadable(
            f"letter {letter.letter_id} says that its body is base64, and it is not: give a repaired body"
        ) from error
