"""Runs a vector's question through the pure functions alone, with its scripted retrieval and models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clew_schema.evidence import Evidence, Grade
from clew_services.core import complexity, progress, rewriting, routing
from clew_services.core.complexity import PlanReply
from clew_services.core.progress import Progress
from clew_services.core.resuming import Snapshot
from clew_services.core.rewriting import RewriteReply
from clew_services.core.synthesis import synthesise
from clew_services.errors import ModelRefused
from clew_translators import ragtrace_steps as steps
from clew_translators.ragtrace_steps import Step
from tests.core import supermew


@dataclass
class Script:
    """What retrieval and models say in one vector, and what they were asked."""

    given: dict[str, Any]
    calls: list[str] = field(default_factory=list)
    grades: int = 0

    def retrieve(self, query: str) -> tuple[tuple[Evidence, ...], dict[str, Any]]:
        self.calls.append(f"retrieve:{query}")
        found = self.given["retrieval"]
        docs = found[query] if query in found else found["*"]
        figures = self.given.get("retrieval_meta", {}).get(query)
        return tuple(map(supermew.evidence, docs)), figures or supermew.figures(len(docs))

    def plan(self) -> PlanReply:
        if self.given.get("planner_output") is None:
            raise ModelRefused("no model plans questions")
        self.calls.append("planner")
        return PlanReply.model_validate(self.given["planner_output"])

    def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        if not evidence:
            return routing.NO_EVIDENCE
        outputs = self.given.get("grader_outputs")
        if outputs is None:
            raise ModelRefused("no model grades evidence")
        self.calls.append("grader")
        self.grades += 1
        return Grade.model_validate(
            outputs[question] if isinstance(outputs, dict) else outputs[self.grades - 1]
        )

    def rewrite(self, question: str) -> RewriteReply:
        self.calls.append(f"rewrite:{question}")
        output = self.given.get("rewrite_output", "raise")
        if output == "raise":
            raise ModelRefused("no model rewrites questions")
        fields = {name: output[name] for name in ("step_back_question", "hyde_document")}
        return RewriteReply.model_validate({"method": output["rewrite_method"]} | fields)


@dataclass(frozen=True)
class Ran:
    """Where a question came to, and what it wrote into its trace."""

    progress: Progress
    steps: tuple[Step, ...] = ()

    def to(self, changed: Progress, *written: Step) -> Ran:
        return Ran(changed, (*self.steps, *written))

    @property
    def raw_trace(self) -> dict[str, Any]:
        return steps.fold(self.steps)


def classify(ran: Ran, script: Script) -> Ran:
    seen = complexity.look(ran.progress.question)
    plan = (
        complexity.Plan(complexity="simple", reason=seen.reason)
        if seen.reason is not None
        else complexity.plan(script.plan())
    )
    return ran.to(progress.planned(ran.progress, plan))


def retrieve_initial(ran: Ran, script: Script) -> Ran:
    now = ran.progress
    found, figures = script.retrieve(now.question)
    written = steps.Retrieved(
        query=now.query,
        evidence=found,
        retrieval=figures,
        complexity=now.complexity,
        complexity_reason=now.complexity_reason,
    )
    return ran.to(progress.retrieved(now, found), written)


def grade(ran: Ran, script: Script) -> Ran:
    now = progress.graded(ran.progress, script.grade(ran.progress.question, ran.progress.evidence))
    assert now.grade is not None
    assert now.decision is not None
    written = steps.Graded(
        grade=now.grade, route=now.decision.route, status=now.decision.status, prompt=now.prompt
    )
    return ran.to(now, written)


def rewrite(ran: Ran, script: Script) -> Ran:
    if not ran.progress.may_rewrite:
        return ran.to(
            progress.exhausted(ran.progress), steps.RewriteRefused(reason=rewriting.BUDGET_EXHAUSTED)
        )
    made = rewriting.compose(ran.progress.question, script.rewrite(ran.progress.question))
    now = progress.rewritten(ran.progress, made)
    written = steps.Rewritten(
        method=made.method,
        query=made.query,
        rewrite_count=now.rewrite_count,
        step_back_question=made.step_back_question,
        hyde_document=made.hyde_document,
    )
    return ran.to(now, written)


def retrieve_rewritten(ran: Ran, script: Script) -> Ran:
    assert ran.progress.rewrite is not None
    found, figures = script.retrieve(ran.progress.rewrite.query)
    return ran.to(
        progress.retrieved(ran.progress, found), steps.RetrievedAgain(evidence=found, retrieval=figures)
    )


def answer_part(part: Progress, script: Script) -> Ran:
    return grade(retrieve_initial(Ran(part), script), script)


def join(ran: Ran, parts: Sequence[Ran]) -> Ran:
    now = ran.progress
    one = synthesise([part.progress.result for part in parts])
    written = steps.Synthesised(
        query=now.query,
        complexity_reason=now.complexity_reason,
        sub_questions=now.parts or (),
        evidence=one.evidence,
        origins=one.origins,
        merged_count=one.merged_count,
        part_traces=tuple(part.raw_trace for part in parts),
        route=one.route,
        status=one.status,
        relevance=one.relevance,
        answerability=one.answerability,
        prompt=one.prompt,
        options=one.options,
    )
    return ran.to(progress.joined(now, one), written)


def run(question: str, script: Script) -> Ran:
    ran = classify(Ran(progress.asked(question)), script)
    if ran.progress.complexity == "complex":
        return join(ran, [answer_part(part, script) for part in progress.fanned_out(ran.progress)])
    ran = grade(retrieve_initial(ran, script), script)
    while ran.progress.decision is not None and ran.progress.decision.route == "rewrite":
        ran = grade(retrieve_rewritten(rewrite(ran, script), script), script)
    return ran


def begin_again(record: dict[str, Any], answer: str) -> Ran:
    snapshot = Snapshot.model_validate(record)
    now = progress.resumed(snapshot, answer)
    written = steps.Resumed(
        query=now.query,
        answer=answer,
        from_route=snapshot.route,
        from_status=snapshot.retrieval_status,
        complexity=now.complexity,
        complexity_reason=now.complexity_reason,
        sub_questions=now.parts or (),
    )
    return Ran(now, (written,))


def retrieve_targeted(ran: Ran, script: Script) -> Ran:
    found, figures = script.retrieve(ran.progress.question)
    written = steps.RetrievedTargeted(query=ran.progress.query, evidence=found, retrieval=figures)
    return ran.to(progress.retrieved(ran.progress, found), written)


def resume(record: dict[str, Any], answer: str, script: Script) -> Ran:
    return grade(retrieve_targeted(begin_again(record, answer), script), script)


def spent(ran: Ran) -> Ran:
    """The same run with its budget of rewrites used up, as no route of the graph leaves it."""
    return Ran(replace(ran.progress, rewrite_count=routing.MAX_REWRITES), ran.steps)
