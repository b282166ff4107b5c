"""Statements → PROV-N: one a line, in the order of the document, with all their arguments.

Written here and not through the ``prov`` package, as PROV-JSON and PROV-XML are: that rewrites times and numbers
(``…00Z`` becomes ``…00+00:00``), and its order changes from run to run. It reads what all three
write; tests hold that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_translators.namespaces import XSD_STRING
from clew_translators.prov.building import ELEMENTS
from clew_translators.prov.model import ARGUMENTS, TIMES, Name
from clew_translators.prov.qnames import Prefixes, escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew_translators.prov.model import Document, Statement, Value

_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)


def write_provn(document: Document) -> str:
    """``document`` as PROV-N, which :func:`~clew_translators.prov.read_provn.read_provn` reads back as it is.

    Names that begin with ``_:`` are written so, which other readers refuse: PROV-N has none. Raises NotExpressible.
    """
    prefixes = Prefixes(document)
    return "\n".join(_lines(document, prefixes)) + "\n"


def _lines(document: Document, prefixes: Prefixes) -> Iterator[str]:
    yield "document"
    for prefix, namespace in prefixes.items():
        yield f"  prefix {prefix} <{namespace}>"
    yield ""
    yield from (f"  {line}" for line in _statements(document.statements, prefixes))
    for name, inside in document.bundles.items():
        yield f"  bundle {_name(name, prefixes)}"
        yield from (f"    {line}" for line in _statements(inside, prefixes))
        yield "  endBundle"
    yield "endDocument"


def _statements(statements: Iterable[Statement], prefixes: Prefixes) -> Iterator[str]:
    for each in statements:
        given = [
            "-" if value is None else value if argument in TIMES else _name(value, prefixes)
            for argument, value in zip(ARGUMENTS[each.kind], each.arguments, strict=True)
        ]
        if each.kind in ELEMENTS:
            head = _name(each.id or "", prefixes)
            given = [head, *given] if any(each.arguments) else [head]
        elif each.id is not None:
            given[0] = f"{_name(each.id, prefixes)}; {given[0]}"
        if each.attributes:
            pairs = (f"{_name(name, prefixes)}={_value(value, prefixes)}" for name, value in each.attributes)
            given.append(f"[{', '.join(pairs)}]")
        yield f"{each.kind}({', '.join(given)})"


def _value(value: Value | Name, prefixes: Prefixes) -> str:
    if isinstance(value, Name):
        return f"'{_name(value.iri, prefixes)}'"
    text = f'"{value.text.translate(_ESCAPES)}"'
    if value.language:
        return f"{text}@{value.language}"
    return text if value.datatype == XSD_STRING else f"{text} %% {_name(value.datatype, prefixes)}"


def _name(iri: str, prefixes: Prefixes) -> str:
    prefix, local = prefixes.name(iri)
    return f"{prefix}:{local if prefix == '_' else escaped(local)}"
