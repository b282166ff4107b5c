"""Quoted triples for readers and formats that have none: rdflib, and JSON-LD.

In TriG each ``<<( s p o )>>`` becomes a name, and the triple that it quotes the only one of a graph of that name. In
JSON-LD it becomes a blank node with ``rdf:subject``, ``rdf:predicate`` and ``rdf:object``. Both ways lead back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clew_schema.rdf import Term, Triple, blank, iri, quoted
from clew_translators.namespaces import RDF

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NAME = "urn:clew:quoted:"
_PARTS = (RDF + "subject", RDF + "predicate", RDF + "object")
# Strings, names and comments are taken whole, so that what looks like a bracket in one is none.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""' + r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\r\n]|\\.)*"' + r"|'(?:[^'\\\r\n]|\\.)*'"
    r"|(?P<open><<\(?)|(?P<close>\)?>>)|<[^<>\s]*>|#[^\r\n]*|[^\"'<>#)]+|.",
    re.DOTALL,
)


def without_quotes(text: str) -> str:
    """TriG with a name for each quoted triple, and the triples themselves as graphs at its end."""
    if "<<" not in text:
        return text
    levels: list[list[str]] = [[]]
    graphs: list[str] = []
    for token in _TOKEN.finditer(text):
        if token["open"]:
            levels.append([])
        elif token["close"] and len(levels) > 1:
            graphs.append("".join(levels.pop()))
            levels[-1].append(f"<{_NAME}{len(graphs)}>")
        else:
            levels[-1].append(token[0])
    ends = "".join(f"\nGRAPH <{_NAME}{number}> {{ {inner} }}" for number, inner in enumerate(graphs, start=1))
    return "".join(part for level in levels for part in level) + ends


def with_quotes(quads: Sequence[Triple]) -> tuple[Triple, ...]:
    """What :func:`without_quotes` hid, as quoted triples again."""
    hidden = {
        quad.g: quad.model_copy(update={"g": None}) for quad in quads if (quad.g or "").startswith(_NAME)
    }
    if not hidden:
        return tuple(quads)

    def shown(term: Term | None) -> Term | None:
        if term is None or term.iri not in hidden:
            return term
        inner = hidden[term.iri]
        return quoted(inner.model_copy(update={"o": shown(inner.o)}))

    return tuple(quad.model_copy(update={"o": shown(quad.o)}) for quad in quads if quad.g not in hidden)


def reified(quads: Iterable[Triple]) -> list[Triple]:
    """``quads`` with a blank node for each quoted triple."""
    flat: list[Triple] = []
    for quad in quads:
        _flatten(quad, flat)
    return flat


def _flatten(quad: Triple, flat: list[Triple]) -> None:
    if quad.o is None or quad.o.type != "t" or quad.o.triple is None:
        flat.append(quad)
        return
    inner = quad.o.triple
    node = blank(f"quoted{len(flat)}")
    flat.append(quad.model_copy(update={"o": node}))
    for name, term in zip(_PARTS, (inner.s, inner.p, inner.o), strict=True):
        _flatten(Triple(s=node, p=iri(name), o=term, g=quad.g), flat)


def unreified(quads: Sequence[Triple]) -> tuple[Triple, ...]:
    """Quoted triples for the blank nodes of which nothing else is said than the three parts."""
    said: dict[str, list[Triple]] = {}
    for quad in quads:
        if quad.s is not None and quad.s.type == "b":
            said.setdefault(quad.s.id, []).append(quad)
    hidden = {
        label: {quad.p.iri: quad.o for quad in about if quad.p is not None}
        for label, about in said.items()
        if sorted(quad.p.iri if quad.p is not None else "" for quad in about) == sorted(_PARTS)
    }

    def shown(term: Term | None, depth: int = 0) -> Term | None:
        if term is None or term.type != "b" or term.id not in hidden or depth > len(hidden):
            return term
        subject, predicate, object_ = (hidden[term.id][name] for name in _PARTS)
        return quoted(Triple(s=subject, p=predicate, o=shown(object_, depth + 1)))

    return tuple(
        quad.model_copy(update={"o": shown(quad.o)})
        for quad in quads
        if quad.s is None or quad.s.type != "b" or quad.s.id not in hidden
    )
