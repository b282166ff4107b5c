"""PROV-N → statements: the grammar of the recommendation (REC 2013-04-30), production by production.

More is read than it allows: any number of the optional arguments, as its own examples have it, and names that begin
with ``_:``, which stand for what is not named. Statements of extensions (section 3.8) are read and left out, for the
data model has no place for them; ``mentionOf`` is PROV-Links'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_translators.namespaces import PROV, XSD, XSD_STRING
from clew_translators.prov.building import ELEMENTS, NAMED, REQUIRED, document, missing, statement
from clew_translators.prov.model import ARGUMENTS, TIMES, Name, Value
from clew_translators.prov.provn_text import Text

if TYPE_CHECKING:
    from clew_translators.prov.building import Attribute
    from clew_translators.prov.model import Document, Kind, Statement

NAMES = frozenset({PROV + "QUALIFIED_NAME", XSD + "QName"})
"""The datatypes whose values are qualified names, not texts."""


def read_provn(text: str) -> Document:
    """What ``text`` states. Raises NotProv with the line and the column."""
    source = Text(text)
    try:
        return _document(source)
    except RecursionError:
        raise source.problem("an extension is nested too deep", instead=False) from None


def _document(source: Text) -> Document:
    source.need("document")
    _namespaces(source)
    statements = _statements(source)
    bundles: dict[str, list[Statement]] = {}
    while source.word() == "bundle":
        name, inside = _bundle(source)
        bundles.setdefault(name, []).extend(inside)
    source.need("endDocument")
    if not source.ended():
        raise source.problem("expected nothing after endDocument")
    return document(statements, bundles)


def _bundle(source: Text) -> tuple[str, list[Statement]]:
    """A bundle: its namespaces count inside, those of the document too. Its name is one of those inside (3.7.3)."""
    outside = dict(source.namespaces)
    source.need("bundle")
    name = source.name_before(lambda: _namespaces(source))
    inside = _statements(source)
    source.need("endBundle")
    source.namespaces = outside
    return name, inside


def _namespaces(source: Text) -> None:
    if source.word() == "default":
        source.need("default")
        source.namespaces[""] = source.iri()
    while source.word() == "prefix":
        source.need("prefix")
        prefix = source.prefix()
        namespace = source.iri()
        if prefix in {"prov", "xsd"} and namespace != source.namespaces[prefix]:
            raise source.problem(f"the prefix {prefix} may not mean another namespace", instead=False)
        source.namespaces[prefix] = namespace


def _statements(source: Text) -> list[Statement]:
    found = []
    while source.word() not in {"bundle", "endBundle", "endDocument"} and not source.ended():
        if (kind := _kind(source)) is None:
            _extension(source)
        else:
            source.need(kind)
            found.append(_statement(source, kind))
    return found


def _kind(source: Text) -> Kind | None:
    word = source.word()
    return next((kind for kind in ARGUMENTS if kind == word), None)


def _statement(source: Text, kind: Kind) -> Statement:
    source.need("(")
    id_: str | None = None
    given: list[str | None] = []
    if kind in ELEMENTS:
        id_ = source.name()
    else:
        given.append(_argument(source, kind, 0))
        if source.take(";"):
            if kind not in NAMED:
                raise source.problem(f"{kind} has no identifier", instead=False)
            id_ = given.pop()
            given.append(_argument(source, kind, 0))
    attributes: list[Attribute] = []
    while source.take(","):
        if source.peek("[") and kind in NAMED:
            attributes = _attributes(source)
            break
        given.append(_argument(source, kind, len(given)))
    if len(given) < REQUIRED[kind] or None in given[: REQUIRED[kind]]:
        lacking = missing(kind, [*given, *[None] * REQUIRED[kind]])
        raise source.problem(f"{kind} needs its {' and '.join(lacking)}", instead=False)
    source.need(")")
    return statement(kind, id_, dict(zip(ARGUMENTS[kind], given, strict=False)), attributes)


def _argument(source: Text, kind: Kind, place: int) -> str | None:
    if place >= len(ARGUMENTS[kind]):
        raise source.problem(f"{kind} takes no more than ({', '.join(ARGUMENTS[kind])})")
    if source.take("-"):
        return None
    return source.time() if ARGUMENTS[kind][place] in TIMES else source.name()


def _attributes(source: Text) -> list[Attribute]:
    source.need("[")
    found: list[Attribute] = []
    while not source.take("]"):
        if found:
            source.need(",")
        name = source.name()
        source.need("=")
        found.append((name, _literal(source)))
    return found


def _literal(source: Text) -> Value | Name:
    if source.peek("'"):
        return Name(source.quoted_name())
    if number := source.integer():
        return Value(number, XSD + "int")
    text = source.string()
    if source.take("%%"):
        datatype = source.name()
        return Name(_named(source, text)) if datatype in NAMES else Value(text, datatype)
    return Value(text, XSD_STRING, source.language())


def _named(source: Text, text: str) -> str:
    """A qualified name that is written as a string."""
    inner = Text(text)
    inner.namespaces = source.namespaces
    try:
        name = inner.name()
    except ValueError:
        raise source.problem(f"{text!r} before this is no qualified name", instead=False) from None
    return name


def _extension(source: Text) -> None:
    """``prefix:name(id; argument, …, [attributes])``, which the data model does not know."""
    if not source.word():
        raise source.problem("expected a statement")
    before = source.problem(f"{source.word()!r} is no statement of PROV-N", instead=False)
    try:
        source.name()
    except ValueError:
        raise before from None
    if not source.peek("("):
        raise before
    _tuple(source)


def _tuple(source: Text) -> None:
    """What stands in brackets after the name of an extension, or inside such brackets."""
    closing = ")" if source.take("(") else "}"
    if closing == "}":
        source.need("{")
    while not source.take(closing):
        if source.peek("["):
            _attributes(source)
        elif source.peek('"') or source.peek("'"):
            _literal(source)
        elif source.peek("(") or source.peek("{"):
            _tuple(source)
        elif not (source.take("-") or source.take_time() or source.integer()):
            source.name()
            if source.peek("("):
                _tuple(source)
        if not (source.take(";") or source.take(",") or source.peek(closing)):
            raise source.problem(f"expected , or ; or {closing}")
