"""SHACL shapes of what Clew tells: one graph of shapes for each profile, and traces as the shapes see them.

SHACL Core only (W3C REC 2017-07-20), so that every validator can judge a trace, without Clew. What no shape of Core can
say is not said: that a target belongs to the same run, that numbers have no gap, that a count is of what was counted.

A shape looks at a whole run in one graph, for the profiles at ``urn:graph:retrieval`` or ``urn:graph:provenance``. What
a run tells before its end conforms, too.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Literal, get_args

from rdflib import Graph
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from clew_schema.rdf import Term, Triple, blank, iri
from clew_translators.namespaces import RDF
from clew_translators.quads import to_rdflib

if TYPE_CHECKING:
    from collections.abc import Iterable

ShapedProfile = Literal["spec", "trustgraph", "provenance"]


def shapes_of(profile: ShapedProfile) -> str:
    """The shapes of ``profile``, as Turtle. ValueError for another name says which there are."""
    if profile not in get_args(ShapedProfile):
        msg = f"no profile {profile!r} has shapes; those that have are: {', '.join(get_args(ShapedProfile))}"
        raise ValueError(msg)
    return files(__package__).joinpath(f"{profile}.ttl").read_text(encoding="utf-8")


def shaped_graph(triples: Iterable[Triple]) -> Graph:
    """``triples`` of one named graph as the data graph that shapes are held against.

    RDF 1.1, which SHACL judges, has no quoted triples: a blank node with ``rdf:subject``, ``rdf:predicate`` and
    ``rdf:object`` stands for each. Raises NotRdf for what is no RDF.
    """
    flat: list[Triple] = []
    for triple in triples:
        _flatten(triple, flat)
    graph = Graph()
    for statement in to_rdflib(flat).graph(DATASET_DEFAULT_GRAPH_ID):
        graph.add(statement)
    return graph


def _flatten(triple: Triple, flat: list[Triple]) -> None:
    if triple.o is None or triple.o.type != "t" or triple.o.triple is None:
        flat.append(triple.model_copy(update={"g": None}))
        return
    inner = triple.o.triple
    node = blank(f"quoted{len(flat)}")
    flat.append(Triple(s=triple.s, p=triple.p, o=node))
    for name, term in (("subject", inner.s), ("predicate", inner.p), ("object", inner.o)):
        _flatten(Triple(s=node, p=_REIFIED[name], o=term), flat)


_REIFIED: dict[str, Term] = {name: iri(RDF + name) for name in ("subject", "predicate", "object")}
