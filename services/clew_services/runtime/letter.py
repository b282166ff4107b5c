"""A message that could not be handled, as a dead letter: what a person needs to repair it and send it again.

Why earlier attempts failed travels in a property of the delayed copies: a process that buries a message need not be
one that tried it before.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from clew_schema import ids
from clew_schema.envelope import ATTEMPT, DUE, FAILURES, KNOWN
from clew_schema.errors import Attempt, DeadLetter, Error
from clew_schema.limits import MAX_MESSAGE_BYTES, MAX_PROPERTY_CHARACTERS
from clew_services.core.bounds import clip
from clew_services.core.outgoing import MAX_HEADER_CHARACTERS
from clew_services.errors import told
from clew_services.runtime.handling import Handling, iso
from clew_translators import bus
from clew_translators.explain import question_uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew_schema.envelope import Envelope
    from clew_services.ports import Delivery

PART_BYTES = 2 * 1024 * 1024
"""Bytes of a body in one letter, where the whole does not fit into one."""

ATTEMPTS_TOLD = 10
"""How many attempts a letter tells of: the newest."""

WORDS_TOLD = 200
"""Characters of an earlier attempt's message that travel with the next one; the last one's are told whole."""

SECRET = frozenset({"token"})
"""Properties that are kept nowhere: whoever reads a letter could act as who wrote the message."""

_FAILURES: TypeAdapter[list[tuple[int, int, str, str]]] = TypeAdapter(list[tuple[int, int, str, str]])


def letter_of(handling: Handling, delivery: Delivery, error: Exception, *, topic: str) -> DeadLetter:
    """``delivery`` whole, however large. ``topic`` is where it belongs when it is sent again."""
    payload, encoding = text_of(delivery.payload)
    attempts = (*_earlier(handling, delivery), _last(handling, error))
    properties, withheld = _kept(handling, delivery)
    return DeadLetter(
        letter_id=ids.derive("letter", handling.cause, handling.step.name),
        topic=topic,
        service=handling.step.service,
        step=handling.step.name,
        message_id=handling.cause,
        session_id=handling.session_id,
        # What could not be read names no collection: it is nobody's but the operator's.
        collection=handling.collection if handling.body is not None else "",
        key=clip(delivery.key, MAX_PROPERTY_CHARACTERS),
        properties=properties,
        payload=payload,
        encoding=encoding,
        payload_bytes=len(delivery.payload),
        payload_sha256=sha256(delivery.payload).hexdigest(),
        error=told(error),
        attempt=handling.envelope.attempt,
        started_at=handling.envelope.asked_at or iso(handling.started),
        buried_at=iso(handling.ended),
        attempts=attempts[-ATTEMPTS_TOLD:],
        trace=_trace(handling),
        withheld=withheld,
    )


def parts_of(letter: DeadLetter) -> Iterator[DeadLetter]:
    """``letter`` as messages that a bus takes: itself, or as many of its parts as that needs."""
    if len(bus.encode(letter)) <= MAX_MESSAGE_BYTES:
        yield letter
        return
    body = body_of(letter)
    pieces = [body[at : at + PART_BYTES] for at in range(0, len(body), PART_BYTES)]
    for number, piece in enumerate(pieces, 1):
        text = b64encode(piece).decode()
        yield letter.model_copy(
            update={"payload": text, "encoding": "base64", "part": number, "parts": len(pieces)}
        )


def text_of(body: bytes) -> tuple[str, str]:
    """``body`` as a letter holds it: its text, or base64; and which of them, as ``encoding`` says it."""
    try:
        return body.decode(), "utf-8"
    except UnicodeDecodeError:
        return b64encode(body).decode(), "base64"


def body_of(letter: DeadLetter) -> bytes:
    """The bytes of the body, or of the part of it that ``letter`` holds. Raises ValueError for what is no base64."""
    if letter.encoding == "base64":
        return b64decode(letter.payload, validate=True)
    return letter.payload.encode()


def tried(handling: Handling, delivery: Delivery, error: Exception, envelope: Envelope) -> dict[str, str]:
    """The properties of the copy that is tried next: those that came, ``envelope``, and why it failed so far.

    As they came, also those that nobody reads; where all that is more than a message carries, what ``envelope`` keeps.
    """
    failures = (*_earlier(handling, delivery), _last(handling, error))[-ATTEMPTS_TOLD + 1 :]
    ours = envelope.properties() | {FAILURES: _written(failures)}
    whole = _foreign(delivery.properties) | ours
    return whole if _characters(whole.items()) + len(delivery.key) <= MAX_HEADER_CHARACTERS else ours


def _foreign(properties: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in properties.items() if name not in KNOWN | SECRET}


def _kept(handling: Handling, delivery: Delivery) -> tuple[dict[str, str], tuple[str, ...]]:
    """The properties that a letter keeps, and the names of those that it does not."""
    ours = {FAILURES} | ({ATTEMPT, DUE} if handling.envelope.attempt > 1 else set())
    kept: dict[str, str] = {}
    withheld = []
    room = MAX_HEADER_CHARACTERS
    for name, value in delivery.properties.items():
        if name in ours:
            continue
        room -= len(name) + len(value)
        if name in SECRET or room < 0:
            withheld.append(clip(name))
        else:
            kept[name] = value
    return kept, tuple(withheld[:100])


def _last(handling: Handling, error: Exception) -> Attempt:
    return Attempt(number=handling.envelope.attempt, at=iso(handling.ended), error=told(error))


def _earlier(handling: Handling, delivery: Delivery) -> tuple[Attempt, ...]:
    """What a copy says of the attempts before; nothing of a first attempt, and of what anybody else wrote there."""
    text = delivery.properties.get(FAILURES, "") if handling.envelope.attempt > 1 else ""
    try:
        found = _FAILURES.validate_json(text) if text else []
        return tuple(
            Attempt(number=number, at=iso(at / 1000), error=Error(type=kind, message=clip(words, WORDS_TOLD)))
            for number, at, kind, words in found[-ATTEMPTS_TOLD:]
        )
    except (ValidationError, ValueError, OverflowError, OSError):
        return ()


def _written(attempts: Iterable[Attempt]) -> str:
    rows = [
        [one.number, _milliseconds(one.at), one.error.type, clip(one.error.message, WORDS_TOLD)]
        for one in attempts
    ]
    return json.dumps(rows, separators=(",", ":"))


def _milliseconds(at: str) -> int:
    return round(datetime.fromisoformat(at).timestamp() * 1000)


def _characters(properties: Iterable[tuple[str, str]]) -> int:
    return sum(len(name) + len(value) for name, value in properties)


def _trace(handling: Handling) -> str:
    """The run that tells of the failure, as its packer decides."""
    caller, run = handling.step.caller, handling.run
    if caller is None or not handling.envelope.traced or (run is not None and caller.awaited(run)):
        return ""
    return question_uri(handling.session_id, caller.mechanism)
