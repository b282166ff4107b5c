"""Quads → TriG, and one graph of them → Turtle (W3C RECs 2014-02-25).

Written here, for rdflib's serializers write an ``xsd:double`` with seven digits. The same quads give the same text,
whatever their order. A quoted triple is written as RDF 1.2's triple term, ``<<( s p o )>>``.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from clew_translators.namespaces import GRAPH_PROVENANCE, PREFIXES, RDF_TYPE, XSD_STRING
from clew_translators.quads import to_nquads
from clew_translators.trace_quads import name_of, natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew_schema.rdf import Term, Triple

_LOCAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def to_trig(quads: Sequence[Triple]) -> str:
    """``quads``, graph by graph, the default graph first. Raises NotRdf."""
    to_nquads(quads)  # what no RDF can hold is refused before anything is written
    graphs: dict[str, list[Triple]] = {}
    for quad in quads:
        graphs.setdefault(quad.g or "", []).append(quad)
    written = _Terms()
    parts = []
    for name in sorted(graphs):
        if name:
            body = _graph(graphs[name], written, "    ")
            parts.append(f"{written.iri(name)} {{\n{body}}}\n")
        else:
            parts.append(_graph(graphs[name], written, ""))
    return written.declarations() + "\n".join(parts)


def to_turtle(quads: Iterable[Triple], graph: str = GRAPH_PROVENANCE) -> str:
    """What ``quads`` have in ``graph``, alone: Turtle holds one. Raises NotRdf."""
    return to_trig([quad.model_copy(update={"g": None}) for quad in quads if quad.g == graph])


class _Terms:
    """Terms as Turtle writes them; remembers which prefixes that took."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def declarations(self) -> str:
        """The prefixes used so far, and an empty line."""
        lines = [f"@prefix {prefix}: <{PREFIXES[prefix]}> .\n" for prefix in sorted(self._used)]
        return "".join([*lines, "\n"]) if lines else ""

    def iri(self, iri: str) -> str:
        """With a prefix where a plain name is left, else in angle brackets."""
        for prefix, namespace in PREFIXES.items():
            if iri.startswith(namespace) and _LOCAL.fullmatch(iri, len(namespace)):
                self._used.add(prefix)
                return f"{prefix}:{iri[len(namespace) :]}"
        return f"<{iri}>"

    def term(self, term: Term) -> str:
        """Any term. Literals keep their lexical form: ``"7"^^xsd:integer``, never the bare number."""
        if term.type == "t" and term.triple is not None:
            return f"<<( {' '.join(self.term(part) for part in _parts(term.triple))} )>>"
        if term.type != "l":
            return name_of(term) if term.type == "b" else self.iri(term.iri)
        text = encode_basestring(term.value)
        if term.language:
            return f"{text}@{term.language}"
        return text if term.datatype in {"", XSD_STRING} else f"{text}^^{self.iri(term.datatype)}"


def _parts(triple: Triple) -> tuple[Term, Term, Term]:
    assert triple.s is not None and triple.p is not None and triple.o is not None  # noqa: PT018 - to_nquads saw to it
    return triple.s, triple.p, triple.o


def _graph(triples: Iterable[Triple], written: _Terms, indent: str) -> str:
    """Subject by subject, in natural order; a subject's types first."""
    subjects: dict[str, dict[str, set[str]]] = {}
    for triple in triples:
        subject, predicate, object_ = _parts(triple)
        told = subjects.setdefault(name_of(subject), {}).setdefault(predicate.iri, set())
        told.add(written.term(object_))
    blocks = []
    for name in sorted(subjects, key=natural):
        lines = [
            f"{'a' if predicate == RDF_TYPE else written.iri(predicate)} {', '.join(sorted(objects, key=natural))}"
            for predicate, objects in sorted(
                subjects[name].items(), key=lambda said: (said[0] != RDF_TYPE, said[0])
            )
        ]
        subject_text = name if name.startswith("_:") else written.iri(name)
        body = f" ;\n{indent}    ".join(lines)
        blocks.append(f"{indent}{subject_text} {body} .\n")
    return "\n".join(blocks)
