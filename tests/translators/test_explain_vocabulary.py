"""Our terms: the ontology, the reference page and the code name the same ones, and runs use no others."""

import re
from pathlib import Path

import pytest
from rdflib import OWL, PROV, RDF, RDFS, XSD, Graph, Literal, URIRef
from rdflib.collection import Collection

import clew_translators.explain
from clew_schema.rdf import Triple
from clew_translators.explain import Profile, names
from clew_translators.namespaces import CLEW, PREFIXES, PROV_ACTIVITY, PROV_ENTITY, RDF_TYPE
from tests.translators import courses, runs, whole_runs

ONTOLOGY = Graph().parse(Path(clew_translators.explain.__file__).with_name("clew.ttl"))
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "vocabulary.md").read_text(encoding="utf-8")
TERMS = {str(term).removeprefix(CLEW) for term in ONTOLOGY.subjects() if str(term).startswith(CLEW)}
PROFILES: tuple[Profile, ...] = ("spec", "trustgraph")
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
        *(
            batch
            for profile in PROFILES
            for mechanism, steps in whole_runs.RUNS.values()
            for batch in runs.told(steps, mechanism, profile=profile)
        ),
    ]
)
TOLD = list(
    {
        (quad.p.iri, quad.o.type, quad.o.datatype): quad
        for quad in QUADS
        if quad.p and quad.o and quad.p.iri.startswith(CLEW)
    }.values()
)
"""One quad for each of our properties, and for each datatype of its values."""

TYPES: dict[str, set[str]] = {}
for each in QUADS:
    if each.s and each.p and each.o and each.p.iri == RDF_TYPE and each.g == "urn:graph:provenance":
        TYPES.setdefault(each.s.iri, set()).add(each.o.iri)


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


def domain(term: str) -> set[str]:
    """The classes that the ontology says a property is of; none where it says nothing."""
    value = ONTOLOGY.value(URIRef(CLEW + term), RDFS.domain)
    if value is None:
        return set()
    union = ONTOLOGY.value(value, OWL.unionOf)
    return {str(value)} if union is None else {str(each) for each in Collection(ONTOLOGY, union)}


def short(iri: str) -> str:
    return next(
        f"{prefix}:{iri.removeprefix(space)}" for prefix, space in PREFIXES.items() if iri.startswith(space)
    )


def test_the_page_says_what_the_ontology_says() -> None:
    rows = dict(re.findall(r"^\| `clew:(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    for term in TERMS - STORE:
        parent, range_, comment = (
            ONTOLOGY.value(URIRef(CLEW + term), of) for of in (RDFS.subClassOf, RDFS.range, RDFS.comment)
        )
        cells = [cell.strip() for cell in rows[term].split(" | ")]
        assert cells[-1] == str(comment), term
        if parent is not None:
            assert cells[0] == f"`{short(str(parent))}`", term
        else:
            assert set(re.findall(r"`(\S+)`", cells[0])) == {short(each) for each in domain(term)}, term
            assert cells[1] == (f"`{short(str(range_))}`" if range_ else "a name"), term


def test_every_class_is_a_prov_class_and_every_property_says_of_what() -> None:
    for term in TERMS - STORE:
        kinds = set(ONTOLOGY.objects(URIRef(CLEW + term), RDF.type))
        if OWL.Class in kinds:
            assert ONTOLOGY.value(URIRef(CLEW + term), RDFS.subClassOf) in {PROV.Entity, PROV.Activity}
        else:
            assert kinds <= {OWL.DatatypeProperty, OWL.ObjectProperty}
            assert domain(term), term
            known = TERMS | {short(str(c)) for c in (PROV.Activity, PROV.Plan, PROV.SoftwareAgent)}
            assert {
                each.removeprefix(CLEW) if each.startswith(CLEW) else short(each) for each in domain(term)
            } <= known


def test_classes_are_entities_or_activities_as_the_runs_type_them() -> None:
    checked = set()
    for kinds in TYPES.values():
        for kind in kinds:
            if kind.startswith(CLEW):
                parent = str(ONTOLOGY.value(URIRef(kind), RDFS.subClassOf))
                assert parent in {PROV_ENTITY, PROV_ACTIVITY}
                assert parent in kinds
                checked.add(kind.removeprefix(CLEW))
    named = {c for c in ONTOLOGY.subjects(RDF.type, OWL.Class) if isinstance(c, URIRef)}
    assert checked == {str(c).removeprefix(CLEW) for c in named}


def test_every_property_is_told() -> None:
    told = {quad.p.iri.removeprefix(CLEW) for quad in TOLD if quad.p}
    classes = {str(c).removeprefix(CLEW) for c in ONTOLOGY.subjects(RDF.type, OWL.Class)}
    assert told == TERMS - STORE - classes


def test_properties_are_of_the_classes_that_the_ontology_says() -> None:
    for quad in QUADS:
        if (
            quad.s
            and quad.p
            and quad.p.iri.startswith(CLEW)
            and (of := domain(quad.p.iri.removeprefix(CLEW)))
        ):
            assert of & TYPES[quad.s.iri], (quad.s.iri, quad.p.iri)


def test_properties_lead_to_the_classes_that_the_ontology_says() -> None:
    for quad in QUADS:
        if quad.p and quad.o and quad.p.iri.startswith(CLEW) and quad.o.type == "i":
            range_ = str(ONTOLOGY.value(URIRef(quad.p.iri), RDFS.range))
            assert not range_.startswith(CLEW) or range_ in TYPES[quad.o.iri], quad.p.iri


@pytest.mark.parametrize("quad", TOLD, ids=lambda quad: quad.p.iri.removeprefix(CLEW))
def test_properties_have_the_values_that_the_ontology_says(quad: Triple) -> None:
    assert quad.p is not None
    assert quad.o is not None
    range_ = ONTOLOGY.value(URIRef(quad.p.iri), RDFS.range)
    if quad.o.type == "l":
        assert str(range_) == (quad.o.datatype or str(XSD.string))
    else:
        assert (URIRef(quad.p.iri), RDF.type, OWL.ObjectProperty) in ONTOLOGY
