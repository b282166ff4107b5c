"""Statements → PROV-JSON, kind by kind in PROV-N's order; the same document gives the same bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clew_translators.namespaces import PROV, XSD, XSD_STRING
from clew_translators.prov.model import ARGUMENTS, TIMES, Name
from clew_translators.prov.qnames import EXISTENTIAL, Prefixes, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew_translators.prov.model import Document, Statement, Value


def write_provjson(document: Document) -> str:
    """``document`` as PROV-JSON, which ``read_provjson`` reads back as it is. Raises NotExpressible.

    A statement without an identifier gets a key that begins with ``_:``, as the format demands one.
    """
    prefixes = Prefixes(document)
    taken = {name for name in names_of(document) if name.startswith(EXISTENTIAL)}
    free = (f"{EXISTENTIAL}n{number}" for number in range(1, 1 << 31))
    keys = (key for key in free if key not in taken)
    whole: dict[str, Any] = {"prefix": dict(prefixes.items()) | {"prov": PROV, "xsd": XSD}}
    whole |= _statements(document.statements, prefixes, keys)
    if document.bundles:
        whole["bundle"] = {
            _name(name, prefixes): _statements(inside, prefixes, keys)
            for name, inside in document.bundles.items()
        }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _statements(statements: Iterable[Statement], prefixes: Prefixes, keys: Iterator[str]) -> dict[str, Any]:
    made: dict[str, dict[str, list[Any]]] = {}
    for each in statements:
        said: dict[str, Any] = {
            f"prov:{argument}": value if argument in TIMES else _name(value, prefixes)
            for argument, value in zip(ARGUMENTS[each.kind], each.arguments, strict=True)
            if value is not None
        }
        for name, value_ in each.attributes:
            said.setdefault(_name(name, prefixes), []).append(_value(value_, prefixes))
        key = next(keys) if each.id is None else _name(each.id, prefixes)
        made.setdefault(each.kind, {}).setdefault(key, []).append(
            {name: _one(value) for name, value in said.items()}
        )
    return {
        kind: {key: _one(values) for key, values in made[kind].items()} for kind in ARGUMENTS if kind in made
    }


def _one(values: Any) -> Any:
    """A list of one as that one."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def _value(value: Value | Name, prefixes: Prefixes) -> Any:
    if isinstance(value, Name):
        return {"$": _name(value.iri, prefixes), "type": "prov:QUALIFIED_NAME"}
    if value.language:
        return {"$": value.text, "lang": value.language}
    if value.datatype == XSD_STRING:
        return value.text
    return {"$": value.text, "type": _name(value.datatype, prefixes)}


def _name(iri: str, prefixes: Prefixes) -> str:
    return ":".join(prefixes.name(iri))
