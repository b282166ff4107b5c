"""messages.md: every message, its fields, types and defaults, from the pydantic models."""

from __future__ import annotations

import inspect
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from clew_schema import (
    agent,
    base,
    cancelling,
    dead_letters,
    documents,
    errors,
    evidence,
    facts,
    grading,
    library,
    rdf,
    retrieval,
    services,
)
from clew_schema.base import Message
from clew_schema.topics import TOPICS
from generators.markdown import code, doc, page, table

MODULES = (
    base,
    retrieval,
    grading,
    agent,
    documents,
    rdf,
    errors,
    cancelling,
    dead_letters,
    evidence,
    facts,
    services,
    library,
)

INTRO = """
Bodies are UTF-8 JSON. Keys are the field names below. Every field is written, defaults included; an absent field means
its default; unknown fields are ignored; a value of the wrong type is refused. Types are JSON's: a *list* is an array, a
*map* an object whose keys are strings. *or null* says that `null` is allowed. JSON Schemas of the topics' bodies are in
[`schema/frozen`](../../schema/frozen); [`deploy/asyncapi.yaml`](../../deploy/asyncapi.yaml) has them with their topics.
"""


def page_of(module: Any) -> str:
    """The messages of one module."""
    found = [
        thing
        for thing in vars(module).values()
        if inspect.isclass(thing) and issubclass(thing, Message) and thing.__module__ == module.__name__
    ]
    title = module.__name__.rpartition(".")[2]
    return "\n\n".join([f"## Module `{title}`", doc(module), *(message(thing) for thing in found)])


def render() -> str:
    """The page."""
    known = {topic.body.__name__ for topic in TOPICS}
    row = [[f"[`{name}`](#{name.lower()})", topics_of(name)] for name in sorted(known)]
    index = "Bodies of the topics:\n\n" + table(["message", "travels on"], row)
    return page("Messages", "`schema/clew_schema`", INTRO, index, *(page_of(module) for module in MODULES))


def topics_of(name: str) -> str:
    """The topics that carry the message ``name``."""
    return ", ".join(code(topic.name) for topic in TOPICS if topic.body.__name__ == name)


def message(model: type[Message]) -> str:
    """One message: heading, docstring, fields."""
    hints = get_type_hints(model)
    rows = [
        [code(field.alias or name), type_text(hints[name], field), default_text(field)]
        for name, field in model.model_fields.items()
    ]
    parts = [f"### {model.__name__}", doc(model)]
    if topics := topics_of(model.__name__):
        parts.append(f"Topic: {topics}.")
    if rows:
        parts.append(table(["field", "type", "default"], rows))
    return "\n\n".join(parts)


def default_text(field: FieldInfo) -> str:
    """The default as JSON writes it; *required* when there is none."""
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, Message):
        return "its defaults"
    known = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return code(known[value])
    return {"()": "`[]`", "{}": "`{}`", "''": '`""`'}.get(repr(value), code(repr(value).replace("'", '"')))


def type_text(hint: Any, field: FieldInfo | None = None) -> str:  # noqa: PLR0911 - one line per kind of type
    """``hint`` in JSON's words, messages as links."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return type_text(arguments[0])
    if origin in {Union, types.UnionType}:
        rest = [argument for argument in arguments if argument is not type(None)]
        if all(issubclass(one, facts.Stamp) for one in rest if inspect.isclass(one)) and len(rest) > 3:
            return "any of the [facts](#module-facts), told apart by `kind`"
        told = " or ".join(type_text(argument) for argument in rest)
        return told if len(rest) == len(arguments) else f"{told} or null"
    if origin is Literal:
        return "one of " + ", ".join(code(f'"{value}"') for value in arguments)
    if origin is tuple:
        return f"list of {type_text(arguments[0])}"
    if origin is dict:
        return f"map of {type_text(arguments[1])}"
    if inspect.isclass(hint) and issubclass(hint, Message):
        return f"[`{hint.__name__}`](#{hint.__name__.lower()})"
    limits = [str(bound) for bound in (field.metadata if field else [])]
    text = {str: "string", int: "integer", float: "number", bool: "boolean", Any: "any JSON"}[hint]
    return text + (f" ({', '.join(limits)})" if limits and hint is float else "")
