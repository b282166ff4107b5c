"""How one message is spelled at the gateway, derived from its model and from what differs."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Generic, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from clew_schema.base import Message
from clew_schema.errors import Error
from clew_schema.rdf import Term, Triple
from clew_translators.refusal import NotThisMessage, found, refusal
from clew_translators.terms import term_from_compact, term_to_compact, triple_from_compact, triple_to_compact

Json = dict[str, Any]
Reader = Callable[[Any, str], Any]
M = TypeVar("M", bound=Message)

NOTHING: tuple[object, ...] = (None, "", (), {})
"""What counts as empty."""


@dataclass(frozen=True, kw_only=True)
class Shape(Generic[M]):
    """The spelling of ``model``, called ``name`` in errors. Fields are named as in the model.

    * ``keys``: the gateway's key, where it is another; two fields may share none.
    * ``required``: must be there when a message is read.
    * ``defaults``: the value of an absent key, where it is not the model's default.
    * ``integers``: may also be given as text, as in ``"7"``.
    * ``always``: written also when empty; ``unless_null``: written unless null. Any other field is written
      when it is neither empty nor the model's default.
    * ``json_text``: text in the message, the value that it spells at the gateway; null is the empty text.
    * ``internal``: never read nor written here.
    """

    name: str
    model: type[M]
    keys: Mapping[str, str] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    defaults: Mapping[str, object] = field(default_factory=dict)
    integers: frozenset[str] = frozenset()
    always: frozenset[str] = frozenset()
    unless_null: frozenset[str] = frozenset()
    json_text: frozenset[str] = frozenset()
    internal: frozenset[str] = frozenset()

    @cached_property
    def spelled(self) -> Mapping[str, str]:
        """Field → key, of every field that crosses the gateway."""
        fields = self.model.model_fields.items()
        return {
            name: self.keys.get(name, field.alias or name)
            for name, field in fields
            if name not in self.internal
        }

    @cached_property
    def readers(self) -> Mapping[str, Reader]:
        """Field → how its value is read; fields that need nothing are absent."""
        found_readers = {name: _reader(self.model.model_fields[name].annotation) for name in self.spelled}
        return {name: reader for name, reader in found_readers.items() if reader}


def encode_shape(shape: Shape[M], message: M) -> Json:
    """``message`` as the gateway spells it."""
    written: Json = {}
    for name, key in shape.spelled.items():
        value = getattr(message, name)
        if _is_written(shape, name, value):
            written[key] = _parsed(shape, key, value) if name in shape.json_text else outward(value)
    return written


def decode_shape(shape: Shape[M], data: object) -> M:
    """The message that ``data`` spells. Keys that the shape does not name are ignored.

    Raises:
        NotThisMessage: when a key is missing or holds something else; its ``field`` is the key.
    """
    if not isinstance(data, Mapping):
        raise NotThisMessage(shape.name, "", f"should be an object, found {found(data)}")
    values: Json = dict(shape.defaults)
    for name, key in shape.spelled.items():
        if key in data:
            values[name] = _read(shape, name, key, data[key])
        elif name in shape.required:
            raise NotThisMessage(shape.name, key, "is missing")
    try:
        message = shape.model.model_validate(values, by_name=True)
    except ValidationError as error:
        raise refusal(shape.name, error, shape.spelled) from None
    _check_text(shape, message)
    return message


def outward(value: Any) -> Any:
    """``value`` as JSON, with terms in the compact form wherever they stand."""
    if isinstance(value, Term):
        return term_to_compact(value)
    if isinstance(value, Triple):
        return triple_to_compact(value)
    if isinstance(value, Message):
        return {name: outward(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, tuple):
        return [outward(item) for item in value]
    return to_jsonable_python(value)


def _check_text(shape: Shape[M], message: M) -> None:
    """Refuse half a character (a lone surrogate, which Python reads from JSON): no bus and no store would take it."""
    for name, key in shape.spelled.items():
        try:
            to_json(getattr(message, name))
        except PydanticSerializationError:
            raise NotThisMessage(shape.name, key, "holds half a character (a lone surrogate)") from None


def _is_written(shape: Shape[M], name: str, value: object) -> bool:
    if isinstance(value, Error):
        return bool(value.message)  # TrustGraph's rule: an error without a text is none
    if name in shape.always:
        return True
    if name in shape.unless_null:
        return value is not None
    return value not in NOTHING and value != shape.model.model_fields[name].get_default(
        call_default_factory=True
    )


def as_json_text(name: str, key: str, value: object) -> str:
    """``value``, which came as JSON, as text again. Raises NotThisMessage for what JSON cannot say."""
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise NotThisMessage(name, key, f"should be JSON, found {found(value)}") from None


def _parsed(shape: Shape[M], key: str, text: str) -> Any:
    """The value that ``text`` spells; null when it is empty."""
    try:
        return json.loads(text, parse_constant=_refused_constant) if text else None
    except (ValueError, RecursionError):
        raise NotThisMessage(shape.name, key, f"should be JSON text, found {found(text)}") from None


def _refused_constant(name: str) -> float:
    raise ValueError(name)


def _read(shape: Shape[M], name: str, key: str, value: Any) -> Any:
    if name in shape.json_text:
        return as_json_text(shape.name, key, value) if value is not None else ""
    if name in shape.integers:
        return _integer(shape.name, key, value)
    reader = shape.readers.get(name)
    return reader(value, key) if reader else value


def _integer(name: str, key: str, value: object) -> int:
    """A number, or its decimal digits as text (TrustGraph applies Python's ``int``)."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        digits = value.strip()
        if digits.removeprefix("-").isascii() and digits.removeprefix("-").isdigit() and len(digits) < 16:
            return int(digits)
    raise NotThisMessage(name, key, f"should be a whole number, found {found(value)}")


def _reader(annotation: Any) -> Reader | None:
    """How values of that type are read from the gateway's JSON; None when they are read as they are."""
    if annotation is Term:
        return term_from_compact
    if annotation is Triple:
        return triple_from_compact
    arguments = [argument for argument in get_args(annotation) if argument is not types.NoneType]
    if get_origin(annotation) in (Union, types.UnionType) and len(arguments) == 1:
        return _lifted(_reader(arguments[0]), _unless_null)
    if get_origin(annotation) is tuple:
        return _lifted(_reader(arguments[0]), _each)
    if isinstance(annotation, type) and issubclass(annotation, Message):
        return _message_reader(annotation)
    return None


def _message_reader(model: type[Message]) -> Reader | None:
    fields = {name: _reader(field.annotation) for name, field in model.model_fields.items()}
    inner = {name: reader for name, reader in fields.items() if reader}
    if not inner:
        return None

    def read(value: Any, key: str) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {
            name: inner[name](part, f"{key}.{name}") if name in inner else part
            for name, part in value.items()
        }

    return read


def _lifted(reader: Reader | None, how: Callable[[Reader, Any, str], Any]) -> Reader | None:
    return partial(how, reader) if reader else None


def _unless_null(reader: Reader, value: Any, key: str) -> Any:
    return None if value is None else reader(value, key)


def _each(reader: Reader, value: Any, key: str) -> Any:
    """Every item read; what is no list is left to the model to refuse."""
    if not isinstance(value, list | tuple):
        return value
    return tuple(reader(item, f"{key}.{number}") for number, item in enumerate(value))
