"""How far a question has come: the state that travels between the steps of the evidence pipeline.

A value and the functions that move it on. None of them retrieves, asks a model or knows the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew_schema.evidence import Evidence, Grade
from clew_services.core import resuming, routing
from clew_services.core.complexity import Complexity, Plan
from clew_services.core.resuming import Snapshot
from clew_services.core.rewriting import Rewrite
from clew_services.core.routing import Decision, Rule
from clew_services.core.synthesis import PartResult, Synthesis


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A question on its way. ``part`` counts the parts of a larger question from 1; 0 is a whole question.

    ``query`` is what the trace calls the query: the question, also after a rewrite. ``parts`` is null until
    someone was asked for a plan. ``grade`` and ``decision`` are those of the last pass.
    """

    question: str
    query: str
    part: int = 0
    evidence: tuple[Evidence, ...] = ()
    grade: Grade | None = None
    decision: Decision | None = None
    prompt: str = ""
    options: tuple[str, ...] = ()
    rewrite_count: int = 0
    rewrite: Rewrite | None = None
    complexity: Complexity | None = None
    complexity_reason: str | None = None
    parts: tuple[str, ...] | None = None

    @property
    def is_part(self) -> bool:
        """Whether the question is a part of a larger one."""
        return self.part > 0

    @property
    def may_rewrite(self) -> bool:
        """Whether the run's budget of rewrites is not used up."""
        return self.rewrite_count < routing.MAX_REWRITES

    @property
    def pauses(self) -> bool:
        """Whether the run waits for a person."""
        decision = self.decision
        return decision is not None and resuming.is_pause(decision.status, decision.route)

    @property
    def result(self) -> PartResult:
        """How this question ended, as a part of the larger one."""
        return PartResult(
            question=self.question,
            evidence=self.evidence,
            route=None if self.decision is None else self.decision.route,
            status=None if self.decision is None else self.decision.status,
            prompt=self.prompt,
            options=self.options,
        )

    @property
    def snapshot(self) -> Snapshot | None:
        """What a resumed run will know of this one; null unless it pauses."""
        if self.decision is None or not self.pauses:
            return None
        return Snapshot(
            question=self.question,
            route=self.decision.route,
            retrieval_status=self.decision.status,
            rewrite_count=self.rewrite_count,
            complexity=self.complexity,
            complexity_reason=self.complexity_reason,
            sub_questions=self.parts or (),
        )


def asked(question: str, *, part: int = 0) -> Progress:
    """The beginning of a whole question, or of part number ``part`` (from 1): nothing of another is in it."""
    return Progress(question=question, query=question, part=part)


def planned(progress: Progress, plan: Plan) -> Progress:
    """Someone said how to work on the question."""
    return replace(progress, complexity=plan.complexity, complexity_reason=plan.reason, parts=plan.parts)


def fanned_out(progress: Progress) -> tuple[Progress, ...]:
    """One fresh beginning for each part of a complex question, in the planned order."""
    return tuple(asked(part, part=number) for number, part in enumerate(progress.parts or (), 1))


def retrieved(progress: Progress, evidence: tuple[Evidence, ...]) -> Progress:
    """A pass returned ``evidence``, which replaces what there was."""
    return replace(progress, evidence=evidence)


def graded(progress: Progress, grade: Grade, *, rules: tuple[Rule, ...] = routing.STRICT) -> Progress:
    """The evidence was graded and a route chosen; it is kept only for an answer or a rewrite.

    Hand in ``routing.NO_EVIDENCE`` when there is none: no model is asked then.
    """
    decision = routing.resolve(
        evidence_count=len(progress.evidence),
        grade=grade,
        rewrite_count=progress.rewrite_count,
        is_part=progress.is_part,
        rules=rules,
    )
    return replace(
        progress,
        evidence=progress.evidence if decision.route in {"answer", "rewrite"} else (),
        grade=grade,
        decision=decision,
        prompt=routing.clarification(grade, decision.route),
        options=grade.hitl_options,
    )


def rewritten(progress: Progress, rewrite: Rewrite) -> Progress:
    """One rewrite of the budget was spent. Call it only while ``may_rewrite``, else :func:`exhausted`."""
    return replace(progress, rewrite=rewrite, rewrite_count=progress.rewrite_count + 1)


def exhausted(progress: Progress) -> Progress:
    """A rewrite was asked for and none is left: nothing reliable is known."""
    decision = Decision(route="no_knowledge", status="no_knowledge", rule="W01-rewrite-budget-exhausted")
    return replace(progress, evidence=(), decision=decision)


def joined(progress: Progress, synthesis: Synthesis) -> Progress:
    """The parts of the question became one."""
    return replace(
        progress,
        evidence=synthesis.evidence,
        decision=Decision(route=synthesis.route, status=synthesis.status, rule=synthesis.rule),
        prompt=synthesis.prompt,
        options=synthesis.options,
    )


def resumed(snapshot: Snapshot, answer: str) -> Progress:
    """A fresh beginning with the question that ``answer`` makes, and what the snapshot says of the budget and plan."""
    question = resuming.refine(snapshot.question, answer)
    return Progress(
        question=question,
        query=question,
        rewrite_count=snapshot.rewrite_count,
        complexity=snapshot.complexity,
        complexity_reason=snapshot.complexity_reason,
        parts=snapshot.sub_questions,
    )
