"""How large the small things may be: names, ids, IRIs. What is larger is refused before it becomes a key."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_schema.limits import MAX_NAME_CHARACTERS, MAX_URI_CHARACTERS
from clew_services.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.base import Message

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")

LIMITS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "session_id",
                "collection",
                "user",
                "document_id",
                "media_type",
                "conversation_id",
                "correlation_id",
                "parent_session_id",
                "ticket",
                "pattern",
                "task_type",
            ),
            MAX_NAME_CHARACTERS,
        ),
        "name": 2 * MAX_NAME_CHARACTERS,
        "parent_uri": MAX_URI_CHARACTERS,
    }
)
"""Field of any message → its longest value, in characters."""


def check_bounds(body: Message) -> None:
    """Raise BadRequest for a name that is too long or holds a control character, naming the field."""
    for field, limit in LIMITS.items():
        value = getattr(body, field, "")
        if not isinstance(value, str) or not value:
            continue
        if len(value) > limit:
            raise BadRequest(f"{field} has {len(value)} characters; at most {limit} are read")
        if field == "collection" and value != value.strip():
            raise BadRequest(f"collection {clip(value, 60)!r} begins or ends with a blank")
        if _CONTROLS.search(value):
            raise BadRequest(f"{field} holds a control character: {clip(value, 60)!r}")


def clip(text: str, length: int = 120) -> str:
    """``text``, or its beginning and an ellipsis, ``length`` characters in all."""
    return text if len(text) <= length else text[: length - 1] + "…"
