"""Runs of TrustGraph as our facts, written by hand from what its golden messages and captures show was put in."""

from typing import Any

from clew_schema.evidence import Evidence, Rejected, Rerank, Retrieval
from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    EvidenceRetrieved,
    Fact,
    FindingReceived,
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
from clew_schema.rdf import Triple, iri

SESSION = "00000000-0000-4000-8000-000000000001"
AGENT = f"urn:trustgraph:agent:{SESSION}"
DOCRAG = f"urn:trustgraph:docrag:{SESSION}"
START: dict[str, Any] = {"started_at": "2026-01-01T00:00:00Z"}
QUARTER: dict[str, Any] = {"started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T00:00:00.250000Z"}
TOOLS = ("Knowledge query", "LLM text completion")
RERANKED = Retrieval(rerank=Rerank(attempted=True, succeeded=True))
CONCEPTS = ("return policy", "refund")


def found(name: str, fused: float, rerank: float | None = None) -> Evidence:
    return Evidence(chunk_id=f"urn:chunk:{name}", fused_score=fused, rerank_score=rerank)


# --- an agent -------------------------------------------------------------------------------------

AGENT_ASKED = QuestionAsked(mechanism="agent", query="What is X?", **START)
REACT = PatternChosen(pattern="react", task_type="general")


def iteration(number: int, thought: str, action: str, question: str, observation: str) -> tuple[Fact, Fact]:
    usage: dict[str, Any] = {"in_token": 100, "out_token": 20, "model": "gemma3"}
    chosen = ToolChosen(
        number=number,
        thought=thought,
        action=action,
        arguments={"question": question},
        candidates=TOOLS,
        **usage,
        **QUARTER,
    )
    return chosen, ToolObserved(number=number, observation=observation, **QUARTER)


ITERATIONS: tuple[Fact, ...] = (
    *iteration(1, "I should look this up", TOOLS[0], "What is X?", "X is 42 according to the graph."),
    *iteration(2, "Cross-check with the LLM", TOOLS[1], "Is X real?", "It is 42."),
    Concluded(
        answer="X is 42.", after=2, thought="I have enough", in_token=100, out_token=20, model="gemma3"
    ),
)
REACT_RUN: tuple[Fact, ...] = (AGENT_ASKED, *ITERATIONS)
REACT_RUN_NAMED: tuple[Fact, ...] = (AGENT_ASKED, REACT, *ITERATIONS)
"""The same, of a client that named its session: only then TrustGraph tells how it was decided to work."""

PLAN_RUN: tuple[Fact, ...] = (
    AGENT_ASKED,
    PatternChosen(pattern="plan-then-execute", task_type="general"),
    PlanMade(steps=("look it up", "sum it up"), in_token=5, model="m"),
    PlanStepDone(number=1, goal="look it up", result="42", in_token=5, model="m"),
    PlanStepDone(number=2, goal="sum it up", result="It is 42.", in_token=5, model="m"),
    Concluded(answer="X is 42.", after=0, reason="plan-complete", in_token=5, model="m"),
)
SUPERVISOR_RUN: tuple[Fact, ...] = (
    AGENT_ASKED,
    QuestionDecomposed(goals=("g" * 70, "h"), in_token=5, model="m"),
    FindingReceived(number=1, goal="g" * 70, answer="a", trace_uri="urn:trustgraph:agent:SUB1"),
    FindingReceived(number=2, goal="h", answer="b"),
    Concluded(answer="X is 42.", after=0, reason="subagents-complete", in_token=5, model="m"),
)

# --- documents ------------------------------------------------------------------------------------

DOCRAG_ASKED = QuestionAsked(mechanism="document-rag", query="What is the return policy?", **START)
GROUNDED = QuestionGrounded(concepts=CONCEPTS, in_token=12, out_token=4, model="m1")
RERANKING = EvidenceRetrieved(
    query=DOCRAG_ASKED.query,
    evidence=(found("c", 0.01, 0.97), found("a", 0.03, 0.51)),
    rejected=(
        Rejected(chunk_id="urn:chunk:b", reason="beyond-limit", fused_score=0.02),
        Rejected(chunk_id="urn:chunk:d", reason="duplicate", fused_score=0.015),
    ),
    retrieval=RERANKED,
)
ANSWERED = AnswerWritten(
    outcome="answer", text="Items can be returned.", in_token=150, out_token=9, model="m1"
)
DOCRAG_RUN: tuple[Fact, ...] = (DOCRAG_ASKED, GROUNDED, RERANKING, ANSWERED)
DOCRAG_RUN_AS_RECALLED: tuple[Fact, ...] = (
    DOCRAG_ASKED,
    GROUNDED,
    EvidenceRetrieved(
        query=DOCRAG_ASKED.query,
        evidence=(found("a", 0.03), found("b", 0.02), found("c", 0.01)),
        rejected=(Rejected(chunk_id="urn:chunk:d", reason="beyond-limit"),),
    ),
    ANSWERED,
)

# --- a knowledge graph ----------------------------------------------------------------------------

EDGE = Triple(s=iri("http://ex/e1"), p=iri("http://ex/knows"), o=iri("http://ex/e2"))
GRAPH_RUN: tuple[Fact, ...] = (
    QuestionAsked(mechanism="graph-rag", query="Q?", parent_uri="urn:trustgraph:agent:P/i1", **START),
    GROUNDED,
    EdgesRetrieved(edge_count=1, entities=("http://ex/e1",)),
    EdgesSelected(edges=(SelectedEdge(edge=EDGE, concept="refund", score=0.95),), in_token=5, model="m1"),
    AnswerWritten(outcome="answer", text="Graph answer", in_token=80, out_token=6, model="m1"),
)
