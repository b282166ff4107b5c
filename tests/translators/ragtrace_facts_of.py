"""Short ways to write the facts of a run."""

from __future__ import annotations

from typing import Any

from clew_schema.evidence import Evidence, Grade, RetrievalStatus, Route
from clew_schema.facts import (
    EvidenceGraded,
    EvidenceRetrieved,
    Origin,
    PartsJoined,
    QuestionAsked,
    QuestionPlanned,
    RunPaused,
)

STATUS: dict[Route, RetrievalStatus] = {
    "answer": "answerable",
    "rewrite": "needs_rewrite",
    "clarify": "needs_clarification",
    "scope_select": "needs_scope_selection",
    "no_knowledge": "no_knowledge",
}


def piece(name: str, *, rank: int = 1, score: float = 0.03) -> Evidence:
    return Evidence(
        chunk_id=name,
        document_id="d",
        version="v",
        filename="a.pdf",
        page=1,
        text=name,
        rank=rank,
        fused_score=score,
    )


def asked() -> QuestionAsked:
    return QuestionAsked(mechanism="document-rag", query="q")


def planned(**changed: Any) -> QuestionPlanned:
    return QuestionPlanned(**{"complexity": "simple", "reason": "r", "resolved_by": "P01"} | changed)


def found(*evidence: Evidence, **changed: Any) -> EvidenceRetrieved:
    return EvidenceRetrieved(**{"query": "q", "evidence": evidence} | changed)


def graded(route: Route, *, options: tuple[str, ...] = (), **changed: Any) -> EvidenceGraded:
    grade = Grade(
        relevance="weak",
        answerability="partial",
        route="rewrite",
        confidence=0.4,
        reason="thin",
        hitl_options=options,
    )
    return EvidenceGraded(
        **{"grade": grade, "route": route, "status": STATUS[route], "resolved_by": "R01"} | changed
    )


def joined(route: Route, *origins: tuple[int, int], **changed: Any) -> PartsJoined:
    told: dict[str, Any] = {
        "origins": tuple(Origin(part=part, place=place) for part, place in origins),
        "merged_count": len(origins),
        "route": route,
        "status": STATUS[route],
        "relevance": "strong",
        "answerability": "sufficient",
        "resolved_by": "S01",
    }
    return PartsJoined(**told | changed)


def pause(**changed: Any) -> RunPaused:
    told: dict[str, Any] = {"ticket": "t", "route": "clarify", "status": "needs_clarification", "prompt": "?"}
    return RunPaused(**told | changed)
