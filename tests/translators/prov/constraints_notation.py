"""PROV statements for tests, one a line, in a part of PROV-N that is read here in a dozen lines.

``wasGeneratedBy(g; e, a, -)``: names are local to ``EX``, ``_:x`` is a variable, ``-`` or nothing is left out, and
``[prov:type='prov:EmptyCollection']`` is the one attribute known.
"""

import re

from clew_translators.prov.model import ARGUMENTS, TIMES, Document, Name, Statement

EX = "https://example.org/"
PROV = "http://www.w3.org/ns/prov#"

_STATEMENT = re.compile(r"(\w+)\(([^)]*)\)")
_TYPE = re.compile(r"\s*,?\s*\[prov:type='prov:(\w+)'\]")


def statements(text: str) -> tuple[Statement, ...]:
    return tuple(_statement(kind, inside) for kind, inside in _STATEMENT.findall(text))


def document(text: str, **bundles: str) -> Document:
    return Document(statements(text), {EX + name: statements(inside) for name, inside in bundles.items()})


def _statement(kind: str, inside: str) -> Statement:
    types = tuple((PROV + "type", Name(PROV + type_)) for type_ in _TYPE.findall(inside))
    inside = _TYPE.sub("", inside)
    known = next(name for name in ARGUMENTS if name == kind)
    if kind in {"entity", "activity", "agent"}:
        id_, _, rest = inside.partition(",")
    else:
        id_, _, rest = inside.rpartition(";")
    given = [part.strip() for part in rest.split(",")] if rest.strip() else []
    names = ARGUMENTS[known]
    assert len(given) <= len(names), inside
    given += ["-"] * (len(names) - len(given))
    arguments = tuple(_term(part, time=name in TIMES) for name, part in zip(names, given, strict=True))
    return Statement(kind=known, id=_term(id_.strip()), arguments=arguments, attributes=types)


def _term(text: str, *, time: bool = False) -> str | None:
    if text in {"", "-"}:
        return None
    return text if time or text.startswith("_:") else EX + text
