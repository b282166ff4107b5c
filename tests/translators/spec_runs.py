"""The runs that tests/data/spec tells of, as facts: by page, the mechanism, the session, and each step's facts."""

from typing import Any

from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EdgesRetrieved,
    EdgesSelected,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    FindingReceived,
    Mechanism,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QueryRewritten,
    QuestionAsked,
    QuestionDecomposed,
    QuestionGrounded,
    QuestionPlanned,
    SelectedEdge,
    ToolChosen,
    ToolObserved,
)
from clew_schema.rdf import Triple, iri, literal

NOW: dict[str, Any] = {"started_at": "2026-03-01T09:00:00.000000Z"}
Steps = tuple[tuple[Fact, ...], ...]
"""The facts of a run, step by step."""


def chunks(*numbers: int) -> tuple[Evidence, ...]:
    return tuple(Evidence(chunk_id=f"chunk-id-{number}") for number in numbers)


def graded(**fields: Any) -> EvidenceGraded:
    grade = Grade(relevance="weak", answerability="partial", route="answer")
    return EvidenceGraded(grade=grade, route="answer", status="partial", resolved_by="R9", **fields)


def edge(subject: str, predicate: str, name: str, text: str = "") -> Triple:
    example = "http://example.org/"
    return Triple(
        s=iri(example + subject),
        p=iri(example + predicate),
        o=literal(text) if text else iri(example + name),
        g="urn:some:graph",
    )


RUNS: dict[str, tuple[Mechanism, str, Steps]] = {
    "document-rag": (
        "document-rag",
        "0f8e7c52-6f0a-4a57-9d0e-3d5c3f6f2b11",
        (
            (
                QuestionAsked(mechanism="document-rag", query="How long may I return a thing?", **NOW),
                QuestionPlanned(complexity="simple", resolved_by="fast_path"),
                EvidenceRetrieved(query="How long?", evidence=chunks(1, 2, 3, 4, 5)),
            ),
            (graded(),),
            (AnswerWritten(outcome="answer", text="Within 30 days [1].\n退货请在三十天之内。"),),
        ),
    ),
    "document-rag-two-passes": (
        "document-rag",
        "two-passes",
        (
            (
                QuestionAsked(mechanism="document-rag", query="退货期限是多久？", **NOW),
                EvidenceRetrieved(query="退货期限是多久？"),
            ),
            (graded(),),
            (
                QueryRewritten(method="step_back", query="退货", text="退货"),
                EvidenceRetrieved(query="退货", pass_number=2, stage="rewritten", evidence=chunks(1)),
            ),
            (graded(pass_number=2), AnswerWritten(outcome="answer", text="三十天。[1]")),
        ),
    ),
    "document-rag-parts": (
        "document-rag",
        "parts",
        (
            (
                QuestionAsked(
                    mechanism="document-rag", query="How long may I return a thing, and who pays?", **NOW
                ),
                EvidenceRetrieved(query="a", part=1, evidence=chunks(1)),
                EvidenceRetrieved(query="b", part=2, evidence=chunks(2)),
            ),
            (EvidenceRetrieved(query="b again", part=2, pass_number=2, evidence=chunks(3)),),
            (graded(part=1), graded(part=2, pass_number=2, kept_pass=1)),
            (AnswerWritten(outcome="answer", text="Within 30 days [1]; you do [2]."),),
        ),
    ),
    "graph-rag": (
        "graph-rag",
        "4c1b0f6e-29e6-4f5e-8a54-6a3f1a2d7c90",
        (
            (
                QuestionAsked(mechanism="graph-rag", query="Who keeps the thread?", **NOW),
                QuestionGrounded(concepts=("thread",), in_token=5),
            ),
            (EdgesRetrieved(edge_count=12, entities=("http://example.org/Thread",)),),
            (
                EdgesSelected(
                    edges=(
                        SelectedEdge(
                            edge=edge("Ariadne", "keeps", "Thread"),
                            concept="thread",
                            score=0.9,
                            reasoning="It names who keeps it.",
                        ),
                        SelectedEdge(edge=edge("Ariadne", "name", "", "Ariadne"), score=0.4),
                    ),
                    model="m1",
                ),
            ),
            (AnswerWritten(outcome="answer", text="Ariadne keeps the thread."),),
        ),
    ),
    "agent": (
        "agent",
        "7d9a4b1c-52b8-4c3c-bc0e-1f7d6d1f0a33",
        (
            (
                QuestionAsked(mechanism="agent", query="What is the capital of France?", **NOW),
                ToolChosen(
                    number=1,
                    thought="I need to query the knowledge base.",
                    action="knowledge-query",
                    arguments={"question": "capital of France"},
                    candidates=("knowledge-query", "text-completion"),
                    in_token=3,
                ),
            ),
            (
                ToolObserved(
                    number=1,
                    observation="Paris is the capital of France. [1]",
                    trace_uri="urn:trustgraph:question:tool",
                    trace_end="urn:trustgraph:question:tool/synthesis",
                ),
                ToolChosen(
                    number=2,
                    thought="Let me say it nicely.",
                    action="text-completion",
                    arguments={"question": "Say it for Genève."},
                    uses=(1,),
                ),
            ),
            (
                ToolObserved(number=2, observation="Error: out of order", failed=True, error="out of order"),
                Concluded(answer="Paris.", after=2, thought="Enough.", uses=(2,)),
            ),
        ),
    ),
    "agent-dag": (
        "agent",
        "dag",
        (
            (
                QuestionAsked(mechanism="agent", query="Which of the two hotels is cheaper?", **NOW),
                ToolChosen(
                    number=1,
                    thought="First the one by the harbour.",
                    action="document-query",
                    arguments={"question": "price of the Harbour Hotel"},
                ),
            ),
            (
                ToolObserved(number=1, observation="A night costs 140 EUR."),
                ToolChosen(
                    number=2,
                    thought="Now the other.",
                    action="document-query",
                    arguments={"question": "price of the Garden Hotel"},
                    uses=(1,),
                ),
            ),
            (
                ToolObserved(number=2, observation="A night costs 155 CHF."),
                ToolChosen(
                    number=3, thought="140 EUR must become CHF.", action="text-completion", uses=(1, 2)
                ),
            ),
            (
                ToolObserved(number=3, observation="133 CHF"),
                Concluded(answer="The Harbour Hotel: 133 against 155 CHF.", after=3, uses=(1, 2, 3)),
            ),
        ),
    ),
    "agent-others": (
        "agent",
        "others",
        (
            (
                QuestionAsked(mechanism="agent", query="Compare the two.", **NOW),
                PatternChosen(pattern="supervisor"),
            ),
            (PlanMade(steps=("ask", "compare")),),
            (QuestionDecomposed(goals=("the first", "the second")),),
            (
                FindingReceived(
                    number=1, goal="the first", answer="good", trace_uri="urn:trustgraph:agent:first"
                ),
            ),
            (
                FindingReceived(
                    number=2, goal="the second", answer="bad", trace_uri="urn:trustgraph:agent:second"
                ),
            ),
            (PlanStepDone(number=1, goal="ask", result="good, bad"),),
            (Concluded(answer="The first.", after=0, reason="subagents-complete"),),
        ),
    ),
    "tool-trace": (
        "document-rag",
        "asked",
        (
            (
                QuestionAsked(
                    mechanism="document-rag",
                    query="price of the Garden Hotel",
                    parent_uri="urn:trustgraph:agent:dag/i2",
                    **NOW,
                ),
            ),
            (AnswerWritten(outcome="no_knowledge", text="Nothing reliable is known."),),
        ),
    ),
}
