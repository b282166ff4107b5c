"""The shapes of ``urn:graph:provenance``: every run conforms, after each of its steps, and each shape can be broken."""

from typing import Any

import pyshacl
import pytest
from hypothesis import given, settings
from rdflib import OWL, RDF, SH, BNode, Graph, URIRef

from clew_schema.facts import Mechanism
from clew_schema.rdf import Triples
from clew_translators.explain import Profile
from clew_translators.namespaces import CLEW, GRAPH_PROVENANCE, PREFIXES
from clew_translators.shapes import shaped_graph, shapes_of
from tests.translators import runs, whole_runs
from tests.translators.provenance_shape_cases import CASES
from tests.translators.run_strategies import ANY_RUN, Steps
from tests.translators.test_explain_provenance import RUNS
from tests.translators.test_explain_vocabulary import ONTOLOGY

SHAPES = Graph().parse(data=shapes_of("provenance"), format="turtle")
SPARQL = "".join(f"PREFIX {prefix}: <{name}>\n" for prefix, name in PREFIXES.items())
OURS = "urn:clew:shapes:provenance#"


def graph_of(batches: list[Triples]) -> Graph:
    return shaped_graph(quad for quad in runs.quads_of(batches) if quad.g == GRAPH_PROVENANCE)


def validate(data: Graph) -> tuple[bool, set[Any], str]:
    """Whether ``data`` conforms, the shapes that it does not have, and the report."""
    conforms, results, text = pyshacl.validate(data, shacl_graph=SHAPES)
    assert isinstance(results, Graph)
    return conforms, set(results.objects(None, SH.sourceShape)), text


def closure(start: Any) -> set[Any]:
    """The shapes that ``start`` is made of, itself included."""
    found, edge = {start}, {start}
    while edge:
        edge = {node for one in edge for node in SHAPES.objects(one) if isinstance(node, BNode)} - found
        found |= edge
    return found


def test_shapes_are_shapes_of_the_core_language() -> None:
    conforms, _, text = pyshacl.validate(Graph(), shacl_graph=SHAPES, meta_shacl=True)
    assert conforms, text
    assert not list(SHAPES.subject_objects(SH.sparql))


def test_every_class_has_a_shape() -> None:
    classes = {c for c in ONTOLOGY.subjects(RDF.type, OWL.Class) if str(c).startswith(CLEW)}
    assert {URIRef(OURS + str(c).removeprefix(CLEW)) for c in classes} <= set(SHAPES.subjects(SH.targetClass))


@pytest.mark.parametrize("name", RUNS)
def test_a_run_conforms_after_each_of_its_steps(name: str) -> None:
    batches = RUNS[name]
    for so_far in range(1, len(batches) + 1):
        conforms, _, text = validate(graph_of(batches[:so_far]))
        assert conforms, text


@pytest.mark.parametrize("name", whole_runs.RUNS)
def test_a_run_that_is_told_with_its_texts_conforms(name: str) -> None:
    profile: Profile = "trustgraph"
    mechanism, steps = whole_runs.RUNS[name]
    conforms, _, text = validate(graph_of(runs.told(steps, mechanism, profile=profile)))
    assert conforms, text


@settings(max_examples=25)
@given(run=ANY_RUN)
def test_any_run_conforms(run: tuple[Mechanism, Steps]) -> None:
    mechanism, steps = run
    conforms, _, text = validate(graph_of(runs.told(steps, mechanism)))
    assert conforms, text


@pytest.mark.parametrize(
    ("shape", "name", "update"),
    [pytest.param(*case, id=f"{number}-{case[0]}") for number, case in enumerate(CASES)],
)
def test_a_shape_can_be_broken(shape: str, name: str, update: str) -> None:
    data = graph_of(RUNS[name])
    before = set(data)
    data.update(SPARQL + update)
    assert set(data) != before, "the update changes nothing"
    conforms, broken, text = validate(data)
    assert not conforms
    assert broken & closure(URIRef(OURS + shape)), text


def test_every_shape_has_a_case_that_breaks_it() -> None:
    named = {str(one).removeprefix(OURS) for one in SHAPES.subjects() if str(one).startswith(OURS)}
    assert named == {shape for shape, _, _ in CASES}
