"""Profile ``spec`` against runs that were written from the seed's page by hand, entity by entity (tests/data/spec)."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import Graph
from rdflib.compare import graph_diff, isomorphic, to_isomorphic

from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    Fact,
    Mechanism,
    QuestionAsked,
    SelectedEdge,
    ToolChosen,
)
from clew_schema.rdf import Triple, iri, literal
from clew_translators import namespaces as ns
from clew_translators.explain import explain, question_uri
from clew_translators.shapes import shaped_graph
from clew_translators.uris import run_of
from tests.translators import courses, runs
from tests.translators.spec_runs import RUNS, Steps

PAGES = Path(__file__).parents[1] / "data" / "spec"
RUNNING: dict[str, tuple[Mechanism, str, Steps]] = RUNS | {
    "documents": ("document-rag", runs.SESSION, runs.DOCUMENT_STEPS),
    "an agent": ("agent", runs.AGENT_SESSION, runs.AGENT_STEPS),
    "rewritten": ("document-rag", runs.SESSION, courses.REWRITTEN_STEPS),
    "resumed": ("document-rag", runs.SESSION, courses.RESUMED_STEPS),
    "cancelled": ("document-rag", runs.SESSION, courses.CANCELLED_STEPS),
    "failed": ("document-rag", runs.SESSION, (runs.DOCUMENT_STEPS[0], (runs.FAILED,))),
}


def told(
    facts: Sequence[Fact], mechanism: Mechanism, session: str, trail: Sequence[Fact] = ()
) -> list[Triple]:
    """What the batch of a step says in the retrieval graph."""
    batch = explain(facts, session_id=session, collection="c", mechanism=mechanism, trail=trail)
    return [quad for quad in batch.triples if quad.g == ns.GRAPH_RETRIEVAL] if batch else []


def batches(mechanism: Mechanism, session: str, steps: Steps) -> list[list[Triple]]:
    """The batches of a run, step by step."""
    trail: tuple[Fact, ...] = ()
    found = []
    for facts in steps:
        found.append(told(facts, mechanism, session, trail))
        trail += facts
    return found


def page(name: str) -> Graph:
    return Graph().parse(PAGES / f"{name}.ttl")


def test_every_page_has_a_run() -> None:
    assert {path.stem for path in PAGES.glob("*.ttl")} == set(RUNS)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_told_as_the_page_tells_it(name: str) -> None:
    mechanism, session, steps = RUNS[name]
    whole = shaped_graph(quad for batch in batches(mechanism, session, steps) for quad in batch)
    expected = page(name)
    _, missing, surplus = graph_diff(to_isomorphic(expected), to_isomorphic(whole))
    assert isomorphic(whole, expected), f"missing:\n{missing.serialize()}\nsurplus:\n{surplus.serialize()}"


@pytest.mark.parametrize("name", RUNNING)
def test_batches_told_while_a_run_goes_on_are_together_the_run_told_at_once(name: str) -> None:
    mechanism, session, steps = RUNNING[name]
    streamed = [quad.model_dump_json() for batch in batches(mechanism, session, steps) for quad in batch]
    whole = told([fact for facts in steps for fact in facts], mechanism, session)
    assert sorted(streamed) == sorted(quad.model_dump_json() for quad in whole)
    assert len(set(streamed)) == len(streamed), "a quad is told twice"


@pytest.mark.parametrize("name", RUNNING)
def test_a_batch_points_to_nothing_of_its_run_that_is_not_told_by_then(name: str) -> None:
    mechanism, session, steps = RUNNING[name]
    known: set[str] = set()
    pointed = 0
    for batch in batches(mechanism, session, steps):
        known |= {quad.s.iri for quad in batch if quad.s}
        targets = {
            quad.o.iri
            for quad in batch
            if quad.o and run_of(quad.o.iri) == (mechanism, session) and quad.p and quad.p.iri != ns.RDF_TYPE
        }
        assert targets <= known
        pointed += len(targets)
    # A failure has no term, so that run has told its question and what it retrieved.
    assert pointed >= 1


@pytest.mark.parametrize("name", [name for name in RUNNING if name != "failed"])
def test_an_end_leads_back_to_its_question(name: str) -> None:
    mechanism, session, steps = RUNNING[name]
    question = question_uri(session, mechanism)
    sources: dict[str, set[str]] = {}
    for quad in (quad for batch in batches(mechanism, session, steps) for quad in batch):
        if (
            quad.s
            and quad.p
            and quad.o
            and quad.p.iri in {ns.PROV_WAS_DERIVED_FROM, ns.PROV_WAS_GENERATED_BY}
        ):
            sources.setdefault(quad.s.iri, set()).add(quad.o.iri)
    assert question not in sources
    for entity in sources:
        reached, edge_ = {entity}, {entity}
        while edge_:
            edge_ = set().union(*(sources.get(one, set()) for one in edge_)) - reached
            reached |= edge_
        assert question in reached, entity


def test_uses_that_no_earlier_step_has_are_not_told_of() -> None:
    trail = (
        QuestionAsked(mechanism="agent", query="q"),
        ToolChosen(number=1, thought="", action="a"),
        ToolChosen(number=2, thought="", action="a"),
    )
    found = told([ToolChosen(number=3, thought="", action="a", uses=(-1, 0, 1, 3, 9))], "agent", "s", trail)
    assert derived(found) == {"urn:trustgraph:agent:s/i1", "urn:trustgraph:agent:s/i2"}


@pytest.mark.parametrize(
    "last", [ToolChosen(number=4, thought="", action="a"), Concluded(answer="", after=3)]
)
def test_a_history_that_a_caller_handed_over_has_no_trace_to_derive_from(last: Fact) -> None:
    asked = QuestionAsked(mechanism="agent", query="q")
    assert derived(told([last], "agent", "s", (asked,))) == {"urn:trustgraph:agent:s"}
    second = ToolChosen(number=2, thought="", action="a")
    assert derived(told([last], "agent", "s", (asked, second))) == {"urn:trustgraph:agent:s/i2"}


@given(st.lists(st.lists(st.integers(-1, 9), max_size=4), min_size=1, max_size=8), st.booleans())
def test_whatever_a_step_says_it_uses_each_derives_from_earlier_steps_alone(
    used: list[list[int]], is_over: bool
) -> None:
    steps: list[tuple[Fact, ...]] = [
        (ToolChosen(number=number, thought="", action="a", uses=tuple(before)),)
        for number, before in enumerate(used, 1)
    ]
    if is_over:
        steps[-1] = (Concluded(answer="", after=len(used) - 1, uses=tuple(used[-1])),)
    asked = QuestionAsked(mechanism="agent", query="q")
    told_ = batches("agent", "s", ((asked,), *steps))[1:]
    for number, (before, quads) in enumerate(zip(used, told_, strict=True), 1):
        names = {f"urn:trustgraph:agent:s/i{n}" for n in {*before, number - 1} if 0 < n < number}
        assert derived(quads) == (names or {"urn:trustgraph:agent:s"})


def derived(quads: Sequence[Triple]) -> set[str]:
    return {quad.o.iri for quad in quads if quad.o and quad.p and quad.p.iri == ns.PROV_WAS_DERIVED_FROM}


def test_a_question_that_asked_is_an_activity_and_informs() -> None:
    parent = "urn:trustgraph:agent:above"
    found = told([QuestionAsked(mechanism="agent", query="q", parent_uri=parent)], "agent", "s")
    links = {(quad.p.iri, quad.o.iri) for quad in found if quad.p and quad.o}
    assert (ns.PROV_WAS_INFORMED_BY, parent) in links
    assert ns.PROV_WAS_STARTED_BY not in {predicate for predicate, _ in links}


def test_a_parent_that_is_no_iri_is_not_told() -> None:
    found = told([QuestionAsked(mechanism="agent", query="q", parent_uri="nobody")], "agent", "s")
    assert {quad.p.iri for quad in found if quad.p} == {ns.RDF_TYPE, ns.TG_QUERY}


def test_a_selected_edge_that_no_store_would_take_costs_its_batch_nothing() -> None:
    selected = EdgesSelected(
        edges=(SelectedEdge(edge=Triple(s=iri("no iri"), p=iri("p"), o=literal("x")), reasoning="because"),)
    )
    found = told([selected], "graph-rag", "s", (EdgesRetrieved(edge_count=1),))
    focus = "urn:trustgraph:question:s/focus"
    assert {(quad.s.iri, quad.p.iri) for quad in found if quad.s and quad.p} == {
        (focus, ns.RDF_TYPE),
        (focus, ns.PROV_WAS_DERIVED_FROM),
        (focus, ns.TG_SELECTED_EDGE),
        (f"{focus}/edge/1", ns.TG_REASONING),
    }


def test_edges_without_a_selection_are_what_a_graph_answer_rests_on() -> None:
    trail = (QuestionAsked(mechanism="graph-rag", query="q"), EdgesRetrieved(edge_count=1))
    found = told([AnswerWritten(outcome="answer", text="t")], "graph-rag", "s", trail)
    assert derived(found) == {"urn:trustgraph:question:s/exploration"}
