"""PROV-JSON → statements (W3C submission 2013-04-24): every statement under its kind, by its identifier.

Read here and not through the ``prov`` package, which rewrites times and numbers and takes the last of a key that comes
twice; here a repeated key means what a list under one key does. An identifier that begins with ``_:`` names nothing,
unless a derivation refers to it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clew_translators.namespaces import PROV, XSD, XSD_STRING
from clew_translators.prov.building import ELEMENTS, NotProv, document, missing, statement
from clew_translators.prov.model import ARGUMENTS, TIMES, Name, Value
from clew_translators.prov.qnames import EXISTENTIAL
from clew_translators.prov.read_provn import NAMES
from clew_translators.refusal import clip, found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew_translators.prov.building import Attribute
    from clew_translators.prov.model import Document, Kind, Statement

FORMAT = "PROV-JSON"


def read_provjson(text: str) -> Document:
    """What ``text`` states. Raises NotProv with the line, or the path to what is wrong."""
    try:
        whole = json.loads(text, object_pairs_hook=_once, parse_float=_Number, parse_int=_Number)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise NotProv(FORMAT, f"no JSON: {error.msg}", place) from None
    except RecursionError:
        raise NotProv(FORMAT, "it is nested too deep") from None
    reader = _Reader(_object(whole, ""), {"prov": PROV, "xsd": XSD}, "")
    bundles: dict[str, list[Statement]] = {}
    for name, inside in reader.bundles():
        bundles.setdefault(name, []).extend(inside.statements())
    return document(reader.statements(), bundles)


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Several(list[Any]):
    """The values of a key that came several times."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            before = made[key] if isinstance(made[key], _Several) else _Several([made[key]])
            made[key] = _Several([*before, value])
        else:
            made[key] = value
    return made


class _Reader:
    """A document or a bundle, at ``path``."""

    def __init__(self, whole: Mapping[str, Any], namespaces: Mapping[str, str], path: str) -> None:
        self._whole = whole
        self._path = path
        self._namespaces = dict(namespaces)
        for part in _each(whole.get("prefix", {})):
            for prefix, namespace in _object(part, f"{path}/prefix").items():
                place = f"{path}/prefix/{clip(prefix)}"
                if not isinstance(namespace, str) or isinstance(namespace, _Number):
                    raise NotProv(FORMAT, f"a namespace must be a text, found {found(namespace)}", place)
                self._namespaces["" if prefix == "default" else prefix] = namespace
        unknown = sorted(whole.keys() - {"prefix", "bundle"} - ARGUMENTS.keys())
        if unknown:
            raise NotProv(FORMAT, f"{found(unknown[0])} is no kind of statement", path or "/")

    def bundles(self) -> Iterator[tuple[str, _Reader]]:
        """The bundles, each as a reader of its own, by name."""
        for part in _each(self._whole.get("bundle", {})):
            for name, value in _object(part, f"{self._path}/bundle").items():
                for inside in _each(value):
                    path = f"{self._path}/bundle/{clip(name, 60)}"
                    reader = _Reader(_object(inside, path), self._namespaces, path)
                    if "bundle" in reader._whole:
                        raise NotProv(FORMAT, "a bundle holds no bundle", path)
                    yield reader._name(name, path), reader

    def statements(self) -> list[Statement]:
        """All but bundles."""
        found_ = [each for kind in ARGUMENTS for each in self._of_kind(kind)]
        referred = {
            name for each in found_ if each.kind == "wasDerivedFrom" for name in each.arguments[3:] if name
        }
        return [
            _unnamed(each) if each.kind not in ELEMENTS and _is_filler(each.id, referred) else each
            for each in found_
        ]

    def _of_kind(self, kind: Kind) -> Iterator[Statement]:
        for part in _each(self._whole.get(kind, {})):
            for id_, values in _object(part, f"{self._path}/{kind}").items():
                path = f"{self._path}/{kind}/{clip(id_, 60)}"
                name = self._name(id_, path)
                for value in _each(values):
                    yield from self._statement(kind, name, _object(value, path), path)

    def _statement(self, kind: Kind, id_: str, said: Mapping[str, Any], path: str) -> Iterator[Statement]:
        given: dict[str, str | None] = {}
        attributes: list[Attribute] = []
        members: list[str | None] = []
        formal = {f"prov:{argument}": argument for argument in ARGUMENTS[kind]}
        for key, values in said.items():
            place = f"{path}/{clip(key)}"
            argument = formal.get(key)
            if argument is None:
                name = self._name(key, place)
                attributes += [(name, self._value(value, place)) for value in _each(values)]
            elif kind == "hadMember" and argument == "entity":
                members = [self._argument(argument, value, place) for value in _each(values)]
            elif values is not None:
                given[argument] = self._argument(argument, values, place)
        for member in members or [None]:
            whole = {**given, "entity": member} if kind == "hadMember" else given
            if lacking := missing(kind, (whole.get(argument) for argument in ARGUMENTS[kind])):
                raise NotProv(FORMAT, f"prov:{lacking[0]} is missing", path)
            yield statement(kind, id_, whole, attributes)

    def _argument(self, argument: str, value: object, place: str) -> str:
        if isinstance(value, dict) and isinstance(value.get("$"), str):
            value = value["$"]
        if not isinstance(value, str):
            raise NotProv(FORMAT, f"one text is expected, found {found(value)}", place)
        return value if argument in TIMES else self._name(value, place)

    def _name(self, name: str, place: str) -> str:
        if name.startswith(EXISTENTIAL):
            return name
        prefix, colon, local = name.partition(":")
        if not colon:
            prefix, local = "", name
        if prefix not in self._namespaces:
            told = f"the prefix {found(prefix)} is" if prefix else "a default namespace is"
            raise NotProv(FORMAT, f"{told} not declared", place)
        return self._namespaces[prefix] + local

    def _value(self, value: object, place: str) -> Value | Name:
        if isinstance(value, dict):
            return self._typed(value, place)
        if isinstance(value, bool):
            return Value("true" if value else "false", XSD + "boolean")
        if isinstance(value, _Number):
            return Value(str(value), XSD + ("int" if value.lstrip("-").isdigit() else "double"))
        if isinstance(value, str):
            return Value(value)
        raise NotProv(FORMAT, f"a value is expected, found {found(value)}", place)

    def _typed(self, value: Mapping[str, Any], place: str) -> Value | Name:
        text = value.get("$")
        language, type_ = value.get("lang", ""), value.get("type", "")
        if isinstance(text, bool):
            text = "true" if text else "false"
        if not all(isinstance(part, str) for part in (text, language, type_)):
            raise NotProv(FORMAT, 'an object with "$" and "type" or "lang", all texts, is expected', place)
        if language:
            return Value(str(text), language=language)
        datatype = self._name(type_, place) if type_ else XSD_STRING
        if datatype in NAMES:
            return Name(self._name(str(text), place))
        return Value(str(text), datatype)


def _each(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise NotProv(FORMAT, f"an object is expected, found {found(value)}", place or "/")
    return value


def _is_filler(id_: str | None, referred: set[str]) -> bool:
    return id_ is not None and id_.startswith(EXISTENTIAL) and id_ not in referred


def _unnamed(each: Statement) -> Statement:
    return statement(
        each.kind, None, dict(zip(ARGUMENTS[each.kind], each.arguments, strict=True)), each.attributes
    )
