"""Our terms: the ontology, the reference page and the code name the same ones, and runs use no others."""

import re
from pathlib import Path

import pytest
from rdflib import OWL, RDF, RDFS, XSD, Graph, Literal, URIRef

import clew_translators.explain
from clew_schema.rdf import Triple
from clew_translators.explain import names
from clew_translators.namespaces import CLEW, PROV_ACTIVITY, PROV_ENTITY, RDF_TYPE
from tests.translators import courses, runs

ONTOLOGY = Graph().parse(Path(clew_translators.explain.__file__).with_name("clew.ttl"))
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "vocabulary.md").read_text(encoding="utf-8")
TERMS = {str(term).removeprefix(CLEW) for term in ONTOLOGY.subjects() if str(term).startswith(CLEW)}
STORE = {"contains", "lists", "askedAt", "mechanism", "state", "waits", "resumed"}
"""What only the trace store writes (clew_services.adapters.stores.trace_oxigraph)."""

QUADS = runs.quads_of(
    [
        *runs.DOCUMENT_BATCHES,
        *runs.AGENT_BATCHES,
        *courses.REWRITTEN_BATCHES,
        *courses.RESUMED_BATCHES,
        *courses.CANCELLED_BATCHES,
        *runs.told(((runs.FAILED,),)),
    ]
)


def test_the_ontology_has_the_terms_of_the_code() -> None:
    constants = {value for value in vars(names).values() if isinstance(value, str) and value.startswith(CLEW)}
    assert {term.removeprefix(CLEW) for term in constants - {CLEW}} == TERMS - STORE


def test_the_page_has_the_terms_of_the_ontology() -> None:
    assert set(re.findall(r"^\| `clew:(\w+)`", PAGE, re.MULTILINE)) == TERMS


def test_every_term_has_a_label_and_a_comment_in_english() -> None:
    for term in TERMS:
        for property_ in (RDFS.label, RDFS.comment):
            value = ONTOLOGY.value(URIRef(CLEW + term), property_)
            assert isinstance(value, Literal), term
            assert value.language == "en"


def test_classes_are_entities_or_activities_as_the_runs_type_them() -> None:
    typed: dict[str, set[str]] = {}
    for quad in QUADS:
        if quad.s and quad.p and quad.o and quad.p.iri == RDF_TYPE and quad.g == "urn:graph:provenance":
            typed.setdefault(quad.s.iri, set()).add(quad.o.iri)
    checked = set()
    for kinds in typed.values():
        for kind in kinds:
            if kind.startswith(CLEW):
                parent = str(ONTOLOGY.value(URIRef(kind), RDFS.subClassOf))
                assert parent in {PROV_ENTITY, PROV_ACTIVITY}
                assert parent in kinds
                checked.add(kind.removeprefix(CLEW))
    assert checked == {str(c).removeprefix(CLEW) for c in ONTOLOGY.subjects(RDF.type, OWL.Class)}


@pytest.mark.parametrize(
    "quad", [q for q in QUADS if q.p and q.p.iri.startswith(CLEW)], ids=lambda q: q.p.iri[12:]
)
def test_properties_have_the_values_that_the_ontology_says(quad: Triple) -> None:
    assert quad.p is not None
    assert quad.o is not None
    range_ = ONTOLOGY.value(URIRef(quad.p.iri), RDFS.range)
    if quad.o.type == "l":
        assert str(range_) == (quad.o.datatype or str(XSD.string))
    else:
        assert (URIRef(quad.p.iri), RDF.type, OWL.ObjectProperty) in ONTOLOGY
