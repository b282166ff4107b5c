"""A run's quads in the formats that other programs read."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_translators.explain import names
from clew_translators.explain.facts import facts_of
from clew_translators.export_jsonld import to_jsonld
from clew_translators.export_trig import to_trig, to_turtle
from clew_translators.otlp import to_json
from clew_translators.prov.building import NotExpressible, NotProv
from clew_translators.prov.qnames import Prefixes
from clew_translators.prov.read_rdf import read_quads
from clew_translators.prov.write_provjson import write_provjson
from clew_translators.prov.write_provn import write_provn
from clew_translators.prov.write_provxml import write_provxml
from clew_translators.quads import to_nquads
from clew_translators.spans import spans
from clew_translators.trace import TraceUnreadable, find_run
from clew_translators.trace_quads import Quads
from clew_translators.uris import run_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew_schema.rdf import Triple


def _spans(quads: Sequence[Triple]) -> str:
    """The run as spans, its texts included: whoever exports a file by hand has the texts already."""
    if not quads:
        return to_json(())
    known = Quads(quads)
    question = find_run(known)
    run = run_of(question)
    if run is None:
        raise TraceUnreadable("no run of Clew among these quads: give all quads of one run")
    mechanism, session_id = run
    told = spans(
        facts_of(quads),
        session_id=session_id,
        collection=known.text(question, names.COLLECTION),
        mechanism=mechanism,
        content=True,
    )
    return to_json(told)


def _turtle(quads: Sequence[Triple]) -> str:
    """With a prefix for every name, as readers of PROV that know qualified names alone need it."""
    try:
        prefixes = Prefixes(read_quads(quads)).items()
    except (NotProv, NotExpressible):
        return to_turtle(quads)  # no PROV; it is Turtle all the same
    return "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in prefixes) + to_turtle(quads)


FORMATS: Mapping[str, Callable[[Sequence[Triple]], str]] = MappingProxyType(
    {
        "nquads": to_nquads,
        "trig": to_trig,
        "turtle": _turtle,
        "jsonld": to_jsonld,
        "provjson": lambda quads: write_provjson(read_quads(quads)),
        "provn": lambda quads: write_provn(read_quads(quads)),
        "provxml": lambda quads: write_provxml(read_quads(quads)),
        "otlp": _spans,
    }
)
"""Every format: N-Quads, TriG and JSON-LD hold all graphs, PROV's what ``urn:graph:provenance`` says, OTLP spans."""


class UnknownFormat(ValueError):
    """No format of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no format {name!r}; the formats are {', '.join(FORMATS)}")


def export(quads: Sequence[Triple], format: str) -> str:  # noqa: A002 - the word for it
    """The quads of one run in ``format``, one of :data:`FORMATS`; they are not changed, nor is their order relied on.

    Raises UnknownFormat; TraceUnreadable for spans of what is no run of ours; NotRdf for quads that RDF cannot hold;
    NotProv and NotExpressible (both from ``clew_translators.prov.building``) for quads that make no PROV document.
    """
    check_format(format)
    return FORMATS[format](quads)


def check_format(format: str) -> None:  # noqa: A002 - the word for it
    """Raise UnknownFormat unless ``format`` is one of :data:`FORMATS`."""
    if format not in FORMATS:
        raise UnknownFormat(format)
