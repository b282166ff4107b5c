"""Opinions on single chunks keep their chunk, whatever a grader was given of a pass."""

from __future__ import annotations

from clew_schema.evidence import ChunkGrade, Evidence
from clew_schema.facts import EvidenceGraded, EvidenceRetrieved, QuestionPlanned
from clew_schema.grading import GradingRequest
from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.models.chat_scripted import ScriptedGrader
from clew_services.core.packing import pack
from clew_services.handlers.grading import GradeEvidence
from tests.flow.house import GOOD


def piece(name: str, length: int) -> Evidence:
    return Evidence(chunk_id=name, text=f"{name} " * (length // 2))


async def test_a_place_is_that_in_the_pass_and_what_is_not_there_is_dropped() -> None:
    found = (piece("a", 40), piece("b", 400), piece("c", 40))
    assert pack(found, 100).places == (1, 3), "the second is too long for the grader"
    said = (
        ChunkGrade(place=2, relevance="strong", reason="c"),
        ChunkGrade(place=1, relevance="weak", reason="a"),
        ChunkGrade(place=2, relevance="none", reason="c again"),
        ChunkGrade(place=3, relevance="none", reason="nothing stands there"),
        ChunkGrade(place=0, relevance="none", reason="nor there"),
    )
    grader = ScriptedGrader(GOOD.model_copy(update={"chunks": said}))
    asked = GradingRequest(
        query=DocumentRagQuery(query="q"),
        trail=(
            QuestionPlanned(complexity="simple", resolved_by="rule"),
            EvidenceRetrieved(query="q", evidence=found),
        ),
    )
    (graded,) = (await GradeEvidence(grader, budget=100)(asked)).facts
    assert isinstance(graded, EvidenceGraded)
    assert graded.grade.chunks == (
        ChunkGrade(place=1, relevance="weak", reason="a"),
        ChunkGrade(place=3, relevance="strong", reason="c"),
    )
    assert graded.omitted == 1
