"""PROV-O → statements: the quads of a run, or any RDF, as PROV-DM.

A qualification (``prov:qualifiedUsage`` …) and the unqualified property with the same ends are one statement. Classes
beyond entity, activity and agent are ``prov:type``, ``rdfs:label`` is ``prov:label``, ``prov:atLocation``
``prov:location``, and ``prov:wasRevisionOf`` and its kin are derivations with a type, all as PROV-O maps them. What is
said of a resource that is none of the three is no PROV, and left out.

A named graph is a bundle where it is typed ``prov:Bundle``; every other graph is part of the document. Of a trace of
ours the graph ``urn:graph:provenance`` is the document, and the others are left out unless they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators.prov.building import document
from clew_translators.prov.model import Name, Value
from clew_translators.prov.rdf_statements import BUNDLE, statements
from clew_translators.trace_quads import name_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from clew_schema.rdf import Term, Triple
    from clew_translators.prov.model import Document
    from clew_translators.prov.rdf_statements import Row


def read_quads(quads: Iterable[Triple], *, graphs: Collection[str] | None = None) -> Document:
    """What ``quads`` say in PROV-O, in those of their ``graphs`` (``""``: the default one).

    None means ``urn:graph:provenance`` alone where there is one, else all. Raises NotProv for a relation to a literal,
    a time that is none, or a qualification without what it must have. Quoted triples are not PROV, and left out.
    """
    by_graph: dict[str, list[Row]] = {}
    for quad in quads:
        if (
            quad.s is not None
            and quad.p is not None
            and quad.o is not None
            and quad.o.type in {"i", "b", "l"}
        ):
            row = (name_of(quad.s), quad.p.iri, _value(quad.o))
            by_graph.setdefault(quad.g or "", []).append(row)
    if graphs is None and ns.GRAPH_PROVENANCE in by_graph:
        graphs = {ns.GRAPH_PROVENANCE}
    if graphs is not None:
        by_graph = {name: rows for name, rows in by_graph.items() if name in graphs}
    named = {
        subject
        for rows in by_graph.values()
        for subject, predicate, value in rows
        if predicate == ns.RDF_TYPE and value == BUNDLE
    }
    inside = {name: statements(rows) for name, rows in by_graph.items() if name in named}
    outside = [row for name, rows in by_graph.items() if name not in named for row in rows]
    return document(statements(outside), inside)


def _value(term: Term) -> Value | Name:
    if term.type != "l":
        return Name(name_of(term))
    if term.language:
        return Value(term.value, language=term.language)
    return Value(term.value, term.datatype or ns.XSD_STRING)
