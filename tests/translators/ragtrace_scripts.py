"""The facts that the consumers write of a scripted run, made from the steps that its vector expects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew_schema.facts import (
    BudgetExhausted,
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
from clew_services.core import progress
from clew_translators import ragtrace_steps as steps
from clew_translators.ragtrace_facts import retrieval_of
from tests.core import supermew_run
from tests.core.supermew_run import Ran, Script

STAGES: dict[type[steps.Step], Stage] = {
    steps.Retrieved: "initial",
    steps.RetrievedAgain: "rewritten",
    steps.RetrievedTargeted: "hitl_targeted_retrieval",
}


def asked(ran: Ran, question: str) -> list[Fact]:
    now = ran.progress
    assert now.complexity is not None
    planned = QuestionPlanned(
        mode="strict",
        complexity=now.complexity,
        reason=now.complexity_reason or "",
        parts=now.parts,
        resolved_by="P",
    )
    return [QuestionAsked(mechanism="document-rag", query=question), planned]


def written(ran: Ran, *, passed: int = 0) -> list[Fact]:
    """A fact for each step of one question, whose passes go on from ``passed``."""
    facts: list[Fact] = []
    for step in ran.steps:
        passed += type(step) in STAGES
        if not isinstance(step, steps.Resumed):
            facts.append(fact(step, ran.progress.part, passed))
    return facts


def fact(step: steps.Step, part: int, number: int) -> Fact:
    match step:
        case steps.Retrieved() | steps.RetrievedAgain() | steps.RetrievedTargeted():
            return EvidenceRetrieved(
                part=part,
                pass_number=number,
                stage=STAGES[type(step)],
                query=getattr(step, "query", "rewritten"),
                evidence=step.evidence,
                retrieval=retrieval_of(step.retrieval),
            )
        case steps.Graded():
            return EvidenceGraded(
                part=part,
                pass_number=number,
                grade=step.grade,
                route=step.route,
                status=step.status,
                resolved_by="R",
                asks=step.prompt,
            )
        case steps.Rewritten():
            return QueryRewritten(
                part=part,
                method=step.method,
                query=step.query,
                text=step.step_back_question or step.hyde_document,
                rewrite_count=step.rewrite_count,
            )
        case steps.RewriteRefused():
            return BudgetExhausted(
                budget="rewrites", spent=1, route=step.route, status=step.status, resolved_by="W"
            )
        case steps.Synthesised():
            return PartsJoined(
                origins=tuple(Origin(part=at + 1, place=place + 1) for at, place in step.origins),
                merged_count=step.merged_count,
                route=step.route,
                status=step.status,
                relevance=step.relevance,  # type: ignore[arg-type] # a text there, checked here
                answerability=step.answerability,  # type: ignore[arg-type] # the same
                resolved_by="S",
                asks=step.prompt,
                options=step.options,
            )
    raise AssertionError(step)


def of_run(given: Any) -> list[Fact]:
    """A whole run, from the question to the last decision."""
    script, question = Script(given), given["question"]
    ran = supermew_run.classify(Ran(progress.asked(question)), script)
    if ran.progress.complexity == "complex":
        parts = [supermew_run.answer_part(part, script) for part in progress.fanned_out(ran.progress)]
        found = [each for part in parts for each in written(part)]
        return asked(ran, question) + found + written(supermew_run.join(ran, parts))
    return asked(ran, question) + written(supermew_run.run(question, Script(given)))


def of_resume(given: Any) -> list[Fact]:
    """A run that paused with the vector's snapshot and was answered."""
    ran = supermew_run.resume(given["resume_state"], given["answer"], Script(given))
    return paused(given["resume_state"], given["answer"], ran) + written(ran, passed=1)


def paused(snapshot: dict[str, Any], answer: str, ran: Ran) -> list[Fact]:
    """The facts before the pass that follows the answer."""
    spent: Sequence[Fact] = [
        QueryRewritten(method="hyde", query="q", text="t", rewrite_count=count + 1)
        for count in range(snapshot["rewrite_count"])
    ]
    pause = RunPaused(
        ticket="t",
        route=snapshot["route"],
        status=snapshot["retrieval_status"],
        prompt="?",
        questions=(PartQuestion(question=snapshot["question"]),),
    )
    resumed = RunResumed(
        ticket="t",
        answer=answer,
        from_route=snapshot["route"],
        from_status=snapshot["retrieval_status"],
        questions=(PartQuestion(question=ran.progress.question),),
    )
    return [*asked(ran, snapshot["question"]), *spent, pause, resumed]
