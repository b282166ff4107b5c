"""Names derived from what they name, so that doing a thing twice names it once."""

from hashlib import sha256
from uuid import NAMESPACE_URL, UUID, uuid5

NAMESPACE = uuid5(NAMESPACE_URL, "urn:clew")
"""Root of all derived identifiers (RFC 9562, version 5)."""


def derive(*parts: str | int) -> str:
    """A uuid that is a function of ``parts`` and nothing else.

    Parts are length-prefixed, so ``("a", "bc")`` and ``("ab", "c")`` differ.
    """
    return str(uuid5(NAMESPACE, "".join(f"{len(str(part))}:{part}" for part in parts)))


def message_id(cause: str, step: str, number: int | str) -> str:
    """The id of the ``number``-th message that ``step`` publishes because of the message ``cause``."""
    return derive("message", cause, step, number)


def cause(message_id: str, correlation: str, payload: bytes) -> str:
    """What a request is known by: its ids as its caller chose them, and what it says.

    Two callers who choose the same ids for different questions are two; a message that is delivered again is one.
    """
    return derive("request", message_id, correlation, sha256(payload).hexdigest())


def session_id(cause: str) -> str:
    """The session of a run whose first message came without one; ``cause`` is that message's id."""
    return derive("session", cause)


def is_uuid(text: str) -> bool:
    """Whether ``text`` is a uuid in its canonical form."""
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
