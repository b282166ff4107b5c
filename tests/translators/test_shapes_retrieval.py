"""The shapes of the profiles ``spec`` and ``trustgraph``: all that is told conforms, and each shape can be broken."""

from typing import Any

import pyshacl
import pytest
from rdflib import RDF, SH, BNode, Graph, URIRef

from clew_schema.facts import Fact, Mechanism, QuestionAsked, RunFailed
from clew_schema.rdf import Triple, iri, literal, quoted
from clew_translators.explain.trustgraph import trustgraph_batches
from clew_translators.namespaces import GRAPH_RETRIEVAL, PREFIXES
from clew_translators.quads import NotRdf, from_nquads
from clew_translators.shapes import ShapedProfile, shaped_graph, shapes_of
from tests.translators import shape_cases
from tests.translators.reference import DATA
from tests.translators.spec_runs import RUNS, Steps
from tests.translators.test_spec_pages import RUNNING, batches, page

TURTLE = "".join(f"@prefix {prefix}: <{name}> .\n" for prefix, name in PREFIXES.items())
SPARQL = "".join(f"PREFIX {prefix}: <{name}>\n" for prefix, name in PREFIXES.items())
SHAPES = {
    profile: Graph().parse(data=shapes_of(profile), format="turtle") for profile in ("spec", "trustgraph")
}
GOLDEN = ("agent_react_nosid", "docrag_rerank", "graphrag")


def validate(profile: str, data: Graph) -> tuple[bool, Graph, str]:
    conforms, results, text = pyshacl.validate(data, shacl_graph=SHAPES[profile])
    assert isinstance(results, Graph)
    return conforms, results, text


def told(profile: str, run: tuple[Mechanism, str, Steps], **how: Any) -> Graph:
    """A run as the retrieval graph has it."""
    mechanism, session, steps = run
    if profile == "spec":
        return shaped_graph(quad for batch in batches(mechanism, session, steps) for quad in batch)
    facts = [fact for step in steps for fact in step]
    made = trustgraph_batches(facts, session_id=session, collection="c", mechanism=mechanism, **how)
    return shaped_graph(quad for one in made for quad in one.batch().triples)


def golden(name: str) -> Graph:
    if name == "work":
        return Graph().parse(data=TURTLE + shape_cases.WORK, format="turtle")
    return shaped_graph(from_nquads((DATA / "golden" / f"{name}.nq").read_text(encoding="utf-8")))


@pytest.mark.parametrize("profile", SHAPES)
def test_shapes_are_shapes_of_the_core_language(profile: str) -> None:
    conforms, _, text = pyshacl.validate(Graph(), shacl_graph=SHAPES[profile], meta_shacl=True)
    assert conforms, text
    assert not list(SHAPES[profile].subject_objects(SH.sparql))


@pytest.mark.parametrize("name", RUNS)
def test_a_page_written_by_hand_conforms(name: str) -> None:
    conforms, _, text = validate("spec", page(name))
    assert conforms, text


@pytest.mark.parametrize("name", [*GOLDEN, "work"])
def test_a_trace_of_trustgraph_conforms(name: str) -> None:
    data = golden(name)
    assert len(data) > 30
    conforms, _, text = validate("trustgraph", data)
    assert conforms, text


@pytest.mark.parametrize("name", RUNNING)
def test_a_run_conforms_to_the_page_after_each_of_its_steps(name: str) -> None:
    mechanism, session, steps = RUNNING[name]
    for so_far in range(1, len(steps) + 1):
        conforms, _, text = validate("spec", told("spec", (mechanism, session, steps[:so_far])))
        assert conforms, text


@pytest.mark.parametrize("name", RUNNING)
@pytest.mark.parametrize("repaired", [False, True])
def test_a_run_told_as_trustgraph_tells_it_conforms(name: str, repaired: bool) -> None:
    conforms, _, text = validate("trustgraph", told("trustgraph", RUNNING[name], repaired=repaired))
    assert conforms, text


def test_a_run_that_nobody_could_read_conforms() -> None:
    failed: tuple[Fact, ...] = (RunFailed(mechanism="agent", error_type="unreadable", message="no JSON"),)
    assert len(told("spec", ("agent", "s", (failed,)))) == 0
    data = told("trustgraph", ("agent", "s", (failed,)), repaired=True)
    assert len(data) > 0
    conforms, _, text = validate("trustgraph", data)
    assert conforms, text


def test_a_session_that_is_no_uuid_conforms() -> None:
    asked: tuple[Fact, ...] = (QuestionAsked(mechanism="agent", query="", started_at="2026-03-01T09:00:00Z"),)
    conforms, _, text = validate("spec", told("spec", ("agent", "a/final> <x", (asked,))))
    assert conforms, text


CASES = [
    *(pytest.param("spec", *case, id=f"spec-{n}-{case[0]}") for n, case in enumerate(shape_cases.SPEC)),
    *(
        pytest.param("trustgraph", *case, id=f"trustgraph-{n}-{case[0]}")
        for n, case in enumerate(shape_cases.TRUSTGRAPH)
    ),
]


@pytest.mark.parametrize(("profile", "shape", "name", "update"), CASES)
def test_a_shape_can_be_broken(profile: str, shape: str, name: str, update: str) -> None:
    data = page(name) if profile == "spec" else golden(name)
    before = set(data)
    data.update(SPARQL + update)
    assert set(data) != before, "the update changes nothing"
    conforms, results, text = validate(profile, data)
    assert not conforms
    expected = URIRef(f"urn:clew:shapes:{profile}#{shape}")
    broken = set(results.objects(None, SH.sourceShape))
    within = {one: closure(SHAPES[profile], one) for one in (*broken, expected)}
    # A shape inside another one's alternatives is not named by a result: the one around it is.
    assert any(one in within[expected] or expected in within[one] for one in broken), text


def closure(shapes: Graph, start: Any) -> set[Any]:
    """The shapes that ``start`` is made of, itself included."""
    found, edge = {start}, {start}
    while edge:
        edge = {
            node for one in edge for node in shapes.objects(one) if isinstance(node, BNode | URIRef)
        } - found
        found |= edge
    return found


@pytest.mark.parametrize(
    ("profile", "cases"), [("spec", shape_cases.SPEC), ("trustgraph", shape_cases.TRUSTGRAPH)]
)
def test_every_shape_has_a_case_that_breaks_it(profile: str, cases: tuple[tuple[str, str, str], ...]) -> None:
    prefix = f"urn:clew:shapes:{profile}#"
    named = {
        str(one).removeprefix(prefix) for one in SHAPES[profile].subjects() if str(one).startswith(prefix)
    }
    assert named == {shape for shape, _, _ in cases}


def test_shapes_of_a_profile_that_has_none() -> None:
    unknown: Any = "ragtrace"
    with pytest.raises(ValueError, match=r"'ragtrace'.* spec, trustgraph, provenance"):
        shapes_of(unknown)


def test_a_quoted_triple_is_seen_as_three_statements_about_a_blank_node() -> None:
    inner = Triple(s=iri("urn:a"), p=iri("urn:b"), o=literal("c"))
    outer = Triple(s=iri("urn:d"), p=iri("urn:e"), o=quoted(inner))
    twice = Triple(s=iri("urn:f"), p=iri("urn:g"), o=quoted(outer), g=GRAPH_RETRIEVAL)
    graph = shaped_graph([twice])
    assert len(graph) == 7
    (node,) = graph.objects(URIRef("urn:f"), URIRef("urn:g"))
    assert graph.value(node, RDF.subject) == URIRef("urn:d")
    (deeper,) = graph.objects(node, RDF.object)
    assert str(graph.value(deeper, RDF.object)) == "c"
    with pytest.raises(NotRdf):
        shaped_graph([Triple(s=literal("x"), p=iri("urn:b"), o=literal("c"))])


PROFILES: tuple[ShapedProfile, ...] = ("spec", "trustgraph")


@pytest.mark.parametrize("profile", PROFILES)
def test_shapes_are_packaged_and_name_their_profile(profile: ShapedProfile) -> None:
    assert f"urn:clew:shapes:{profile}#" in shapes_of(profile)
