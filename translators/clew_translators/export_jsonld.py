"""Quads → JSON-LD 1.1 (W3C REC 2020-07-16): a context of prefixes, the default graph's nodes, then graph by graph.

Written here, for rdflib's serializer drops literals that are not a number. Values stay as they are written:
``{"@value": "0.87", "@type": "xsd:double"}``. A quoted triple becomes a blank node with ``rdf:subject``,
``rdf:predicate`` and ``rdf:object``. The same quads give the same text, whatever their order.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clew_translators.namespaces import PREFIXES, RDF_TYPE, XSD_STRING
from clew_translators.prov.rdf_quoted import reified
from clew_translators.quads import to_nquads
from clew_translators.trace_quads import name_of, natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew_schema.rdf import Term, Triple

_Nodes = dict[str, dict[str, set[tuple[str, ...]]]]


def to_jsonld(quads: Sequence[Triple]) -> str:
    """``quads`` as one JSON-LD document. Raises NotRdf."""
    to_nquads(quads)
    quads = reified(quads)
    graphs: dict[str, _Nodes] = {}
    compact = _Compact(quads)
    for quad in quads:
        assert quad.s is not None and quad.p is not None and quad.o is not None  # noqa: PT018 - to_nquads saw to it
        node = graphs.setdefault(quad.g or "", {}).setdefault(name_of(quad.s), {})
        node.setdefault(quad.p.iri, set()).add(_key(quad.o))
    whole = _nodes(graphs.pop("", {}), compact)
    whole += [{"@id": compact.name(name), "@graph": _nodes(graphs[name], compact)} for name in sorted(graphs)]
    document = {"@context": compact.context, "@graph": whole}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


class _Compact:
    """Names by the prefixes of the context. A prefix that is also some name's scheme would be read as one: left out."""

    def __init__(self, quads: Iterable[Triple]) -> None:
        names = {name for quad in quads for name in _names(quad)}
        schemes = {name.partition(":")[0] for name in names}
        self.context = {
            prefix: namespace
            for prefix, namespace in PREFIXES.items()
            if prefix not in schemes and any(name.startswith(namespace) for name in names)
        }

    def name(self, iri: str) -> str:
        """``iri``, shortened where its namespace has a prefix."""
        for prefix, namespace in self.context.items():
            if iri.startswith(namespace) and not iri.startswith("//", len(namespace)):
                return f"{prefix}:{iri[len(namespace) :]}"
        return iri


def _names(quad: Triple) -> set[str]:
    terms = [term for term in (quad.s, quad.p, quad.o) if term is not None]
    return {name for term in terms for name in (term.iri, term.datatype) if name} | {quad.g or ""}


def _key(term: Term) -> tuple[str, ...]:
    if term.type != "l":
        return (name_of(term),)
    return term.value, "" if term.datatype == XSD_STRING else term.datatype, term.language


def _nodes(nodes: _Nodes, compact: _Compact) -> list[dict[str, Any]]:
    return [_node(name, nodes[name], compact) for name in sorted(nodes, key=natural)]


def _node(name: str, said: dict[str, set[tuple[str, ...]]], compact: _Compact) -> dict[str, Any]:
    node: dict[str, Any] = {"@id": compact.name(name)}
    for predicate in sorted(said, key=lambda predicate: (predicate != RDF_TYPE, predicate)):
        keys = sorted(said[predicate])
        if predicate == RDF_TYPE and all(len(key) == 1 for key in keys):
            node["@type"] = [compact.name(key[0]) for key in keys]
        else:
            node[compact.name(predicate)] = [_value(key, compact) for key in keys]
    return node


def _value(key: tuple[str, ...], compact: _Compact) -> Any:
    if len(key) == 1:
        return {"@id": compact.name(key[0])}
    text, datatype, language = key
    if language:
        return {"@value": text, "@language": language}
    return {"@value": text, "@type": compact.name(datatype)} if datatype else text
