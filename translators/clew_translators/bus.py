"""Messages as they travel on the bus: UTF-8 JSON, snake_case, every field written.

Reading is strict about types and silent about fields that it does not know. Of a key that stands twice in one
object the last one counts: refusing it takes a second pass over every body, on the hot path.
"""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from clew_schema.base import Message
from clew_schema.topics import Topic
from clew_translators.refusal import NotThisMessage, refusal

__all__ = ["NotThisMessage", "decode", "encode"]

M = TypeVar("M", bound=Message)


def encode(message: Message) -> bytes:
    """The body that carries ``message``; decoding it gives an equal message.

    One thing UTF-8 cannot carry: half a character, which models leave behind when their text is cut. It is
    replaced by U+FFFD, so that an answer is not lost for it.
    """
    try:
        return message.model_dump_json(by_alias=True).encode()
    except PydanticSerializationError:
        text = json.dumps(message.model_dump(by_alias=True), ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


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
