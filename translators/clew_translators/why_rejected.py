"""Which chunks did not get into an answer, and what kept each of them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew_schema.facts import AnswerWritten, EvidenceGraded, EvidenceRetrieved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew_schema.evidence import Evidence, Rejected
    from clew_schema.facts import Fact

Stage = Literal["retrieval", "grading", "decision", "answer"]
"""Where it was left out: by the search, by the grader, with its whole pass, or by who wrote the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """A chunk that is not cited, and why. ``filename`` and ``text`` are empty where only its name was kept."""

    chunk: str
    stage: Stage
    reason: str
    part: int
    pass_number: int
    filename: str = ""
    page: int = 0
    text: str = ""


def rejected(facts: Sequence[Fact]) -> tuple[Rejection, ...]:
    """Each chunk that was found and is not cited, once: with the last thing that kept it out, in the order of passes.

    Nothing is rejected by an answer that was never written.
    """
    written = next((fact for fact in reversed(facts) if isinstance(fact, AnswerWritten)), None)
    cited = {citation.chunk_id for citation in written.citations} if written else set()
    grades = {(f.part, f.pass_number): f for f in facts if isinstance(f, EvidenceGraded)}
    found: dict[str, Rejection] = {}
    for fact in facts:
        if not isinstance(fact, EvidenceRetrieved):
            continue
        graded = grades.get((fact.part, fact.pass_number))
        for one in (*_left_out(fact), *_graded_out(fact, graded), *_unused(fact, graded, written)):
            if one.chunk not in cited:
                found.pop(one.chunk, None)
                found[one.chunk] = one
    return tuple(found.values())


def _left_out(fact: EvidenceRetrieved) -> Iterator[Rejection]:
    for one in fact.rejected:
        yield Rejection(
            chunk=one.chunk_id,
            stage="retrieval",
            reason=_why_left_out(one, fact),
            part=fact.part,
            pass_number=fact.pass_number,
            page=one.page,
        )


def _why_left_out(one: Rejected, fact: EvidenceRetrieved) -> str:
    match one.reason:
        case "below-threshold":
            rerank = fact.retrieval.rerank
            score = one.rerank_score if one.rerank_score is not None else one.fused_score
            shown = "" if score is None else f" {score:.3g}"
            return f"its score{shown} is below the threshold {rerank.minimum_score:g}"
        case "beyond-limit":
            return f"more than {fact.retrieval.top_k} were found, and others ranked higher"
        case "merged-into-parent":
            return f"its parent stands for it{f': {one.into}' if one.into else ''}"
        case "duplicate":
            return "the same text was found in another chunk"


def _graded_out(fact: EvidenceRetrieved, graded: EvidenceGraded | None) -> Iterator[Rejection]:
    if graded is None:
        return
    for opinion in graded.grade.chunks:
        if opinion.relevance == "none" and 1 <= opinion.place <= len(fact.evidence):
            who = graded.grader or "the grader"
            reason = f"{who} found it irrelevant{f': {opinion.reason}' if opinion.reason else ''}"
            yield _of(fact, fact.evidence[opinion.place - 1], "grading", reason)


def _unused(
    fact: EvidenceRetrieved, graded: EvidenceGraded | None, written: AnswerWritten | None
) -> Iterator[Rejection]:
    """What went on and is not cited, unless the grader has said why."""
    opinions = (
        {opinion.place for opinion in graded.grade.chunks if opinion.relevance == "none"} if graded else set()
    )
    for place, evidence in enumerate(fact.evidence, start=1):
        if place in opinions:
            continue
        if graded and graded.kept_pass:
            reason = f"pass {graded.kept_pass} said more, so this pass was dropped ({graded.resolved_by})"
            yield _of(fact, evidence, "decision", reason)
        elif graded and graded.route != "answer":
            reason = f"its pass was decided to be {graded.status} ({graded.resolved_by})"
            yield _of(fact, evidence, "decision", reason)
        elif written is not None:
            yield _of(fact, evidence, "answer", "it was read, and no sentence cites it")


def _of(fact: EvidenceRetrieved, evidence: Evidence, stage: Stage, reason: str) -> Rejection:
    return Rejection(
        chunk=evidence.chunk_id,
        stage=stage,
        reason=reason,
        part=fact.part,
        pass_number=fact.pass_number,
        filename=evidence.filename,
        page=evidence.page,
        text=evidence.text,
    )
