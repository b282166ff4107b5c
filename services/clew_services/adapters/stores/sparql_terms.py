"""RDF terms as a SPARQL server is told them, and as it tells them. The one writer and the one reader of terms.

Servers differ, and change what they are told: blank nodes get other labels with every request, Jena resolves the
``..`` of an IRI, and its TDB2 cannot delete a decimal whose spelling is not the shortest. So blank nodes and such
IRIs are IRIs of our own there (``urn:clew:term:``), and typed literals are written in the spelling that
:class:`clew_services.adapters.stores.trace_oxigraph.OxigraphTraceStore` gives them too, of the same value. A triple
term is written as RDF 1.2 has it, or as a literal of our own where a server does not know them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import pyoxigraph as ox
from pydantic import ValidationError

from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted
from clew_services.adapters.stores.oxigraph_terms import Node, from_node, named, to_quads
from clew_services.errors import StoreFailed
from clew_translators.namespaces import RDF_LANG_STRING, XSD_STRING

if TYPE_CHECKING:
    from collections.abc import Iterable

_OURS = "urn:clew:term:"
_BLANK, _IRI, _TRIPLE = f"{_OURS}b:", f"{_OURS}i:", f"{_OURS}triple"
_XSD, _NAME = "http://www.w3.org/2001/XMLSchema#", named("urn:clew:term")
_DOTS = re.compile(r"/\.\.?(?:[/?#]|$)")


def quads_of(triples: Iterable[Triple]) -> tuple[ox.Quad, ...]:
    """``triples``, each once, in the spelling in which they will come back. Raises ValueError for what is no RDF."""
    store = ox.Store()
    store.extend(to_quads(triples))
    return tuple(store)


def _spelled(value: str, datatype: str) -> str:
    """A typed literal's text as :func:`quads_of` has it: of a double, for one, Jena tells an exponent too."""
    try:
        literal_there = ox.Literal(value, datatype=named(datatype))
        store = ox.Store()
        store.add(ox.Quad(_NAME, _NAME, literal_there))
        found = next(iter(store)).object
    except ValueError as error:
        raise StoreFailed(f"the SPARQL server told of the datatype {datatype[:80]!r}: {error}") from error
    return found.value if isinstance(found, ox.Literal) else value


def text_of(node: Node, *, triple_terms: bool = True) -> str:
    """``node`` in SPARQL."""
    if isinstance(node, ox.NamedNode):
        return f"<{name_of(node.value)}>"
    if isinstance(node, ox.BlankNode):
        return f"<{_BLANK}{quote(node.value, safe='')}>"
    if isinstance(node, ox.Literal):
        return str(node)
    if not triple_terms:
        return str(ox.Literal(from_node(node).model_dump_json(), datatype=named(_TRIPLE)))
    parts = (text_of(part) for part in (node.subject, node.predicate, node.object))
    return f"<<( {' '.join(parts)} )>>"


def name_of(value: str) -> str:
    """What the IRI ``value`` is called there."""
    if value.startswith(_OURS) or _DOTS.search(value):
        return f"{_IRI}{quote(value, safe='')}"
    return value


def string(value: str) -> str:
    """``value`` as a plain literal in SPARQL. Raises ValueError for half a surrogate pair."""
    return str(ox.Literal(value))


def iri_text(value: str) -> str:
    """The IRI ``value`` in SPARQL. Raises ValueError for what is none."""
    return text_of(named(value))


def is_iri(value: str) -> bool:
    """Whether ``value`` is an IRI, and may be asked for."""
    try:
        iri_text(value)
    except ValueError:
        return False
    return True


def told(term: Term) -> Term:
    """``term`` as it was before it was written."""
    if term.type == "t" and term.triple is not None:
        inner = term.triple
        s, p, o = (told(part) if part else None for part in (inner.s, inner.p, inner.o))
        return quoted(Triple(s=s, p=p, o=o))
    if term.type == "l":
        return _literal_told(term)
    if term.iri.startswith(_BLANK):
        return blank(unquote(term.iri.removeprefix(_BLANK)))
    if term.iri.startswith(_IRI):
        return iri(unquote(term.iri.removeprefix(_IRI)))
    return term


def _literal_told(term: Term) -> Term:
    if term.language:  # Jena says de-AT for de-at
        return literal(term.value, language=term.language.lower())
    if term.datatype.startswith(_XSD):
        return literal(_spelled(term.value, term.datatype), datatype=term.datatype)
    if term.datatype == _TRIPLE:
        try:
            return Term.model_validate_json(term.value)
        except ValidationError:
            return term
    return term


def term_of(found: dict[str, Any]) -> Term:
    """A term of SPARQL's JSON results. Raises StoreFailed for what is none."""
    value, kind = found.get("value"), found.get("type")
    match kind:
        case "uri" if isinstance(value, str):
            return told(iri(value))
        case "bnode" if isinstance(value, str):
            return blank(value)
        case "literal" | "typed-literal" if isinstance(value, str):
            datatype = found.get("datatype", "")
            plain = datatype in {XSD_STRING, RDF_LANG_STRING}
            language = found.get("xml:lang", "")
            return told(literal(value, datatype="" if plain else datatype, language=language))
        case "triple" if isinstance(value, dict):
            parts = (value.get(part) for part in ("subject", "predicate", "object"))
            s, p, o = (term_of(part if isinstance(part, dict) else {}) for part in parts)
            return quoted(Triple(s=s, p=p, o=o))
    raise StoreFailed(
        f"the SPARQL server told of a term of type {str(kind)[:40]!r}, which SPARQL's results have not"
    )
