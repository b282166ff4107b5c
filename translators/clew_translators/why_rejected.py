"""Which chunks did not get into an answer, and what kept each of them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from clew_schema.facts import EvidenceRetrieved
from clew_translators.why_basis import basis

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew_schema.evidence import Evidence, Rejected
    from clew_schema.facts import AnswerWritten, EvidenceGraded, Fact
    from clew_translators.why_basis import Basis, Key

Stage = Literal["retrieval", "grading", "decision", "answer"]
"""What speaks against it: the search, the grader, what was decided of its whole pass, or who wrote the answer."""


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


def rejected(facts: Sequence[Fact], rests: Basis | None = None) -> tuple[Rejection, ...]:
    """Each chunk that was found and is not cited, once: with the last thing that kept it out, in the order of passes.

    What the writer read was kept out by nothing before, whatever other searches made of it. Nothing is rejected by an
    answer that was never written.
    """
    rests = rests or basis(facts)
    cited = {citation.chunk_id for citation in rests.written.citations} if rests.written else set()
    read = {name for name, place in rests.found.items() if _key(place.retrieved) in rests.read}
    names = {p.evidence.document_id: p.evidence.filename for p in rests.found.values() if p.evidence.filename}
    found: dict[str, Rejection] = {}
    for fact in facts:
        if not isinstance(fact, EvidenceRetrieved):
            continue
        was_read = _key(fact) in rests.read
        graded = rests.grades.get(_key(fact))
        here = {one.chunk_id for one in fact.evidence}
        for one in (
            *_left_out(fact, names),
            *_graded_out(fact, graded, rests),
            *_unused(fact, graded, rests),
        ):
            if one.chunk not in cited and (one.chunk not in read or (was_read and one.chunk in here)):
                found.pop(one.chunk, None)
                found[one.chunk] = one
    return tuple(found.values())


def _key(fact: EvidenceRetrieved) -> Key:
    return fact.part, fact.pass_number


def _left_out(fact: EvidenceRetrieved, names: Mapping[str, str]) -> Iterator[Rejection]:
    for one in fact.rejected:
        yield Rejection(
            chunk=one.chunk_id,
            stage="retrieval",
            reason=_why_left_out(one, fact),
            part=fact.part,
            pass_number=fact.pass_number,
            filename=names.get(one.document_id, ""),
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


def _graded_out(fact: EvidenceRetrieved, graded: EvidenceGraded | None, rests: Basis) -> Iterator[Rejection]:
    if graded is None:
        return
    # A grade of a single chunk keeps nothing from the writer, who reads the whole search or nothing of it.
    aside = f"; {_not_cited(rests.written)}" if rests.written and _key(fact) in rests.read else ""
    for opinion in graded.grade.chunks:
        if opinion.relevance == "none" and 1 <= opinion.place <= len(fact.evidence):
            who = graded.grader or "the grader"
            reason = f"{who} found it irrelevant{f': {opinion.reason}' if opinion.reason else ''}{aside}"
            yield _of(fact, fact.evidence[opinion.place - 1], "grading", reason)


def _unused(fact: EvidenceRetrieved, graded: EvidenceGraded | None, rests: Basis) -> Iterator[Rejection]:
    """What the grader has not said why: of a search that was read, or of one that a decision left out."""
    opinions = (
        {opinion.place for opinion in graded.grade.chunks if opinion.relevance == "none"} if graded else set()
    )
    read, written = _key(fact) in rests.read, rests.written
    for place, evidence in enumerate(fact.evidence, start=1):
        if place in opinions:
            continue
        if read and written is not None:
            yield _of(fact, evidence, "answer", _not_cited(written))
        elif graded and graded.kept_pass:
            reason = f"pass {graded.kept_pass} said more, so this pass was dropped ({graded.resolved_by})"
            yield _of(fact, evidence, "decision", reason)
        elif graded and graded.route != "answer":
            reason = f"its pass was decided to be {graded.status} ({graded.resolved_by})"
            yield _of(fact, evidence, "decision", reason)
        elif written is not None:
            yield _of(fact, evidence, "decision", "the answer was written from another search")


def _not_cited(written: AnswerWritten) -> str:
    if not written.omitted:
        return "it was read, and no sentence cites it"
    return f"no sentence cites it, and {written.omitted} of what was found did not fit into what the writer reads"


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
