"""Statements → PROV-XML. XML cannot hold most control characters: they are removed, here alone.

Names are written as ``prefix:local`` with any local part that PROV allows, as the ``prov`` package writes and reads
them; for XML Schema's QName some of them begin with a digit or hold a slash.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from clew_translators.namespaces import PROV, XSD, XSD_STRING
from clew_translators.prov.building import NotExpressible
from clew_translators.prov.model import ARGUMENTS, TIMES, Name
from clew_translators.prov.qnames import Prefixes
from clew_translators.refusal import found

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew_translators.prov.model import Document, Statement, Value

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What may not stand in XML 1.0 (section 2.2), not even as a reference."""

_ELEMENT = re.compile(r"[^\W\d][\w.-]*")
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_XSI = "http://www.w3.org/2001/XMLSchema-instance"


def write_provxml(document: Document) -> str:
    """``document`` as PROV-XML, which ``read_provxml`` reads back, but for control characters.

    Raises NotExpressible, also for an attribute whose name cannot be an element's.
    """
    prefixes = Prefixes(document)
    declared = {"prov": PROV, "xsd": XSD.rstrip("#"), "xsi": _XSI} | dict(prefixes.items())
    names = " ".join(f'xmlns:{prefix}="{escape(iri)}"' for prefix, iri in sorted(declared.items()))
    lines = [_HEAD, f"<prov:document {names}>"]
    lines += _statements(document.statements, prefixes)
    for name, inside in document.bundles.items():
        lines.append(f'<prov:bundleContent prov:id="{_name(name, prefixes)}">')
        lines += _statements(inside, prefixes)
        lines.append("</prov:bundleContent>")
    return "\n".join([*lines, "</prov:document>", ""])


def _statements(statements: Iterable[Statement], prefixes: Prefixes) -> Iterator[str]:
    for each in statements:
        id_ = f' prov:id="{_name(each.id, prefixes)}"' if each.id is not None else ""
        inside = [
            f"    <prov:{argument}>{_text(value)}</prov:{argument}>"
            if argument in TIMES
            else f'    <prov:{argument} prov:ref="{_name(value, prefixes)}"/>'
            for argument, value in zip(ARGUMENTS[each.kind], each.arguments, strict=True)
            if value is not None
        ]
        # The schema has PROV's own attributes first, in the order of their names.
        attributes = sorted(each.attributes, key=lambda attribute: not attribute[0].startswith(PROV))
        inside += [f"    {_attribute(name, value, prefixes)}" for name, value in attributes]
        if inside:
            yield "\n".join([f"  <prov:{each.kind}{id_}>", *inside, f"  </prov:{each.kind}>"])
        else:
            yield f"  <prov:{each.kind}{id_}/>"


def _attribute(name: str, value: Value | Name, prefixes: Prefixes) -> str:
    element = ":".join(prefixes.name(name))
    if not _ELEMENT.fullmatch(element.partition(":")[2]):
        raise NotExpressible(f"PROV-XML cannot hold the attribute {found(name)}: an element is not named so")
    if isinstance(value, Name):
        return f'<{element} xsi:type="xsd:QName">{_name(value.iri, prefixes)}</{element}>'
    kind = f' xml:lang="{escape(value.language)}"' if value.language else ""
    if not kind and value.datatype != XSD_STRING:
        kind = f' xsi:type="{_name(value.datatype, prefixes)}"'
    return f"<{element}{kind}>{_text(value.text)}</{element}>"


def _text(text: str) -> str:
    return escape(FORBIDDEN.sub("", text), quote=False).replace("\r", "&#13;")


def _name(iri: str, prefixes: Prefixes) -> str:
    return escape(":".join(prefixes.name(iri)))
