"""The formats of PROV documents: their names, how each is recognised, and reading any of them."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_translators.prov.building import NotProv
from clew_translators.prov.rdf_text import PARSERS, read_rdf_text
from clew_translators.prov.read_provjson import read_provjson
from clew_translators.prov.read_provjsonld import CONTEXT, read_provjsonld
from clew_translators.prov.read_provn import read_provn
from clew_translators.prov.read_provxml import read_provxml
from clew_translators.prov.read_rdf import read_quads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew_translators.prov.model import Document

RDF_FORMATS: tuple[str, ...] = ("nquads", "ntriples", *PARSERS)
"""Syntaxes of RDF, which hold PROV-O."""

READERS: Mapping[str, Callable[[str], Document]] = MappingProxyType(
    {"provn": read_provn, "provjson": read_provjson, "provxml": read_provxml, "provjsonld": read_provjsonld}
)
"""Formats of PROV's own."""

FORMATS: tuple[str, ...] = (*READERS, *RDF_FORMATS)

_ENDINGS: Mapping[str, str] = MappingProxyType(
    {
        "provn": "provn",
        "provx": "provxml",
        "provxml": "provxml",
        "provjson": "provjson",
        "nq": "nquads",
        "nquads": "nquads",
        "nt": "ntriples",
        "trig": "trig",
        "ttl": "turtle",
        "rdf": "rdfxml",
        "owl": "rdfxml",
        "jsonld": "jsonld",
        "n3": "n3",
        "trix": "trix",
        "hext": "hext",
    }
)
_COMMENTS = re.compile(r"(?:\s+|#[^\r\n]*|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_LINE = re.compile(r"(?:<[^<>]*>|_:\S+) <[^<>]*> .*\.[ \t]*(?:#.*)?")


class UnknownFormat(ValueError):
    """No format of that name can be read."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no format {name!r} can be read; the formats are {', '.join(FORMATS)}")


def format_of(text: str, name: str = "") -> str:
    """The format of ``text``: by the ending of its ``name``, else by how it begins; TriG when nothing else fits.

    ``.json`` and ``.xml`` say nothing by themselves, for two formats each end so.
    """
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    start = text.lstrip("\ufeff \t\r\n")
    if CONTEXT in start and start.startswith("{"):
        return "provjsonld"
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if start.startswith("<") and re.match(
        r"<(?:\?xml|!--|!DOCTYPE|[A-Za-z][\w.-]*(?::[\w.-]+)?[\s>/])", start
    ):
        return _xml(start)
    if start.startswith("{") or re.match(r"\[\s*[{\]]", start):
        return "jsonld" if re.search(r'"@(?:context|graph|id)"\s*:', start) else "provjson"
    match = _COMMENTS.match(start)
    if re.match(r"document\b", start[match.end() if match else 0 :]):
        return "provn"
    lines = [line.strip() for line in start.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    return "nquads" if lines and all(_LINE.fullmatch(line) for line in lines) else "trig"


def _xml(text: str) -> str:
    if re.search(r"<(?:[\w.-]+:)?RDF[\s/>]", text):
        return "rdfxml"
    return "trix" if re.search(r"<(?:[\w.-]+:)?TriX[\s/>]", text, re.IGNORECASE) else "provxml"


def decoded(data: bytes, format: str = "document") -> str:  # noqa: A002 - the word for it
    """``data`` as text. Raises NotProv for what is no UTF-8 (a byte order mark may say UTF-16)."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise NotProv(format, f"no {encoding.upper()[:6].rstrip('-')} text", f"byte {error.start}") from None


def read(text: str, format: str) -> Document:  # noqa: A002 - the word for it
    """What ``text`` states, in one of :data:`FORMATS`. Raises NotProv, and UnknownFormat."""
    if format in READERS:
        return READERS[format](text)
    if format not in RDF_FORMATS:
        raise UnknownFormat(format)
    return read_quads(read_rdf_text(text, format))
