"""Profile ``trustgraph`` against what TrustGraph published: golden traces, captures of 2.11.1, and its own report."""

import json
from collections.abc import Iterator, Sequence

import pytest
from rdflib import Dataset

from clew_schema.evidence import Evidence, Rejected
from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EvidenceRetrieved,
    Fact,
    Mechanism,
    QuestionAsked,
    QuestionGrounded,
    ToolChosen,
    ToolObserved,
)
from clew_schema.rdf import Triple, Triples
from clew_translators import bus
from clew_translators.explain.trustgraph import trustgraph_batches
from clew_translators.quads import from_nquads, to_nquads
from tests.translators import trustgraph_runs as runs
from tests.translators.reference import DATA, captured

GOLDEN: dict[str, tuple[Sequence[Fact], Mechanism]] = {
    "agent_react_nosid": (runs.REACT_RUN, "agent"),
    "docrag_rerank": (runs.DOCRAG_RUN, "document-rag"),
    "graphrag": (runs.GRAPH_RUN, "graph-rag"),
}


def told(
    facts: Sequence[Fact],
    mechanism: Mechanism,
    session_id: str = runs.SESSION,
    collection: str = "demo",
    *,
    repaired: bool = False,
) -> list[Triples]:
    batches = trustgraph_batches(
        facts, session_id=session_id, collection=collection, mechanism=mechanism, repaired=repaired
    )
    return [each.batch() for each in batches]


def quads(batches: Sequence[Triples]) -> set[Triple]:
    return {triple for batch in batches for triple in batch.triples}


def published(name: str) -> Iterator[Triples]:
    text = (DATA / "golden" / f"{name}.messages.jsonl").read_text(encoding="utf-8")
    for row in map(json.loads, filter(str.strip, text.splitlines())):
        if row["topic"] == "explainability":
            yield bus.decode(Triples, json.dumps(row["payload"]).encode())


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_trace_has_the_same_quads(name: str) -> None:
    expected = from_nquads((DATA / "golden" / f"{name}.nq").read_text(encoding="utf-8"))
    assert quads(told(*GOLDEN[name])) == set(expected)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_trace_has_the_same_batches_in_the_same_order(name: str) -> None:
    assert told(*GOLDEN[name]) == list(published(name))


# --- what a report prints -------------------------------------------------------------------------


def test_a_client_that_named_its_session_is_told_the_pattern_first() -> None:
    """71 quads; the decision stands before the question, and the first iteration derives from it."""
    named = told(runs.REACT_RUN_NAMED, "agent")
    printed, ours = Dataset(), Dataset()
    text = (DATA / "agent_react_sid.trig").read_text(encoding="utf-8")
    printed.parse(data=text.replace("agent:S", f"agent:{runs.SESSION}"), format="trig")
    ours.parse(data=to_nquads(quads(named)), format="nquads")
    assert len(quads(named)) == 71
    assert set(ours.quads()) == set(printed.quads())
    decision = f"{runs.AGENT}/pattern-decision"
    assert [batch.metadata.id for batch in named if batch.metadata][:3] == [
        decision,
        runs.AGENT,
        f"{runs.AGENT}/i1",
    ]


def test_documents_as_they_were_recalled() -> None:
    """Reference 3.6: 32 quads without a reranker, no focus, and the synthesis derives from the exploration."""
    recalled, reranked = (
        told(runs.DOCRAG_RUN_AS_RECALLED, "document-rag"),
        told(runs.DOCRAG_RUN, "document-rag"),
    )
    assert (len(quads(recalled)), len(quads(reranked))) == (32, 44)
    steps = ["", "/grounding", "/exploration", "/synthesis"]
    assert [batch.metadata.id for batch in recalled if batch.metadata] == [
        runs.DOCRAG + step for step in steps
    ]
    moved = f"<{runs.DOCRAG}/synthesis> <http://www.w3.org/ns/prov#wasDerivedFrom> <{runs.DOCRAG}/{{}}>"
    moved += " <urn:graph:retrieval> ."
    focus, exploration = (from_nquads(moved.format(step))[0] for step in ("focus", "exploration"))
    assert exploration in quads(recalled)
    assert quads(recalled) - {exploration} == {
        quad
        for quad in quads(reranked) - {focus}
        if quad.s and not quad.s.iri.startswith((f"{runs.DOCRAG}/focus", "urn:trustgraph:prov:chunk:"))
    }


# --- captures -------------------------------------------------------------------------------------


def captured_batches(queue_of: str) -> list[Triples]:
    batches = [bus.decode(Triples, seen.payload) for seen in captured() if seen.body is Triples]
    return [batch for batch in batches if batch.metadata and queue_of in batch.metadata.id]


def test_a_captured_agent_run() -> None:
    session = "305d8f05-69d4-4a47-90f7-795445a9df26"
    question = "What reduction does the gearbox use (step 1)?"
    facts = (
        QuestionAsked(
            mechanism="agent",
            query="[steps=1] [llm] What reduction does the gearbox use?",
            started_at="2026-11-30T17:51:52.494820Z",
        ),
        ToolChosen(
            number=1,
            thought="Step 1, I should consult the LLM text completion tool.",
            action="LLM text completion",
            arguments={"question": question},
            candidates=runs.TOOLS,
            in_token=1041,
            out_token=40,
            model="fake-llm",
            started_at="2026-11-30T17:51:52.500000Z",
            ended_at="2026-11-30T17:51:52.563999Z",
        ),
        ToolObserved(
            number=1,
            observation="OK: What reduction does the gearbox use (step 1)?",
            started_at="2026-11-30T17:51:52.600000Z",
            ended_at="2026-11-30T17:51:52.661000Z",
        ),
        Concluded(answer="The gearbox uses a two-stage helical reduction.", after=1),
    )
    batches = captured_batches(session)
    assert len(batches) == 4
    assert told(facts, "agent", session, "default") == batches


def test_a_captured_question_to_documents() -> None:
    session = "147d7b06-0e3c-4c3d-837d-1c8b20d0eee3"
    recalled = ("p39/c2", "p7/c1", "p7/c3", "p8/c2", "p11/c1", "p15/c1", "p19/c1", "p27/c1")
    kept = ("p7/c1", "p11/c1", "p15/c1", "p19/c1", "p27/c1")
    scores = {name: 1 / (60 + rank) for rank, name in enumerate(recalled)}
    facts = (
        QuestionAsked(
            mechanism="document-rag",
            query="What reduction does the gearbox assembly use?",
            started_at="2026-11-30T17:51:31.871532Z",
        ),
        QuestionGrounded(
            concepts=("reduction", "gearbox", "assembly"), in_token=102, out_token=6, model="fake-llm"
        ),
        EvidenceRetrieved(
            query="What reduction does the gearbox assembly use?",
            evidence=tuple(
                Evidence(
                    chunk_id=f"urn:document:manual-001/{name}",
                    fused_score=scores[name],
                    rerank_score=0.363137,
                )
                for name in kept
            ),
            rejected=tuple(
                Rejected(
                    chunk_id=f"urn:document:manual-001/{name}",
                    reason="beyond-limit",
                    fused_score=scores[name],
                )
                for name in recalled
                if name not in kept
            ),
            retrieval=runs.RERANKED,
        ),
        AnswerWritten(outcome="answer", text="…", in_token=1014, out_token=40, model="fake-llm"),
    )
    batches = captured_batches(session)
    assert len(batches) == 5
    assert told(facts, "document-rag", session, "default") == batches
