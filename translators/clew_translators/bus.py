"""Messages as they travel on the bus: UTF-8 JSON, snake_case, every field written.

Reading is strict about types and silent about fields that it does not know. A body is read in one pass:
this is the hot path, and a second one, to refuse what JSON readers understand differently (a key twice in
one object), took longer than the first. Of such keys the last one counts, as everywhere in Python.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from clew_schema.base import Message
from clew_schema.topics import Topic
from clew_translators.refusal import NotThisMessage, refusal

__all__ = ["NotThisMessage", "decode", "encode"]

M = TypeVar("M", bound=Message)


def encode(message: Message) -> bytes:
    """The body that carries ``message``; decoding it gives an equal message."""
    return message.model_dump_json(by_alias=True).encode()


def decode(what: Topic[M] | type[M], payload: bytes) -> M:
    """The message in ``payload``: a body of that topic, or of that type.

    Raises:
        NotThisMessage: for anything else, and nothing but that, whatever the bytes are.
    """
    model = what.body if isinstance(what, Topic) else what
    try:
        return model.model_validate_json(payload)
    except ValidationError as error:
        raise refusal(model.__name__, error) from None
