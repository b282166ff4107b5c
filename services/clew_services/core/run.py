"""A run, read from its facts: what is looked up, what was found and graded, what is spent, and who waits.

The facts travel in a run's messages and are all that a step knows of it. :func:`read` folds them; nothing
here retrieves, asks a model or knows the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clew_schema.evidence import Evidence, Grade, RetrievalStatus, Route
from clew_schema.facts import (
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    Gap,
    Mode,
    PartQuestion,
    PartsJoined,
    QueryRewritten,
    QuestionAsked,
    QuestionPlanned,
    RunPaused,
    RunResumed,
)
from clew_services.core.ranking import numbered
from clew_services.core.resuming import ROUTES, is_pause, refine
from clew_services.core.synthesis import PartResult, evidence_of
from clew_services.errors import Unreadable

WHOLE = 0
"""The number of the whole question among its parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One question that is looked up: the whole one (``part`` 0) or a part of it, with its passes, oldest first."""

    part: int
    question: str
    passes: tuple[EvidenceRetrieved, ...] = ()
    grades: tuple[EvidenceGraded, ...] = ()
    since: int = 0
    """Passes that lie before a person's answer: they were about another question."""

    @property
    def next_pass(self) -> int:
        """The number of the pass to come."""
        return len(self.passes) + 1

    @property
    def graded(self) -> EvidenceGraded | None:
        """The grade of the newest pass; null while it waits for one."""
        newest = self.grades[-1] if self.grades else None
        return (
            newest if newest and self.passes and newest.pass_number == self.passes[-1].pass_number else None
        )

    @property
    def earlier(self) -> EvidenceGraded | None:
        """The grade of the pass before the newest one, if that was about the same question."""
        before = [g for g in self.grades if self.since < g.pass_number < self.next_pass - 1]
        return before[-1] if before else None

    @property
    def found(self) -> tuple[Evidence, ...]:
        """What the newest pass found."""
        return self.passes[-1].evidence if self.passes else ()

    @property
    def kept(self) -> tuple[Evidence, ...]:
        """What goes on: the evidence of the newest pass, or of the one that the grading kept."""
        kept = self.graded.kept_pass if self.graded else 0
        return self.passes[kept - 1].evidence if kept else self.found

    @property
    def result(self) -> PartResult:
        """How this question ended, as a part of the larger one. A pause or a refusal leaves no evidence."""
        graded = self.graded
        return PartResult(
            question=self.question,
            evidence=self.kept if graded and graded.route in {"answer", "rewrite"} else (),
            route=graded.route if graded else None,
            status=graded.status if graded else None,
            prompt=graded.asks if graded else "",
            options=graded.grade.hitl_options if graded else (),
            failure=graded.failure if graded else "",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a run's grading came to, whole or joined: where it goes, with which evidence, and what a person is asked."""

    route: Route
    status: RetrievalStatus
    resolved_by: str
    evidence: tuple[Evidence, ...] = ()
    asks: str = ""
    options: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def pauses(self) -> bool:
        """Whether a person has to be asked."""
        return is_pause(self.status, self.route)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run so far. ``asked`` is the question as its caller put it; ``question`` that with what a person added."""

    asked: str
    question: str
    asked_at: str = ""
    mode: Mode = "improved"
    plan: QuestionPlanned | None = None
    branches: dict[int, Branch] = field(default_factory=dict)
    joined: PartsJoined | None = None
    rewrite_count: int = 0
    rounds: int = 0
    pause: RunPaused | None = None
    resumed: RunResumed | None = None
    answers: tuple[str, ...] = ()

    @property
    def ungraded(self) -> tuple[Branch, ...]:
        """The questions whose newest pass waits for its grade, in their order."""
        return tuple(branch for _, branch in sorted(self.branches.items()) if branch.graded is None)

    @property
    def results(self) -> tuple[PartResult, ...]:
        """How the parts ended, in the planned order."""
        return tuple(branch.result for part, branch in sorted(self.branches.items()) if part != WHOLE)

    @property
    def is_complex(self) -> bool:
        """Whether parts are worked on."""
        return WHOLE not in self.branches

    @property
    def verdict(self) -> Verdict:
        """What was decided last. Raises Unreadable while nothing was."""
        if self.joined is not None:
            joined = self.joined
            return Verdict(
                route=joined.route,
                status=joined.status,
                resolved_by=joined.resolved_by,
                evidence=evidence_of(self.results),
                asks=joined.asks,
                options=joined.options,
                gaps=joined.gaps,
            )
        branch = self.branches.get(WHOLE)
        graded = branch.graded if branch else None
        if branch is None or graded is None:
            raise Unreadable("the trail holds no decision: the message was not written by a step of a run")
        return Verdict(
            route=graded.route,
            status=graded.status,
            resolved_by=graded.resolved_by,
            evidence=branch.result.evidence,
            asks=graded.asks,
            options=graded.grade.hitl_options,
        )

    @property
    def waiting(self) -> tuple[PartQuestion, ...]:
        """The questions that a pause would be about: the whole one, or the parts that wait."""
        if self.joined is None:
            return (PartQuestion(part=WHOLE, question=self.question),)
        waiting = ((part, branch.result) for part, branch in sorted(self.branches.items()))
        return tuple(
            PartQuestion(part=part, question=result.question) for part, result in waiting if result.pauses
        )

    @property
    def fallback(self) -> tuple[Evidence, ...]:
        """The evidence that says at least something, for a run that may not ask again; numbered from 1."""
        found: dict[str, Evidence] = {}
        for _, branch in sorted(self.branches.items()):
            if branch.graded and _answers(branch.graded.grade):
                found |= {each.chunk_id: each for each in branch.kept}
        return numbered(found.values())


def read(trail: Sequence[Fact], question: str) -> Run:
    """The run that ``trail`` tells of, whose caller asked ``question``."""
    run = Run(asked=question, question=question)
    for fact in trail:
        run = _after(run, fact)
    return run


def _after(run: Run, fact: Fact) -> Run:  # noqa: PLR0911 - one return per kind of fact
    match fact:
        case QuestionAsked():
            return replace(run, asked_at=fact.started_at)
        case QuestionPlanned():
            asked = dict(enumerate(fact.parts or (), 1)) or {WHOLE: run.question}
            branches = {part: Branch(part=part, question=question) for part, question in asked.items()}
            return replace(run, mode=fact.mode, plan=fact, branches=branches)
        case EvidenceRetrieved():
            return _with(run, fact.part, passes=(*_branch(run, fact.part).passes, fact))
        case EvidenceGraded():
            return _with(run, fact.part, grades=(*_branch(run, fact.part).grades, fact))
        case QueryRewritten():
            return replace(run, rewrite_count=fact.rewrite_count)
        case PartsJoined():
            return replace(run, joined=fact)
        case RunPaused():
            return replace(run, pause=fact, rounds=fact.round)
        case RunResumed():
            return _resumed(run, fact)
        case _:
            return run


def _resumed(run: Run, fact: RunResumed) -> Run:
    """The questions that waited are asked as the person's answer made them; those of a whole question replace all."""
    run = replace(run, resumed=fact, pause=None, joined=None, answers=(*run.answers, fact.answer))
    for each in fact.questions:
        if each.part == WHOLE:
            whole = run.branches.get(WHOLE) or Branch(part=WHOLE, question=each.question)
            whole = replace(whole, question=each.question, since=len(whole.passes))
            return replace(run, question=each.question, branches={WHOLE: whole})
        run = _with(run, each.part, question=each.question, since=len(_branch(run, each.part).passes))
    return run


def _branch(run: Run, part: int) -> Branch:
    return run.branches.get(part) or Branch(part=part, question=run.question)


def _with(run: Run, part: int, **changes: object) -> Run:
    """``run`` with a branch that moved; what was joined before is so no more."""
    # In place: nobody else has seen the dictionary of a run that is being read, and copies of runs cost time.
    run.branches[part] = replace(_branch(run, part), **changes)  # type: ignore[arg-type] # fields of Branch
    return run if run.joined is None else replace(run, joined=None)


def resumption(run: Run, answer: str) -> tuple[PartQuestion, ...]:
    """What ``answer`` makes of the questions that wait.

    Strict: SuperMew's one question, and no part of it. Improved: the question as it was first asked with all
    answers before it, oldest first (quirk Q12), whether or not they stand in it (Q11); of a complex question
    only the parts that waited (Q13, Q09).
    """
    pause = run.pause
    if pause is None:
        raise Unreadable("the run does not wait for a person")
    if run.mode == "strict":
        return (PartQuestion(part=WHOLE, question=refine(run.question, answer)),)
    answers = tuple(text for text in (each.strip() for each in (*run.answers, answer)) if text)
    said = "；".join(dict.fromkeys(answers))
    first = dict(enumerate(run.plan.parts or (), 1)) if run.plan else {}
    return tuple(
        PartQuestion(part=each.part, question=_with_answers(said, first.get(each.part, run.asked)))
        for each in pause.questions
    )


def _with_answers(said: str, question: str) -> str:
    return f"{said}：{question}" if said and said != question else question


_ANSWERABILITY = ("none", "partial", "sufficient")
_RELEVANCE = ("none", "weak", "strong")


def better(one: Grade, other: Grade) -> bool:
    """Whether ``one`` says more of the answer than ``other``: answerability first, then relevance."""
    return _strength(one) > _strength(other)


def _strength(grade: Grade) -> tuple[int, int]:
    return _ANSWERABILITY.index(grade.answerability), _RELEVANCE.index(grade.relevance)


def _answers(grade: Grade) -> bool:
    return grade.answerability != "none" and grade.relevance != "none"


__all__ = ["ROUTES", "WHOLE", "Branch", "Run", "Verdict", "better", "read", "resumption"]
