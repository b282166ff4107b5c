"""Profile ``trustgraph``: runs that no golden trace shows, what ``repaired`` adds, and laws for any facts at all."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EdgesSelected,
    EvidenceRetrieved,
    Fact,
    Mechanism,
    QuestionPlanned,
    RunFailed,
    SelectedEdge,
    ToolChosen,
    ToolObserved,
)
from clew_schema.rdf import Triple, iri
from clew_translators import namespaces as ns
from clew_translators import uris
from clew_translators.explain.told import Told
from clew_translators.explain.trustgraph import trustgraph_batches
from clew_translators.quads import from_nquads, to_nquads
from tests.translators import courses
from tests.translators import runs as ours
from tests.translators import trustgraph_runs as runs
from tests.translators.strategies import values

FACTS = st.lists(values(Fact), max_size=6)
MECHANISMS: tuple[Mechanism, ...] = ("agent", "document-rag", "graph-rag")


def told(
    facts: Sequence[Fact],
    mechanism: Mechanism = "agent",
    *,
    trail: Sequence[Fact] = (),
    repaired: bool = False,
    session_id: str = runs.SESSION,
) -> tuple[Told, ...]:
    return trustgraph_batches(
        facts,
        session_id=session_id,
        collection="demo",
        mechanism=mechanism,
        trail=trail,
        repaired=repaired,
    )


def quads(batches: Sequence[Told]) -> set[Triple]:
    return {triple for batch in batches for triple in batch.batch().triples}


def ids(batches: Sequence[Told]) -> list[str]:
    return [batch.metadata.id for batch in batches]


def lines(batch: Told) -> list[str]:
    """Predicate and object of each statement, prefixed, with the run's name left out; the subject where it changes."""
    out: list[str] = []
    text = to_nquads(batch.batch().triples)
    for prefix, name in (
        (ns.PROV, "prov:"),
        (ns.TG, "tg:"),
        (ns.RDFS, "rdfs:"),
        (ns.RDF, "rdf:"),
    ):
        text = text.replace(f"<{prefix}", f"<{name}")
    for line in text.splitlines():
        subject, predicate, rest = line.split(" ", 2)
        said = f"{predicate[1:-1]} {rest.removesuffix(' <urn:graph:retrieval> .')}"
        assert subject.startswith(f"<{batch.metadata.id}"), subject
        out.append(said.replace(runs.AGENT, "…").replace(runs.DOCRAG, "…"))
    return out


# --- plans and supervisors (reference 3.2, 3.3) ---------------------------------------------------


def test_a_plan_is_carried_out() -> None:
    batches = told(runs.PLAN_RUN)
    assert ids(batches) == [
        f"{runs.AGENT}{step}"
        for step in ("/pattern-decision", "", "/plan", "/step/0", "/step/1", "/synthesis")
    ]
    assert [lines(batch) for batch in batches[2:]] == [
        [
            "rdf:type <prov:Entity>",
            "rdf:type <tg:Plan>",
            'rdfs:label "Plan with 2 steps"',
            "prov:wasDerivedFrom <…/pattern-decision>",
            'tg:planStep "look it up"',
            'tg:planStep "sum it up"',
        ],
        [
            "rdf:type <prov:Entity>",
            "rdf:type <tg:StepResult>",
            "rdf:type <tg:Answer>",
            'rdfs:label "Step result: look it up"',
            "prov:wasDerivedFrom <…/plan>",
            'tg:planStep "look it up"',
            "tg:document <…/step/0/doc>",
        ],
        [
            "rdf:type <prov:Entity>",
            "rdf:type <tg:StepResult>",
            "rdf:type <tg:Answer>",
            'rdfs:label "Step result: sum it up"',
            "prov:wasDerivedFrom <…/plan>",
            'tg:planStep "sum it up"',
            "tg:document <…/step/1/doc>",
        ],
        [
            "rdf:type <prov:Entity>",
            "rdf:type <tg:Synthesis>",
            "rdf:type <tg:Answer>",
            'rdfs:label "Synthesis"',
            "prov:wasDerivedFrom <…/step/1>",
            "tg:document <…/synthesis/doc>",
            'tg:terminationReason "plan-complete"',
        ],
    ]


def test_other_agents_are_asked() -> None:
    batches = told(runs.SUPERVISOR_RUN)
    assert ids(batches) == [
        f"{runs.AGENT}{step}" for step in ("", "/decompose", "/finding/0", "/finding/1", "/synthesis")
    ]
    assert lines(batches[1]) == [
        "rdf:type <prov:Entity>",
        "rdf:type <tg:Decomposition>",
        'rdfs:label "Decomposed into 2 research threads"',
        "prov:wasDerivedFrom <…>",
        f'tg:subagentGoal "{"g" * 70}"',
        'tg:subagentGoal "h"',
    ]
    assert lines(batches[2])[3:] == [
        f'rdfs:label "Finding: {"g" * 60}"',
        "prov:wasDerivedFrom <urn:trustgraph:agent:SUB1/final>",
        f'tg:subagentGoal "{"g" * 70}"',
        "tg:document <…/finding/0/doc>",
    ]
    assert "prov:wasDerivedFrom <…/decompose>" in lines(batches[3])
    assert lines(batches[4])[3:] == [
        'rdfs:label "Synthesis"',
        "prov:wasDerivedFrom <…/finding/0>",
        "prov:wasDerivedFrom <…/finding/1>",
        "tg:document <…/synthesis/doc>",
        'tg:terminationReason "subagents-complete"',
    ]


def test_a_plan_of_which_nothing_was_done_ends_in_itself() -> None:
    *_, last = told((*runs.PLAN_RUN[:3], runs.PLAN_RUN[-1]))
    assert "prov:wasDerivedFrom <…/plan>" in lines(last)


# --- agents ---------------------------------------------------------------------------------------

CHOSEN = ToolChosen(number=1, thought="", action="a", arguments={"q": "é"})


def test_an_answer_at_once_derives_from_the_question_or_the_pattern() -> None:
    concluded = Concluded(answer="42", after=0)
    assert "prov:wasDerivedFrom <…>" in lines(told([runs.AGENT_ASKED, concluded])[-1])
    named = told([runs.AGENT_ASKED, runs.REACT, concluded])
    assert "prov:wasDerivedFrom <…/pattern-decision>" in lines(named[-1])


def test_what_nobody_thought_and_nothing_measured_is_not_told() -> None:
    (batch,) = told([CHOSEN], trail=[runs.AGENT_ASKED], repaired=True)
    assert lines(batch) == [
        "rdf:type <prov:Entity>",
        "rdf:type <tg:Analysis>",
        "rdf:type <tg:ToolUse>",
        'rdfs:label "Analysis: a"',
        'tg:action "a"',
        'tg:arguments "{\\"q\\": \\"\\\\u00e9\\"}"',
        'tg:stepNumber "1"',
        "prov:wasDerivedFrom <…>",
    ]


def test_a_step_that_ended_before_it_began_has_no_duration() -> None:
    backwards = ToolObserved(
        number=1, observation="x", started_at="2026-01-01T00:00:01Z", ended_at="2026-01-01T00:00:00Z"
    )
    (batch,) = told([backwards], trail=[runs.AGENT_ASKED, CHOSEN])
    assert not any("toolDurationMs" in line for line in lines(batch))


@pytest.mark.parametrize(
    ("observed", "error"),
    [
        (ToolObserved(number=1, observation="Error: boom", failed=True), "boom"),
        (ToolObserved(number=1, observation="it broke", failed=True, error="boom"), "boom"),
        (ToolObserved(number=1, observation="it broke", failed=True), "it broke"),
    ],
)
def test_a_tool_that_failed(observed: ToolObserved, error: str) -> None:
    (batch,) = told([observed], trail=[runs.AGENT_ASKED, CHOSEN])
    assert lines(batch) == [
        "rdf:type <prov:Entity>",
        "rdf:type <tg:Observation>",
        'rdfs:label "Observation"',
        "prov:wasDerivedFrom <…/i1>",
        "tg:document <…/i1/observation>",
        f'tg:toolError "{error}"',
        "rdf:type <tg:Error>",
    ]


def test_an_observation_derives_from_the_end_of_its_tools_trace() -> None:
    end = "urn:trustgraph:prov:synthesis:T"
    observed = ToolObserved(number=1, observation="x", trace_uri="urn:trustgraph:question:T", trace_end=end)
    (batch,) = told([observed], trail=[runs.AGENT_ASKED, CHOSEN])
    assert [line for line in lines(batch) if "Derived" in line] == [f"prov:wasDerivedFrom <{end}>"]


def test_a_thought_travels_alone_when_repaired_and_nothing_else_changes() -> None:
    plain, repaired = told(runs.REACT_RUN), told(runs.REACT_RUN, repaired=True)
    assert quads(plain) == quads(repaired)
    steps = ("", "/i1", "/i1/thought", "/i1/observation", "/i2", "/i2/thought", "/i2/observation", "/final")
    assert ids(repaired) == [f"{runs.AGENT}{step}" for step in steps]
    assert lines(repaired[2]) == [
        "rdf:type <tg:Reflection>",
        "rdf:type <tg:Thought>",
        'rdfs:label "Thought"',
        "prov:wasDerivedFrom <…/i1>",
        "tg:document <…/i1/thought>",
    ]
    for batch in repaired:
        assert {triple.s for triple in batch.batch().triples} == {iri(batch.metadata.id)}


# --- ends -----------------------------------------------------------------------------------------

FAILURE = RunFailed(mechanism="agent", error_type="model-failed", message="no answer")


@pytest.mark.parametrize("reason", ["max-iterations", "error"])
def test_an_agent_that_found_no_end_has_one_when_repaired(reason: str) -> None:
    ending = Concluded.model_validate({"answer": "Too many agent iterations", "after": 2, "reason": reason})
    assert told([ending], trail=runs.REACT_RUN[:-1]) == ()
    (batch,) = told([ending], trail=runs.REACT_RUN[:-1], repaired=True)
    assert batch.metadata.id == f"{runs.AGENT}/final"
    assert lines(batch)[3:] == [
        'rdfs:label "Conclusion"',
        "prov:wasDerivedFrom <…/i2/observation>",
        "tg:document <…/answer>",
        f'tg:terminationReason "{reason}"',
    ]


@pytest.mark.parametrize(
    ("mechanism", "trail", "class_", "source"),
    [
        ("agent", (), ns.TG_CONCLUSION, runs.AGENT),
        ("agent", runs.REACT_RUN[:2], ns.TG_CONCLUSION, f"{runs.AGENT}/i1"),
        ("agent", runs.PLAN_RUN[:4], ns.TG_CONCLUSION, f"{runs.AGENT}/step/0"),
        ("agent", runs.SUPERVISOR_RUN[:3], ns.TG_CONCLUSION, f"{runs.AGENT}/finding/0"),
        ("document-rag", runs.DOCRAG_RUN[:2], ns.TG_SYNTHESIS, f"{runs.DOCRAG}/grounding"),
        ("document-rag", runs.DOCRAG_RUN[:3], ns.TG_SYNTHESIS, f"{runs.DOCRAG}/focus"),
        ("graph-rag", runs.GRAPH_RUN[:3], ns.TG_SYNTHESIS, uris.exploration_uri(runs.SESSION)),
    ],
)
def test_a_failure_has_a_node_when_repaired(
    mechanism: Mechanism, trail: Sequence[Fact], class_: str, source: str
) -> None:
    assert told([FAILURE], mechanism, trail=trail) == ()
    (batch,) = told([FAILURE], mechanism, trail=trail, repaired=True)
    said = {
        (triple.p.iri, triple.o.iri or triple.o.value) for triple in quads([batch]) if triple.p and triple.o
    }
    assert (ns.RDF_TYPE, class_) in said
    assert (ns.PROV_WAS_DERIVED_FROM, source) in said
    assert (ns.TG_TERMINATION_REASON, "error") in said
    assert ns.TG_DOCUMENT not in {predicate for predicate, _ in said}


def test_a_run_that_was_repaired_after_a_failure_has_both_ends() -> None:
    failed = told([FAILURE], trail=runs.REACT_RUN[:-1], repaired=True)
    done = told(runs.REACT_RUN[-1:], trail=runs.REACT_RUN[:-1], repaired=True)
    assert ids(failed) != ids(done)


# --- documents ------------------------------------------------------------------------------------


def derivations(batches: Sequence[Told]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for batch in batches:
        for triple in batch.batch().triples:
            if triple.p == iri(ns.PROV_WAS_DERIVED_FROM) and triple.s and triple.o:
                found.setdefault(triple.s.iri, []).append(triple.o.iri)
    return found


def test_an_answer_from_reranked_chunks_also_derives_from_the_exploration_when_repaired() -> None:
    plain, repaired = (told(runs.DOCRAG_RUN, "document-rag", repaired=each) for each in (False, True))
    (added,) = quads(repaired) - quads(plain)
    assert quads(plain) < quads(repaired)
    assert added == Triple(
        s=iri(f"{runs.DOCRAG}/synthesis"),
        p=iri(ns.PROV_WAS_DERIVED_FROM),
        o=iri(f"{runs.DOCRAG}/exploration"),
        g=ns.GRAPH_RETRIEVAL,
    )
    assert ids(plain) == ids(repaired)
    graph = (told(runs.GRAPH_RUN, "graph-rag", repaired=each) for each in (False, True))
    assert len({frozenset(quads(each)) for each in graph}) == 1


def test_a_plan_is_what_a_question_is_about() -> None:
    split = QuestionPlanned(complexity="complex", parts=("a?", "b?"), resolved_by="x")
    whole = QuestionPlanned(complexity="simple", resolved_by="x")
    for planned, concepts in ((split, ["a?", "b?"]), (whole, [runs.DOCRAG_ASKED.query])):
        (batch,) = told([planned], "document-rag", trail=[runs.DOCRAG_ASKED])
        assert batch.metadata.id == f"{runs.DOCRAG}/grounding"
        assert [line for line in lines(batch) if "concept" in line] == [
            f'tg:concept "{each}"' for each in concepts
        ]


def test_the_question_is_the_concept_where_nobody_looked_for_any() -> None:
    steps = (runs.DOCRAG_RUN[0], runs.DOCRAG_RUN[2], runs.DOCRAG_RUN[3])
    batches = told(steps, "document-rag")
    assert ids(batches) == ids(told(runs.DOCRAG_RUN, "document-rag"))
    assert lines(batches[1])[2:] == [
        'rdfs:label "Grounding"',
        "prov:wasDerivedFrom <…>",
        f'tg:concept "{runs.DOCRAG_ASKED.query}"',
    ]


def test_passes_and_parts_are_explorations_and_the_answer_derives_from_each() -> None:
    again = runs.RERANKING.model_copy(update={"pass_number": 2})
    part = runs.DOCRAG_RUN_AS_RECALLED[2].model_copy(update={"part": 1})
    facts = (*runs.DOCRAG_RUN[:3], again, part, runs.ANSWERED)
    batches = told(facts, "document-rag")
    chain = derivations(batches)
    explorations = [
        f"{runs.DOCRAG}{each}" for each in ("/exploration", "/exploration/2", "/part/1/exploration")
    ]
    assert [chain[each] for each in explorations] == [[f"{runs.DOCRAG}/grounding"]] * 3
    assert chain[f"{runs.DOCRAG}/synthesis"] == [
        f"{runs.DOCRAG}/focus",
        f"{runs.DOCRAG}/focus/2",
        explorations[2],
    ]
    chosen = {triple.s for triple in quads(batches) if triple.o == iri(ns.TG_CHUNK_SELECTION)}
    assert len(chosen) == 4
    repaired = derivations(told(facts, "document-rag", repaired=True))
    assert repaired[f"{runs.DOCRAG}/synthesis"][3:] == explorations[:2]


def test_an_edge_that_rdf_cannot_hold_is_left_out_and_the_others_keep_their_numbers() -> None:
    broken = Triple(s=iri("no iri"), p=iri("urn:p"), o=iri("urn:o"))
    chosen = EdgesSelected(edges=(SelectedEdge(edge=broken), SelectedEdge(edge=runs.EDGE)))
    (batch,) = told([chosen], "graph-rag", trail=runs.GRAPH_RUN[:3])
    selections = {
        triple.o.iri for triple in quads([batch]) if triple.p == iri(ns.TG_SELECTED_EDGE) and triple.o
    }
    assert selections == {uris.edge_selection_uri(runs.SESSION, 1)}


# --- laws -----------------------------------------------------------------------------------------

RUNS: dict[str, tuple[Mechanism, tuple[tuple[Fact, ...], ...]]] = {
    "react": ("agent", tuple((fact,) for fact in runs.REACT_RUN_NAMED)),
    "plan": ("agent", tuple((fact,) for fact in runs.PLAN_RUN)),
    "supervisor": ("agent", tuple((fact,) for fact in runs.SUPERVISOR_RUN)),
    "documents": ("document-rag", tuple((fact,) for fact in runs.DOCRAG_RUN)),
    "graph": ("graph-rag", tuple((fact,) for fact in runs.GRAPH_RUN)),
    "rewritten": ("document-rag", courses.REWRITTEN_STEPS),
    "resumed": ("document-rag", courses.RESUMED_STEPS),
    "cancelled": ("document-rag", courses.CANCELLED_STEPS),
    "failed while resumed": ("document-rag", (*courses.RESUMED_STEPS[:4], (courses.FAILED_RESUME,))),
    "ours": ("agent", ours.AGENT_STEPS),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("repaired", [False, True])
def test_every_entity_leads_back_to_the_question(name: str, repaired: bool) -> None:
    mechanism, steps = RUNS[name]
    batches = told([fact for step in steps for fact in step], mechanism, repaired=repaired)
    question = uris.question_of(mechanism, runs.SESSION)
    chain = derivations(batches)
    inside = set(ids(batches))
    reached = {question}
    while more := {name for name, sources in chain.items() if reached & set(sources)} - reached:
        reached |= more
    outside = {
        name for name, sources in chain.items() if not inside & set(sources)
    }  # another run goes on there
    assert inside - reached <= outside
    assert all(uris.run_of(source) for name in outside for source in chain[name])


@given(facts=FACTS, cut=st.integers(0, 6), mechanism=st.sampled_from(MECHANISMS), repaired=st.booleans())
@example(facts=list(runs.REACT_RUN_NAMED), cut=1, mechanism="agent", repaired=False)
@example(facts=list(runs.DOCRAG_RUN), cut=3, mechanism="document-rag", repaired=True)
@example(facts=list(runs.GRAPH_RUN), cut=4, mechanism="graph-rag", repaired=True)
def test_in_steps_or_at_once_a_run_has_the_same_quads(
    facts: list[Fact], cut: int, mechanism: Mechanism, repaired: bool
) -> None:
    steps = (
        *told(facts[:cut], mechanism, repaired=repaired),
        *told(facts[cut:], mechanism, trail=facts[:cut], repaired=repaired),
    )
    assert quads(steps) == quads(told(facts, mechanism, repaired=repaired))


@given(facts=FACTS, trail=FACTS, mechanism=st.sampled_from(MECHANISMS), session=st.text(max_size=6))
def test_any_facts_make_batches_that_rdf_can_hold(
    facts: list[Fact], trail: list[Fact], mechanism: Mechanism, session: str
) -> None:
    for repaired in (False, True):
        for batch in told(facts, mechanism, trail=trail, repaired=repaired, session_id=session):
            triples = batch.batch().triples
            assert batch.metadata.root == ""
            assert batch.metadata.id in {triple.s.iri for triple in triples if triple.s}
            assert {triple.g for triple in triples} == {ns.GRAPH_RETRIEVAL}
            assert len(from_nquads(to_nquads(triples))) == len(set(triples)) == len(triples)


def test_what_trustgraph_has_no_term_for_tells_nothing() -> None:
    silent: list[Fact] = [
        courses.REWRITE,
        courses.REWRITTEN,
        courses.JOINED,
        courses.SPENT,
        courses.PAUSED,
        courses.RESUMED,
        courses.CANCELLED,
    ]
    assert told(silent, "document-rag", trail=[ours.ASKED], repaired=True) == ()


def test_an_answer_without_evidence_derives_from_what_was_before() -> None:
    answer = AnswerWritten(outcome="cancelled", text="")
    for trail, source in (((ours.ASKED,), "<…>"), ((ours.ASKED, courses.PLANNED), "<…/grounding>")):
        (batch,) = told([answer], "document-rag", trail=trail)
        assert lines(batch)[3:] == ['rdfs:label "Synthesis"', f"prov:wasDerivedFrom {source}"]


def test_nothing_found_is_an_exploration_of_nothing() -> None:
    (batch,) = told([EvidenceRetrieved(query="q")], "document-rag", trail=runs.DOCRAG_RUN[:2])
    assert lines(batch)[3:] == ["prov:wasDerivedFrom <…/grounding>", 'tg:chunkCount "0"']
