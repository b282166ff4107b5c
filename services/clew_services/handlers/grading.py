"""Grade the evidence of a question, or of each of its parts, and choose by rule what happens next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.evidence import Grade
from clew_schema.facts import EvidenceGraded, Origin, PartsJoined
from clew_schema.grading import GradingResponse
from clew_schema.limits import GRADER_CHARACTERS
from clew_services.core.packing import UNBOUNDED, pack
from clew_services.core.routing import NO_EVIDENCE, RULES, clarification, resolve
from clew_services.core.run import WHOLE, better, read
from clew_services.core.synthesis import synthesise
from clew_services.errors import ClewError, Defect
from clew_services.handlers.concurrently import raise_first, together
from clew_services.runtime.outcome import Outcome, Send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import ChunkGrade
    from clew_schema.facts import Fact
    from clew_schema.grading import GradingRequest
    from clew_services.core.run import Branch, Run
    from clew_services.ports import Grader


@dataclass(frozen=True, slots=True)
class GradeEvidence:
    """Bound to ``grading-request``; sends one ``GradingResponse``. What is not graded yet is graded, side by side."""

    grader: Grader
    budget: int = GRADER_CHARACTERS

    async def __call__(self, asked: GradingRequest) -> Outcome:
        """Grade the newest pass of the question, or of each part, and join the parts."""
        run = read(asked.trail, asked.query.query)
        graded = await self._graded(run)
        facts: tuple[Fact, ...] = graded
        if run.is_complex:
            facts = (*graded, join(read((*asked.trail, *graded), asked.query.query)))
        response = GradingResponse(
            session_id=asked.session_id, collection=asked.collection, query=asked.query
        )
        return Outcome(send=(Send(topics.GRADING_RESPONSE, response),), facts=facts)

    async def _graded(self, run: Run) -> tuple[EvidenceGraded, ...]:
        """Improved: a part whose grader says nonsense is a gap, unless it is so with every part (quirk Q14)."""
        branches = run.ungraded
        if run.mode == "strict" or not run.is_complex:
            return await together(*(self._grade(run, branch) for branch in branches))
        refused: dict[int, Defect] = {}

        async def tried(branch: Branch) -> EvidenceGraded:
            try:
                return await self._grade(run, branch)
            except Defect as error:
                refused[branch.part] = error
                return _failed(branch, error)

        graded = await together(*map(tried, branches))
        if len(refused) == len(branches):
            raise_first(refused.values())
        return graded

    async def _grade(self, run: Run, branch: Branch) -> EvidenceGraded:
        packed = pack(branch.found, self.budget if run.mode == "improved" else UNBOUNDED)
        asked = bool(packed.evidence)
        grade = await self.grader.grade(branch.question, packed.evidence) if asked else NO_EVIDENCE
        if grade.chunks:
            grade = grade.model_copy(update={"chunks": _placed(grade.chunks, packed.places)})
        return _decided(run, branch, grade).model_copy(
            update={
                "grader": self.grader.name if asked else "",
                "prompt_version": self.grader.prompt_version if asked else "",
                "omitted": packed.omitted,
                "truncated": packed.truncated,
            }
        )


def _placed(opinions: Sequence[ChunkGrade], places: Sequence[int]) -> tuple[ChunkGrade, ...]:
    """``opinions`` on what was packed, by its place in the pass; one for each piece, and none of what is not there."""
    known: dict[int, ChunkGrade] = {}
    for opinion in opinions:
        if 1 <= opinion.place <= len(places):
            place = places[opinion.place - 1]
            known.setdefault(place, opinion.model_copy(update={"place": place}))
    return tuple(opinion for _, opinion in sorted(known.items()))


def _decided(run: Run, branch: Branch, grade: Grade) -> EvidenceGraded:
    """What follows from ``grade``; improved, from that of the pass before if it said more (quirk Q07)."""
    earlier = branch.earlier if run.mode == "improved" else None
    kept = earlier if earlier and better(earlier.grade, grade) else None
    basis = kept.grade if kept else grade
    decision = resolve(
        evidence_count=len(branch.passes[kept.pass_number - 1].evidence if kept else branch.found),
        grade=basis,
        rewrite_count=run.rewrite_count,
        is_part=branch.part != WHOLE,
        rules=RULES[run.mode],
    )
    return EvidenceGraded(
        part=branch.part,
        pass_number=branch.next_pass - 1,
        grade=grade,
        route=decision.route,
        status=decision.status,
        resolved_by=decision.rule,
        asks=clarification(basis, decision.route, branch.question if run.mode == "improved" else None),
        kept_pass=kept.pass_number if kept else 0,
    )


def _failed(branch: Branch, error: ClewError) -> EvidenceGraded:
    """A part that could not be graded: nothing is claimed about it, and the answer says that it is not covered."""
    return EvidenceGraded(
        part=branch.part,
        pass_number=branch.next_pass - 1,
        grade=Grade(relevance="none", answerability="none", route="no_knowledge", reason=error.type),
        route="no_knowledge",
        status="no_knowledge",
        resolved_by="I06-part-failed",
        failure=error.type,
    )


def join(run: Run) -> PartsJoined:
    """The parts of ``run``, all graded, as one."""
    one = synthesise(run.results, run.mode)
    return PartsJoined(
        origins=_origins(one.origins),
        merged_count=one.merged_count,
        route=one.route,
        status=one.status,
        relevance=one.relevance,
        answerability=one.answerability,
        resolved_by=one.rule,
        asks=one.prompt,
        options=one.options,
        gaps=one.gaps,
    )


def _origins(places: Sequence[tuple[int, int]]) -> tuple[Origin, ...]:
    return tuple(Origin(part=part + 1, place=place + 1) for part, place in places)
