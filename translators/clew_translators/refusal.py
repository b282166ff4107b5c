"""The one way in which a translator says no: what it expected, where, and what it found instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError

_NAME = 24
_TEXT = 32
_TAGS = 300
_CONSTANTS = {"None": "null", "True": "true", "False": "false"}


class NotThisMessage(ValueError):
    """What was given is not a ``message_type``.

    ``field`` is where (``""``: the whole), by the name that the sender used; ``problem`` what is wrong there.
    Neither quotes more than a few words of what was given, so both may be logged and sent back.
    """

    def __init__(self, message_type: str, field: str, problem: str) -> None:
        """``message_type`` is a model's name or a service's; the three make up the text."""
        super().__init__(f"{message_type}: {field}: {problem}" if field else f"{message_type}: {problem}")
        self.message_type = message_type
        self.field = field
        self.problem = problem


def found(value: object) -> str:
    """A few words for ``value``: the beginning of a text, the kind and size of what holds others."""
    if isinstance(value, str):
        return repr(clip(value, _TEXT))
    if isinstance(value, Mapping):
        return f"an object of {len(value)}"
    if isinstance(value, Sequence):
        return f"{len(value)} bytes" if isinstance(value, bytes) else f"a list of {len(value)}"
    if isinstance(value, int) and abs(value) >= 10**_TEXT:
        return f"a number of more than {_TEXT} digits"
    return _CONSTANTS.get(repr(value)) or clip(repr(value), _TEXT)


def clip(text: str, length: int = _NAME) -> str:
    """``text``, or its beginning and an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"


def refusal(
    message_type: str, error: ValidationError, names: Mapping[str, str] | None = None
) -> NotThisMessage:
    """Pydantic's first complaint as ours; ``names`` turns the model's field names into the sender's."""
    first = error.errors(include_url=False)[0]
    head, *rest = first["loc"] or ("",)
    field = ".".join(clip(str(part)) for part in ((names or {}).get(str(head), head), *rest))
    return NotThisMessage(message_type, field, _problem(first))


def _problem(error: Mapping[str, Any]) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "json_invalid":
            return f"no JSON: {context['error']}"
        case "union_tag_invalid":
            return f"{context['discriminator']} must be one of {clip(context['expected_tags'], _TAGS)}"
        case "missing":
            return "is missing"
    return f"{error['msg'].replace('Input should', 'should')}, found {found(error['input'])}"
