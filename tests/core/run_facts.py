"""Facts of runs in few words: for the tests of ``core.run``."""

from __future__ import annotations

from typing import Any, Literal

from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import (
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    Mode,
    PartQuestion,
    PartsJoined,
    QuestionAsked,
    QuestionPlanned,
    RunPaused,
    RunResumed,
)
from clew_services.core.run import WHOLE, Branch, read

ASKED = QuestionAsked(mechanism="document-rag", query="q", started_at="2026-01-01T00:00:00Z")
SUFFICIENT: dict[str, Any] = {"relevance": "strong", "answerability": "sufficient", "route": "answer"}
PARTIAL: dict[str, Any] = {"relevance": "weak", "answerability": "partial", "route": "answer"}
NONE: dict[str, Any] = {"relevance": "none", "answerability": "none", "route": "no_knowledge"}
STATUS = {
    "answer": "answerable",
    "rewrite": "needs_rewrite",
    "clarify": "needs_clarification",
    "scope_select": "needs_scope_selection",
    "no_knowledge": "no_knowledge",
}


def planned(*parts: str, mode: Mode = "improved") -> QuestionPlanned:
    complexity: Literal["simple", "complex"] = "complex" if parts else "simple"
    return QuestionPlanned(mode=mode, complexity=complexity, parts=parts or None, resolved_by="F")


def pieces(*names: str) -> tuple[Evidence, ...]:
    return tuple(Evidence(chunk_id=name, rank=7) for name in names)


def retrieved(*names: str, part: int = WHOLE, number: int = 1) -> EvidenceRetrieved:
    return EvidenceRetrieved(part=part, pass_number=number, query="q", evidence=pieces(*names))


def graded(
    route: str = "answer",
    *,
    part: int = WHOLE,
    number: int = 1,
    grade: dict[str, Any] = SUFFICIENT,
    **more: Any,
) -> EvidenceGraded:
    fields = {"route": route, "status": STATUS[route], "resolved_by": f"R-{route}"} | more
    return EvidenceGraded.model_validate(
        {"part": part, "pass_number": number, "grade": Grade.model_validate(grade)} | fields
    )


def joined(route: str = "answer", **more: Any) -> PartsJoined:
    fields = {
        "relevance": "strong",
        "answerability": "sufficient",
        "resolved_by": "S",
        "status": STATUS[route],
    }
    return PartsJoined.model_validate(fields | {"route": route} | more)


def paused(*questions: PartQuestion, number: int = 1) -> RunPaused:
    return RunPaused(
        ticket="t",
        round=number,
        route="clarify",
        status="needs_clarification",
        prompt="which?",
        questions=questions or (PartQuestion(question="q"),),
    )


def resumed(answer: str, *questions: PartQuestion) -> RunResumed:
    return RunResumed(
        ticket="t",
        answer=answer,
        from_route="clarify",
        from_status="needs_clarification",
        questions=questions,
    )


def names(evidence: tuple[Evidence, ...]) -> list[str]:
    return [each.chunk_id for each in evidence]


def whole(*facts: Fact) -> Branch:
    return read((ASKED, planned(), *facts), "q").branches[WHOLE]
