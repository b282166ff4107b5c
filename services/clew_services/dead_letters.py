"""The dead letters as a box: look into it, repair a letter, send its message again, throw it away.

Nothing else empties it. Whatever is done here may be interrupted anywhere and done again: the message that is sent
has an id that follows from what is sent, and the letter leaves the box after it.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from clew_schema import ids, topics
from clew_schema.envelope import KNOWN, Envelope
from clew_services.core.outgoing import check_outgoing
from clew_services.errors import BadRequest, Defect, TooLarge, Unreadable, told
from clew_services.letter_box import INBOX, QUIET, WIDTH, LetterBox, keep_letters, whole_body
from clew_services.letter_filter import chosen, named
from clew_services.ports import Outgoing
from clew_services.runtime.letter import parts_of, text_of
from clew_translators import bus as wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from clew_schema.dead_letters import LetterFilter
    from clew_schema.errors import DeadLetter, Error
    from clew_schema.topics import TopicSpace
    from clew_services.letter_box import OpenBox
    from clew_services.ports import Bus

__all__ = ["INBOX", "QUIET", "WIDTH", "DeadLetters", "Repair", "Settled", "keep_letters"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What an operator changes: another body (null: its own), and properties; ``""`` takes one away."""

    payload: bytes | None = None
    properties: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What became of one letter of many: number ``done`` of ``matched``, and why it still lies there, if it does."""

    letter: DeadLetter
    done: int
    matched: int
    error: Error | None = None


class DeadLetters:
    """Works on the box of one topic space. Of two who look at once each sees a part: no letter is given to both.

    A letter is named by its id or a beginning of it that no other letter has. Every method raises BusFailed, and
    BadRequest for a beginning that several letters have, or a time that is none.
    """

    def __init__(self, bus: Bus, space: TopicSpace, *, quiet: float = QUIET) -> None:
        """``bus`` stays the caller's to close; ``quiet`` is in seconds."""
        self._bus = bus
        self._space = space
        self._box = LetterBox(bus=bus, space=space, quiet=quiet)
        ours = topics.TOPICS
        self._ours = {space.full(t.name) for t in ours} | {space.own(t.name) for t in ours}

    async def letters(self, wanted: LetterFilter | None = None) -> Sequence[DeadLetter]:
        """Every letter that is wanted, once, the oldest first; all stay in the box."""
        async with self._box.opened() as box:
            letters = box.letters()
        return letters if wanted is None else chosen(letters, wanted)

    async def find(self, letter_id: str, wanted: LetterFilter | None = None) -> DeadLetter | None:
        """The letter of that id, if it is among those that are wanted; it stays in the box."""
        return named(await self.letters(wanted), letter_id)

    async def requeue(
        self,
        letter_id: str,
        payload: bytes | None = None,
        *,
        properties: Mapping[str, str] | None = None,
        wanted: LetterFilter | None = None,
    ) -> DeadLetter | None:
        """Publish the letter's message again where it came from, with ``payload`` instead of its own if given.

        It gets a new message id, because its old one is recorded as failed, and starts at attempt 1 without a
        deadline; the caller's correlation id, address and session stay. Then the letter leaves the box. Null when
        there is none of that id; raises Unreadable for a letter that names no topic of ours, TooLarge for one that
        holds a part of its message.
        """
        async with self._box.opened() as box:
            letter = self._named(box, letter_id, wanted)
            if letter is not None:
                await self._send(box, letter, Repair(payload=payload, properties=properties))
            return letter

    async def drop(self, letter_id: str, wanted: LetterFilter | None = None) -> DeadLetter | None:
        """Throw the letter away. Null when there is none of that id."""
        async with self._box.opened() as box:
            letter = self._named(box, letter_id, wanted)
            if letter is not None:
                await box.take_out(letter)
            return letter

    async def edit(
        self, letter_id: str, repair: Repair, *, by: str, at: str, wanted: LetterFilter | None = None
    ) -> DeadLetter | None:
        """Keep the letter with ``repair`` made, by a person at a time (ISO 8601). Null when there is none such."""
        async with self._box.opened() as box:
            letter = self._named(box, letter_id, wanted)
            if letter is None:
                return None
            edited = repaired(letter, repair).model_copy(
                update={"edited_by": by, "edited_at": max(at, letter.edited_at)}
            )
            for part in parts_of(edited):
                message = Outgoing(topic=self._box.topic, payload=wire.encode(part), key=letter.session_id)
                check_outgoing(message)
                await self._bus.publish(message)
            await box.take_out(letter)
            return edited

    async def requeue_all(
        self, wanted: LetterFilter, hear: Callable[[Settled], Awaitable[None]]
    ) -> Sequence[Settled]:
        """Send the messages of all letters that are wanted again, one after the other; ``hear`` is told of each.

        One that cannot be sent stays in the box, and does not stop the others.
        """
        return await self._each(wanted, lambda box, letter: self._send(box, letter, Repair()), hear)

    async def drop_all(
        self, wanted: LetterFilter, hear: Callable[[Settled], Awaitable[None]]
    ) -> Sequence[Settled]:
        """Throw all letters away that are wanted; ``hear`` is told of each."""
        return await self._each(wanted, lambda box, letter: box.take_out(letter), hear)

    async def _each(
        self,
        wanted: LetterFilter,
        work: Callable[[OpenBox, DeadLetter], Awaitable[None]],
        hear: Callable[[Settled], Awaitable[None]],
    ) -> Sequence[Settled]:
        settled = []
        async with self._box.opened() as box:
            letters = chosen(box.letters(), wanted)
            for number, letter in enumerate(letters, 1):
                error = None
                try:
                    await work(box, letter)
                except (Defect, BadRequest) as failure:
                    error = told(failure)
                settled.append(Settled(letter=letter, done=number, matched=len(letters), error=error))
                await hear(settled[-1])
        return settled

    async def _send(self, box: OpenBox, letter: DeadLetter, repair: Repair) -> None:
        if letter.topic not in self._ours:
            raise Unreadable(
                f"letter {letter.letter_id} was written by somebody else and does not say where it belongs: "
                "show it, publish what is right, and drop it"
            )
        if letter.truncated and repair.payload is None:
            raise TooLarge(
                f"letter {letter.letter_id} holds the beginning of a message of {letter.payload_bytes} bytes: "
                "send it again with the whole body in a file"
            )
        message = again(letter, repair)
        check_outgoing(message)
        await self._bus.publish(message)
        await box.take_out(letter)

    def _named(self, box: OpenBox, letter_id: str, wanted: LetterFilter | None) -> DeadLetter | None:
        letters = box.letters()
        return named(letters if wanted is None else chosen(letters, wanted), letter_id)


def again(letter: DeadLetter, repair: Repair | None = None) -> Outgoing:
    """The message of ``letter`` as it is sent again: the run's ids stay, its own id follows from what is sent."""
    repair = repair or Repair()
    body = repair.payload if repair.payload is not None else whole_body(letter)
    properties = _changed(letter.properties, repair)
    parts = ["requeued", letter.letter_id, b64encode(body).decode()]
    if repair.properties or letter.edited_at:
        parts += [f"{name}={value}" for name, value in sorted(properties.items())]
    envelope = Envelope.of(properties)
    envelope = replace(
        envelope,
        message_id=ids.derive(*parts),
        session_id=envelope.session_id or letter.session_id,
        attempt=1,
        due=0,
        deadline=0,
        asked_at=envelope.asked_at or letter.started_at,
    )
    foreign = {name: value for name, value in properties.items() if name not in KNOWN}
    return Outgoing(
        topic=letter.topic, payload=body, key=letter.key, properties=foreign | envelope.properties()
    )


def unreadable(letter: DeadLetter, repair: Repair) -> str:
    """Why no service could read the message with ``repair`` made; ``""`` when one could."""
    name = letter.topic.rpartition("/")[2]
    for topic in topics.TOPICS:
        if topic.name == name:
            try:
                wire.decode(topic, repair.payload if repair.payload is not None else whole_body(letter))
            except (wire.NotThisMessage, Unreadable) as error:
                return f"{name}: {error}"
    return ""


def repaired(letter: DeadLetter, repair: Repair) -> DeadLetter:
    """``letter`` with ``repair`` made. Its hash and length are those of the new body."""
    changes: dict[str, object] = {"properties": _changed(letter.properties, repair)}
    if repair.payload is not None:
        payload, encoding = text_of(repair.payload)
        changes |= {
            "payload": payload,
            "encoding": encoding,
            "truncated": False,
            "payload_bytes": len(repair.payload),
            "payload_sha256": sha256(repair.payload).hexdigest(),
        }
    return letter.model_copy(update=changes)


def _changed(properties: Mapping[str, str], repair: Repair) -> dict[str, str]:
    changes = dict(repair.properties or {})
    gone = {name for name, value in changes.items() if not value}
    return {name: value for name, value in (dict(properties) | changes).items() if name not in gone}
