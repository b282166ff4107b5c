"""A run as its facts tell it: its questions, passes and grades, kept while a RAGTrace is made of them."""

from __future__ import annotations

from typing import Any, TypedDict

from clew_schema.evidence import Evidence
from clew_schema.facts import (
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    PartsJoined,
    QueryRewritten,
    QuestionAsked,
    QuestionPlanned,
    RunResumed,
)

ACCEPTED = frozenset({"answerable", "partial"})
"""The statuses of parts whose evidence is used."""


class Plan(TypedDict):
    """How a question was found to be; null for a part, and before anybody looked."""

    complexity: str | None
    complexity_reason: str | None


class Told:
    """The facts that were taken so far. Part 0 is the whole question; ``traces`` are the raw traces by part."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.asked = ""
        self.planned: QuestionPlanned | None = None
        self.questions: dict[int, str] = {}
        self.passes: dict[int, list[EvidenceRetrieved]] = {}
        self.grades: dict[int, list[EvidenceGraded]] = {}
        self.joined: PartsJoined | None = None
        self.exhausted = False
        self.rewrite_count = 0
        self.traces: dict[int, dict[str, Any]] = {}

    def take(self, fact: Fact) -> None:
        """Remember what ``fact`` says."""
        match fact:
            case QuestionAsked():
                self.asked = fact.query
            case QuestionPlanned():
                self.planned = fact
                self.questions |= dict(enumerate(fact.parts or (), 1))
            case EvidenceRetrieved():
                self.passes.setdefault(fact.part, []).append(fact)
            case EvidenceGraded():
                self.grades.setdefault(fact.part, []).append(fact)
                self.exhausted = False
            case QueryRewritten():
                self.rewrite_count = fact.rewrite_count
            case PartsJoined():
                self.joined, self.exhausted = fact, False
            case BudgetExhausted():
                self.exhausted = True
            case RunResumed():
                self.questions |= {each.part: each.question for each in fact.questions}
                self.joined = None

    @property
    def strict(self) -> bool:
        """Whether the run kept to SuperMew's ways."""
        return self.planned is not None and self.planned.mode == "strict"

    @property
    def top(self) -> dict[str, Any] | None:
        """The raw trace of the whole; null before anything was written into it."""
        return self.traces.get(0) or None

    @property
    def sub_questions(self) -> tuple[str, ...]:
        """The parts as they were planned."""
        return (self.planned.parts or ()) if self.planned else ()

    @property
    def part_numbers(self) -> range:
        """The numbers of the parts."""
        return range(1, max(len(self.sub_questions), *self.passes, 0) + 1) if self.passes else range(0)

    def question(self, part: int) -> str:
        """What is asked in ``part``, with what a person added to it."""
        known = self.questions.get(part)
        if known is not None:
            return known
        passes = self.passes.get(part)
        searched = passes[0].query if passes else ""
        return searched if part else self.asked or searched

    def plan(self, part: int) -> Plan:
        """The complexity of ``part``: only the whole question has one."""
        planned = self.planned if part == 0 else None
        return {
            "complexity": planned.complexity if planned else None,
            "complexity_reason": planned.reason if planned else None,
        }

    def current(self, part: int) -> tuple[Evidence, ...]:
        """The evidence of ``part`` that goes on: of its newest pass, or of the one that the grading kept."""
        passes, grades = self.passes.get(part, []), self.grades.get(part, [])
        if not passes:
            return ()
        newest = passes[-1]
        kept = grades[-1].kept_pass if grades and grades[-1].pass_number == newest.pass_number else 0
        return next((each.evidence for each in passes if each.pass_number == kept), newest.evidence)

    def fallback(self) -> tuple[Evidence, ...]:
        """What says at least something, each piece once: the rest of a run that may not ask again; numbered."""
        found: dict[str, Evidence] = {}
        for part in sorted(self.passes):
            newest = self.grades.get(part, [None])[-1]
            if newest and newest.grade.answerability != "none" and newest.grade.relevance != "none":
                found |= {identity(each): each for each in self.current(part)}
        return _numbered(list(found.values()))


def joined_evidence(told: Told, fact: PartsJoined) -> tuple[Evidence, ...]:
    """The joined evidence, numbered from 1; a piece that several accepted parts found has the best of their scores.

    That is the reranker's score if any of them has one, else the one of the recall. An origin that lies nowhere
    is a piece without a name, so that the places of the others stay right.
    """
    best: dict[str, Evidence] = {}
    for part in told.part_numbers:
        grades = told.grades.get(part)
        for each in told.current(part) if grades and grades[-1].status in ACCEPTED else ():
            key = identity(each)
            best[key] = _better(best[key], each) if key in best else each
    joined = []
    for origin in fact.origins:
        evidence = told.current(origin.part)
        known = evidence[origin.place - 1] if 0 < origin.place <= len(evidence) else Evidence(chunk_id="")
        joined.append(best.get(identity(known), known))
    return _numbered(joined)


def identity(evidence: Evidence) -> str:
    """What makes two pieces the same: the chunk, else the file, page and text."""
    return evidence.chunk_id.strip() or f"{evidence.filename}|{evidence.page}|{evidence.text}"


def _numbered(evidence: list[Evidence]) -> tuple[Evidence, ...]:
    return tuple(each.model_copy(update={"rank": rank}) for rank, each in enumerate(evidence, 1))


def _better(first: Evidence, again: Evidence) -> Evidence:
    """``first`` with the larger score of the two, of the reranker if either has one."""
    reranked = [each.rerank_score for each in (first, again) if each.rerank_score is not None]
    if reranked:
        return first.model_copy(update={"rerank_score": max(reranked)})
    recalled = [score for each in (first, again) if (score := _recalled(each)) is not None]
    if not recalled:
        return first
    is_dense = first.fused_score is None and first.dense_score is not None
    return first.model_copy(update={"dense_score" if is_dense else "fused_score": max(recalled)})


def _recalled(evidence: Evidence) -> float | None:
    return evidence.dense_score if evidence.fused_score is None else evidence.fused_score
