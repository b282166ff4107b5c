"""A trace with a bad value in it: that one field is set aside and named, the rest is kept.

SuperMew refuses the whole trace then (:func:`clew_translators.ragtrace.normalise` does as it does), so that
one odd number hides how an answer came about. A list that is null is absent here, where it is empty there.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from clew_translators.ragtrace_fields import CHUNK_FIELDS, CHUNK_LISTS, RagSubTrace, RagTrace

Trace = dict[str, Any]
Path = tuple[int | str, ...]


def quarantined(trace: object) -> tuple[Trace | None, tuple[str, ...]]:
    """The trace as it is stored, and the fields that were left out because no reader could take their value.

    A field's name is its path: ``candidate_k``, ``retrieved_chunks.1.score`` (places count what can be read at all),
    ``sub_traces.0.route``. The trace is null for what is none. Never raises.
    """
    if not isinstance(trace, dict) or not trace:
        return None, ()
    invalid: list[str] = []
    kept = _known(trace, RagTrace, "", invalid)
    while True:
        try:
            stored = RagTrace.model_validate(kept).model_dump(exclude_none=True)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=False, include_input=False)
            # Once each: a value may be refused for every type that it might have had.
            for path in dict.fromkeys(_field(kept, problem["loc"]) for problem in problems):
                _remove(kept, path)
                invalid.append(".".join(map(str, path)))
            continue
        if "sub_traces" in stored:
            stored["sub_traces"] = [part for part in stored["sub_traces"] if part]
        return stored, tuple(invalid)


def _known(trace: Trace, model: type[RagSubTrace], path: str, invalid: list[str]) -> Trace:
    """The fields that ``model`` knows, nulls left out, lists of evidence and of parts cut to what they may hold."""
    kept = {name: trace[name] for name in model.model_fields if trace.get(name) is not None}
    for name in (*CHUNK_LISTS, "sub_traces"):
        if name not in kept:
            continue
        items = kept[name]
        if not isinstance(items, list):
            invalid.append(path + name)
            del kept[name]
        elif name == "sub_traces":
            parts = [part for part in items if isinstance(part, dict) and part]
            kept[name] = [
                _known(part, RagSubTrace, f"{path}{name}.{number}.", invalid)
                for number, part in enumerate(parts)
            ]
        else:
            kept[name] = [
                {field: item[field] for field in CHUNK_FIELDS if field in item}
                for item in items
                if isinstance(item, dict) and item.get("filename")
            ]
    return kept


def _field(trace: Trace, location: Path) -> Path:
    """The innermost field on the way to ``location``, which may name a type or an item of a list behind it."""
    value: Any = trace
    field: Path = ()
    for depth, step in enumerate(location, 1):
        if isinstance(value, dict) and step in value:
            field = location[:depth]
            value = value[step]
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step]
        else:
            break
    return field


def _remove(trace: Trace, path: Path) -> None:
    holder: Any = trace
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
