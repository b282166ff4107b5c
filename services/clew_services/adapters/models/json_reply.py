"""JSON values in what a model wrote: the schema it is asked with, the object in its reply, what is wrong with it."""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import BaseModel, ValidationError

_MAX_PROBLEMS = 5
_DECODER = json.JSONDecoder(strict=False)


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of ``model`` as services with strict output want it.

    All properties required, no others allowed, no titles and no defaults.
    """
    schema: dict[str, Any] = _strict(model.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    # Under `properties` and `$defs` the keys are names of ours, `title` and `default` among them.
    kept = {
        key: {name: _strict(part) for name, part in value.items()}
        if key in {"properties", "$defs"}
        else _strict(value)
        for key, value in node.items()
        if key not in {"title", "default"}
    }
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def find_object(text: str) -> str:
    """The first JSON object in ``text``, as JSON; ``text`` itself if there is none.

    Code fences, words around it and a ``<think>`` block before it are passed over.
    """
    reply = text.rpartition("</think>")[2]
    start = reply.find("{")
    if start < 0:
        return text
    try:
        value, _ = _DECODER.raw_decode(reply, start)
    except (ValueError, RecursionError):
        return text
    return json.dumps(value)


def finite(value: object) -> float | None:
    """``value`` as a float if it is a finite number (a boolean is none), else null."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON has integers of any length
        return None
    return number if math.isfinite(number) else None


def tell(error: ValidationError) -> str:
    """What is wrong, in one line for the model and for people: where and what, without the values."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    told = [
        f"{'.'.join(str(part) for part in problem['loc']) or 'reply'}: {problem['msg']}"
        for problem in problems[:_MAX_PROBLEMS]
    ]
    more = len(problems) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")
