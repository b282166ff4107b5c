"""Our terms and quads as pyoxigraph's, and back. Raises ValueError for what is no RDF, saying which term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pyoxigraph as ox

from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted
from clew_translators.memo import remembered
from clew_translators.namespaces import RDF_LANG_STRING, XSD_STRING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Node: TypeAlias = "ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple"

named = remembered(ox.NamedNode, entries=8192)
"""An IRI. Predicates, classes and the subjects of a batch repeat; making one checks it each time."""

MAX_NESTING = 16
"""How deep triples may be quoted in triples."""


def to_quads(triples: Iterable[Triple]) -> Iterator[ox.Quad]:
    """``triples`` for the store. Raises ValueError for the first that is none: a term missing, or in a wrong place."""
    for triple in triples:
        graph = named(triple.g) if triple.g else ox.DefaultGraph()
        try:
            yield ox.Quad(*_parts(triple, 0), graph)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{_shown(triple)}: {error}") from error


def from_quad(quad: ox.Quad) -> Triple:
    """A quad as we send it. A literal of xsd:string is plain."""
    graph = quad.graph_name
    return Triple(
        s=from_node(quad.subject),
        p=from_node(quad.predicate),
        o=from_node(quad.object),
        g=graph.value if isinstance(graph, ox.NamedNode) else None,
    )


def from_node(node: Node) -> Term:
    """A term as we send it."""
    if isinstance(node, ox.NamedNode):
        return iri(node.value)
    if isinstance(node, ox.BlankNode):
        return blank(node.value)
    if isinstance(node, ox.Literal):
        datatype = node.datatype.value
        plain = datatype in {XSD_STRING, RDF_LANG_STRING}
        return literal(node.value, datatype="" if plain else datatype, language=node.language or "")
    return quoted(Triple(s=from_node(node.subject), p=from_node(node.predicate), o=from_node(node.object)))


def _parts(triple: Triple, depth: int) -> tuple[Any, Any, Any]:
    return _node(triple.s, depth), _node(triple.p, depth), _node(triple.o, depth)


def _node(term: Term | None, depth: int) -> Node:
    if term is None or depth > MAX_NESTING:
        raise ValueError("a term is missing" if term is None else "triples are quoted too deep")
    match term.type:
        case "i":
            return named(term.iri)
        case "b":
            return ox.BlankNode(term.id)
        case "l" if term.language:
            return ox.Literal(term.value, language=term.language)
        case "l" if term.datatype:
            return ox.Literal(term.value, datatype=named(term.datatype))
        case "l":
            return ox.Literal(term.value)
        case "t" if term.triple is not None:
            return ox.Triple(*_parts(term.triple, depth + 1))
    raise ValueError(f"a term of type {term.type!r} holds nothing")


def _shown(triple: Triple) -> str:
    texts = (
        (term.iri or term.value or term.id) if term else "nothing" for term in (triple.s, triple.p, triple.o)
    )
    return " ".join(text if len(text) <= 60 else f"{text[:59]}…" for text in texts)
