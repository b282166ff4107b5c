"""The facts that a vector's run consists of: what was found and graded as it was given, decided as it was expected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import (
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    Origin,
    PartQuestion,
    PartsJoined,
    QueryRewritten,
    QuestionAsked,
    QuestionPlanned,
    RunPaused,
    RunResumed,
    Stage,
)
from clew_translators.ragtrace_facts import retrieval_of
from tests.core import supermew

ACCEPTED = {"answerable", "partial"}
NOTHING = Grade(
    relevance="none",
    answerability="none",
    route="no_knowledge",
    confidence=1.0,
    reason="no_retrieved_documents",
)


def of_run(given: Any, trace: dict[str, Any]) -> list[Fact]:
    """A whole run, from the question to the decisions of ``trace``."""
    question = given["question"]
    if trace["complexity"] == "complex":
        parts = list(enumerate(trace["sub_traces"], 1))
        found = [fact for number, part in parts for fact in passed(given, part["query"], part, number)]
        return [*begun(question, trace), *found, joined(trace, found)]
    if "rewrite_method" not in trace:
        return begun(question, trace) + passed(given, question, trace)
    to_rewrite = {"route": "rewrite", "retrieval_status": "needs_rewrite"}
    rewrite = QueryRewritten(
        method=trace["rewrite_method"],
        query=trace["rewritten_query"],
        text=trace.get("step_back_question") or trace["hyde_document"],
    )
    first = passed(given, question, to_rewrite)
    again = passed(given, rewrite.query, trace, stage="rewritten")
    return begun(question, trace) + first + [rewrite] + again


def of_resume(given: Any, trace: dict[str, Any]) -> list[Fact]:
    """A run that paused with the vector's snapshot, was answered, and came to the decision of ``trace``."""
    snapshot, query = given["resume_state"], trace["query"]
    reached = {"route": snapshot["route"], "status": snapshot["retrieval_status"]}
    waiting = (PartQuestion(question=snapshot["question"]),)
    spent: list[Fact] = [
        QueryRewritten(method="hyde", query="q", text="t", rewrite_count=count + 1)
        for count in range(snapshot["rewrite_count"])
    ]
    resumed = RunResumed(
        ticket="t",
        answer=given["answer"],
        from_route=snapshot["route"],
        from_status=snapshot["retrieval_status"],
        questions=(PartQuestion(question=query),),
    )
    plan = snapshot | {"sub_questions": snapshot["sub_questions"] or None}
    before = begun(snapshot["question"], plan) + spent
    paused = RunPaused(ticket="t", prompt="?", questions=waiting, **reached)
    found = passed(given, query, trace, stage="hitl_targeted_retrieval") if "route" in trace else []
    return [*before, paused, resumed, *found]


def begun(question: str, plan: dict[str, Any]) -> list[Fact]:
    parts = plan.get("sub_questions")
    planned = QuestionPlanned(
        mode="strict",
        complexity=plan["complexity"],
        reason=plan["complexity_reason"],
        parts=None if parts is None else tuple(parts),
        resolved_by="P",
    )
    return [QuestionAsked(mechanism="document-rag", query=question), planned]


def passed(
    given: Any, query: str, trace: dict[str, Any], part: int = 0, stage: Stage = "initial"
) -> list[Fact]:
    """A retrieval and its grade, with the route of ``trace``."""
    number = 1 if stage == "initial" else 2
    retrieval = given["retrieval"]
    docs = retrieval[query] if query in retrieval else retrieval["*"]
    figures = given.get("retrieval_meta", {}).get(query) or supermew.figures(len(docs))
    outputs = given.get("grader_outputs")
    output = (
        outputs[query] if isinstance(outputs, dict) else outputs and outputs[min(number, len(outputs)) - 1]
    )
    return [
        EvidenceRetrieved(
            part=part,
            pass_number=number,
            stage=stage,
            query=query,
            evidence=tuple(map(supermew.evidence, docs)),
            retrieval=retrieval_of(figures),
        ),
        EvidenceGraded(
            part=part,
            pass_number=number,
            grade=Grade.model_validate(output) if docs else NOTHING,
            route=trace["route"],
            status=trace["retrieval_status"],
            resolved_by="R",
            asks=trace.get("hitl_prompt", ""),
        ),
    ]


def joined(trace: dict[str, Any], facts: list[Fact]) -> PartsJoined:
    found = list(accepted(facts))
    origins: dict[str, Origin] = {}
    for origin, each in found:
        origins.setdefault(each.chunk_id or f"{each.filename}|{each.page}|{each.text}", origin)
    return PartsJoined(
        origins=tuple(origins.values()),
        merged_count=len(found),
        route=trace["route"],
        status=trace["retrieval_status"],
        relevance=trace["evidence_relevance"],
        answerability=trace["evidence_answerability"],
        resolved_by="S",
        asks=trace["hitl_prompt"],
        options=tuple(trace["hitl_options"]),
    )


def accepted(facts: list[Fact]) -> Iterator[tuple[Origin, Evidence]]:
    used = {fact.part for fact in facts if isinstance(fact, EvidenceGraded) and fact.status in ACCEPTED}
    for fact in facts:
        if isinstance(fact, EvidenceRetrieved) and fact.part in used:
            for place, each in enumerate(fact.evidence, 1):
                yield Origin(part=fact.part, place=place), each
