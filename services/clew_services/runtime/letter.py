"""A message that could not be handled, as a dead letter: what a person needs to repair it and send it again."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING

from clew_schema import ids
from clew_schema.errors import DeadLetter
from clew_schema.limits import MAX_MESSAGE_BYTES, MAX_PROPERTY_CHARACTERS
from clew_services.core.bounds import clip
from clew_services.errors import told
from clew_services.runtime.handling import Handling, iso
from clew_translators import bus

if TYPE_CHECKING:
    from clew_services.ports import Delivery

CUT_TO = 64 * 1024
"""Bytes that a letter keeps of a message which is too large for a letter."""


def letter_of(handling: Handling, delivery: Delivery, error: Exception, *, topic: str) -> DeadLetter:
    """``delivery`` whole, or, where no message would hold that, its beginning and its hash.

    ``topic`` is where it belongs when it is sent again.
    """
    whole = _letter(handling, delivery, delivery.payload, error, topic)
    if len(bus.encode(whole)) <= MAX_MESSAGE_BYTES:
        return whole
    return _letter(handling, delivery, delivery.payload[:CUT_TO], error, topic)


def _letter(handling: Handling, delivery: Delivery, kept: bytes, error: Exception, topic: str) -> DeadLetter:
    try:
        payload, encoding = kept.decode(), "utf-8"
    except UnicodeDecodeError:
        payload, encoding = b64encode(kept).decode(), "base64"
    return DeadLetter(
        letter_id=ids.derive("letter", handling.cause, handling.step.name),
        topic=topic,
        service=handling.step.service,
        step=handling.step.name,
        message_id=handling.cause,
        session_id=handling.session_id,
        collection=handling.collection,
        key=clip(delivery.key, MAX_PROPERTY_CHARACTERS),
        properties=handling.envelope.properties(),
        payload=payload,
        encoding=encoding,
        truncated=len(kept) < len(delivery.payload),
        payload_bytes=len(delivery.payload),
        payload_sha256=sha256(delivery.payload).hexdigest(),
        error=told(error),
        attempt=handling.envelope.attempt,
        started_at=handling.envelope.asked_at or iso(handling.started),
        buried_at=iso(handling.ended),
    )
