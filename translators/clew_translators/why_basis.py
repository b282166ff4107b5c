"""Which searches an answer was written from: what the decisions before it let go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    PartsJoined,
    RunResumed,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.evidence import Evidence
    from clew_schema.facts import Fact

Key = tuple[int, int]
"""A part and a pass of it."""


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk in a search: the ``number``-th that it returned, from 1."""

    evidence: Evidence
    number: int
    retrieved: EvidenceRetrieved
    graded: EvidenceGraded | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What an answer rests on: the searches that its writer ``read``, in the order of the parts.

    ``found`` has each chunk as the writer read it, else as it was found last. ``written`` is null where no answer was
    written, and ``let_in`` is the rule by which a search was read that its own decision would not have answered from.
    """

    written: AnswerWritten | None
    grades: Mapping[Key, EvidenceGraded]
    read: tuple[Key, ...]
    found: Mapping[str, Place]
    let_in: Mapping[Key, str]


def basis(facts: Sequence[Fact]) -> Basis:
    """What the answer of a run rests on, if it has one. Linear in the facts and their evidence."""
    passes = {(f.part, f.pass_number): f for f in facts if isinstance(f, EvidenceRetrieved)}
    grades = {(f.part, f.pass_number): f for f in facts if isinstance(f, EvidenceGraded)}
    written = next((fact for fact in reversed(facts) if isinstance(fact, AnswerWritten)), None)
    went_on = _went_on(facts) if written and written.outcome in {"answer", "partial"} else {}
    read = tuple(key for key in went_on if key in passes)
    found: dict[str, Place] = {}
    # Of several searches that found a chunk, the first one that was read counts, else the last one.
    for key in (*(key for key in passes if key not in read), *reversed(read)):
        for number, evidence in reversed(list(enumerate(passes[key].evidence, start=1))):
            found[evidence.chunk_id] = Place(evidence, number, passes[key], grades.get(key))
    let_in = {
        key: rule for key, rule in went_on.items() if key in grades and grades[key].route != "answer" and rule
    }
    return Basis(written=written, grades=grades, read=read, found=found, let_in=let_in)


def _went_on(facts: Sequence[Fact]) -> dict[Key, str]:
    """The searches that the last decision let go on, each with the rule of that decision."""
    latest: dict[int, EvidenceGraded] = {}
    last: PartsJoined | BudgetExhausted | None = None
    for fact in facts:
        match fact:
            case EvidenceGraded():
                latest[fact.part] = fact
            case EvidenceRetrieved():
                last = None
            case PartsJoined() | BudgetExhausted():
                last = fact
            case RunResumed() if any(question.part == 0 for question in fact.questions):
                latest = {part: graded for part, graded in latest.items() if part == 0}
    match last:
        case BudgetExhausted():  # then what says at least something has to do
            parts = [part for part, graded in sorted(latest.items()) if _says_something(graded)]
        case PartsJoined():
            parts = sorted({origin.part for origin in last.origins})
        case _:
            parts = [0]
    return {
        (part, graded.kept_pass or graded.pass_number): (last or graded).resolved_by
        for part in parts
        if (graded := latest.get(part))
    }


def _says_something(graded: EvidenceGraded) -> bool:
    return graded.grade.answerability != "none" and graded.grade.relevance != "none"
