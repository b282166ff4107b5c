"""Names derived from what they name, so that doing a thing twice names it once."""

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


def session_id(cause: str) -> str:
    """The session of a run whose first message came without one; ``cause`` is that message's id."""
    return derive("session", cause)


def is_uuid(text: str) -> bool:
    """Whether ``text`` is a uuid in its canonical form."""
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
