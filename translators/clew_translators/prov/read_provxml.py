"""PROV-XML → statements (W3C note 2013-04-30).

Read here and not through the ``prov`` package, which rewrites times and numbers. Names are taken as
``prefix:local`` with any local part, as that package writes them: XML Schema's own QName is narrower than PROV's.
"""

from __future__ import annotations

# Expat bounds what entities may grow to, and ElementTree fetches nothing.
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

from clew_translators.namespaces import PROV, XSD, XSD_STRING
from clew_translators.prov import prov_o
from clew_translators.prov.building import ELEMENTS, PROV_TYPE, NotProv, document, missing, statement
from clew_translators.prov.model import ARGUMENTS, TIMES, Name, Value
from clew_translators.prov.qnames import EXISTENTIAL
from clew_translators.prov.read_provn import NAMES
from clew_translators.refusal import clip, found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew_translators.prov.building import Attribute
    from clew_translators.prov.model import Document, Kind, Statement

FORMAT = "PROV-XML"
XSI_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_ID, _REF = f"{{{PROV}}}id", f"{{{PROV}}}ref"

_SPECIAL: Mapping[str, tuple[Kind, str]] = {
    "person": ("agent", PROV + "Person"),
    "organization": ("agent", PROV + "Organization"),
    "softwareAgent": ("agent", PROV + "SoftwareAgent"),
    "plan": ("entity", PROV + "Plan"),
    "collection": ("entity", PROV + "Collection"),
    "emptyCollection": ("entity", PROV + "EmptyCollection"),
    "bundle": ("entity", PROV + "Bundle"),
    "wasRevisionOf": ("wasDerivedFrom", prov_o.REVISION),
    "wasQuotedFrom": ("wasDerivedFrom", prov_o.QUOTATION),
    "hadPrimarySource": ("wasDerivedFrom", prov_o.PRIMARY_SOURCE),
}
"""Elements for a statement with a type (the note's appendix of extensions)."""


def read_provxml(text: str | bytes) -> Document:
    """What ``text`` states. Raises NotProv with the line, or the element that is wrong."""
    source = _Source(text)
    if source.root.tag != f"{{{PROV}}}document":
        raise NotProv(FORMAT, f"the root must be prov:document, found {_short(source.root)}")
    bundles: dict[str, list[Statement]] = {}
    for element in source.root.iterfind(f"{{{PROV}}}bundleContent"):
        bundles.setdefault(source.id(element) or "", []).extend(_statements(source, element))
    if "" in bundles:
        raise NotProv(FORMAT, "prov:id is missing", "prov:bundleContent")
    return document(_statements(source, source.root), bundles)


class _Source:
    """A parsed text, with the namespaces that hold at each element: values may be qualified names."""

    def __init__(self, text: str | bytes) -> None:
        self._namespaces: dict[ET.Element, dict[str, str]] = {}
        scopes: list[tuple[str, str]] = []
        inside: dict[str, str] | None = None  # what the scopes amount to, made once for all elements in them
        for event, value in _events(text):
            if event == "start":
                inside = dict(scopes) if inside is None else inside
                self._namespaces[value] = inside
            else:
                scopes = [*scopes, value] if event == "start-ns" else scopes[:-1]
                inside = None
        self.root = next(iter(self._namespaces))

    def id(self, element: ET.Element) -> str | None:
        """``prov:id`` as an IRI."""
        text = element.get(_ID)
        return None if text is None else self.name(element, text)

    def has_default(self, element: ET.Element) -> bool:
        """Whether a name without a prefix has a namespace in ``element``."""
        return "" in self._namespaces[element]

    def name(self, element: ET.Element, text: str) -> str:
        """The qualified name ``text`` in ``element`` as an IRI."""
        text = text.strip()
        if text.startswith(EXISTENTIAL):
            return text
        prefix, colon, local = text.partition(":")
        if not colon:
            prefix, local = "", text
        namespace = self._namespaces[element].get(prefix)
        if namespace is None:
            told = f"the prefix {found(prefix)} is" if prefix else "a default namespace is"
            raise NotProv(FORMAT, f"{told} not declared", _short(element))
        return _joined(namespace, local)


def _events(text: str | bytes) -> list[tuple[str, Any]]:
    """Beginnings and ends of namespaces, and beginnings of elements: the events of a whole text."""
    parser: Any = ET.XMLPullParser(events=("start-ns", "end-ns", "start"))
    try:
        parser.feed(text)
        events = list(parser.read_events())  # raises what feeding met; closing then would tell another place
        parser.close()
        return events + list(parser.read_events())
    except ET.ParseError as error:
        line, column = error.position
        place = f"line {line}, column {column + 1}"
        raise NotProv(FORMAT, f"no XML: {str(error).partition(':')[0]}", place) from None


def _joined(namespace: str, local: str) -> str:
    # XML Schema's namespace has no # at its end; the names of its types as IRIs do.
    return (XSD if namespace == XSD.rstrip("#") else namespace) + local


def _statements(source: _Source, parent: ET.Element) -> Iterator[Statement]:
    for element in parent:
        namespace, _, local = element.tag.removeprefix("{").rpartition("}")
        if namespace != PROV or local in {"other", "bundleContent"}:
            continue  # extensions, and what was read already
        kind = next((kind for kind in ARGUMENTS if kind == local), None)
        special = _SPECIAL.get(local)
        if kind is None and special is None:
            raise NotProv(FORMAT, "this is no statement", _short(element))
        yield from _statement(source, element, *(special or (kind or "entity", "")))


def _statement(source: _Source, element: ET.Element, kind: Kind, type_: str) -> Iterator[Statement]:
    given: dict[str, str | None] = {}
    members: list[str | None] = []
    attributes: list[Attribute] = [(PROV_TYPE, Name(type_))] if type_ else []
    for child in element:
        namespace, _, local = child.tag.removeprefix("{").rpartition("}")
        if namespace != PROV or local not in ARGUMENTS[kind]:
            attributes.append((_joined(namespace, local), _value(source, child)))
        elif kind == "hadMember" and local == "entity":
            members.append(_argument(source, child, local))
        elif local in given:
            raise NotProv(FORMAT, f"{_short(child)} comes twice", _where(element))
        else:
            given[local] = _argument(source, child, local)
    id_ = source.id(element)
    if id_ is None and kind in ELEMENTS:
        raise NotProv(FORMAT, "prov:id is missing", _where(element))
    for member in members or [None]:
        whole = {**given, "entity": member} if kind == "hadMember" else given
        if lacking := missing(kind, (whole.get(argument) for argument in ARGUMENTS[kind])):
            raise NotProv(FORMAT, f"prov:{lacking[0]} is missing", _where(element))
        yield statement(kind, id_, whole, attributes)


def _argument(source: _Source, child: ET.Element, local: str) -> str:
    if local in TIMES:
        return (child.text or "").strip()
    ref = child.get(_REF)
    if ref is None:
        raise NotProv(FORMAT, "prov:ref is missing", _short(child))
    return source.name(child, ref)


def _value(source: _Source, child: ET.Element) -> Value | Name:
    if (ref := child.get(_REF)) is not None:
        return Name(source.name(child, ref))
    text = "".join(_texts(child))
    if language := child.get(XML_LANG, ""):
        return Value(text, language=language)
    type_ = child.get(XSI_TYPE)
    datatype = source.name(child, type_) if type_ else XSD_STRING
    if datatype not in NAMES:
        return Value(text, datatype)
    # The note's own examples have names in no namespace: in PROV, which knows none, those are texts.
    return Name(source.name(child, text)) if ":" in text or source.has_default(child) else Value(text.strip())


def _texts(child: ET.Element) -> Iterable[str]:
    if len(child):
        raise NotProv(FORMAT, "a value holds a text, and no element", _short(child))
    return child.itertext()


def _short(element: ET.Element) -> str:
    namespace, _, local = element.tag.removeprefix("{").rpartition("}")
    return f"prov:{local}" if namespace == PROV else clip(local)


def _where(element: ET.Element) -> str:
    id_ = element.get(_ID)
    return f"{_short(element)} {clip(id_, 60)}" if id_ else _short(element)
