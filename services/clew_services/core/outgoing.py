"""What every message has to satisfy before a bus takes it, checked before it is recorded and again by each bus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_services.errors import BadRequest, TooLarge

if TYPE_CHECKING:
    from clew_services.ports import Outgoing

MAX_HEADER_CHARACTERS = 64 * 1024
"""Longest key and properties, together. With a body at its limit they still fit the broker's frame of 5 MB."""


def check_outgoing(message: Outgoing, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
    """Raise TooLarge or BadRequest for a message that no broker would carry.

    Args:
        message: what is to be published.
        max_bytes: the largest body.

    Raises:
        TooLarge: the body, or key and properties together, are beyond the limit.
        BadRequest: a key or property that cannot be written as UTF-8.
    """
    size = len(message.payload)
    if size > max_bytes:
        raise TooLarge(
            f"a message of {size} bytes for {message.topic}: at most {max_bytes} bytes are published; "
            "ask for less, or keep the bulk in a store and send its id"
        )
    headers = "".join([message.key, *message.properties.keys(), *message.properties.values()])
    if len(headers) > MAX_HEADER_CHARACTERS:
        raise TooLarge(
            f"key and properties of {len(headers)} characters for {message.topic}: "
            f"at most {MAX_HEADER_CHARACTERS} are published; move them into the body"
        )
    if not headers.isascii():
        _check_utf8(headers, message.topic)


def _check_utf8(headers: str, topic: str) -> None:
    try:
        headers.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(
            f"key or properties for {topic} hold {headers[error.start]!r}, half of a character, "
            "which UTF-8 cannot write; remove it"
        ) from error
