"""Grade the evidence for a question, and choose by rule what happens next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.facts import EvidenceGraded, EvidenceRetrieved
from clew_schema.grading import GradingResponse
from clew_services.core.routing import MAX_REWRITES, NO_EVIDENCE, resolve
from clew_services.core.trail import latest
from clew_services.runtime.outcome import Outcome, Send

if TYPE_CHECKING:
    from clew_schema.grading import GradingRequest
    from clew_services.ports import Grader


@dataclass(frozen=True, slots=True)
class GradeEvidence:
    """Bound to ``grading-request``; sends one ``GradingResponse``."""

    grader: Grader
    rewrites_used: int = MAX_REWRITES  # until queries are rewritten, the budget counts as spent

    async def __call__(self, asked: GradingRequest) -> Outcome:
        """Grade the newest retrieval."""
        found = latest(asked.trail, EvidenceRetrieved)
        question = asked.query.query
        grade = await self.grader.grade(question, found.evidence) if found.evidence else NO_EVIDENCE
        decision = resolve(
            evidence_count=len(found.evidence),
            grade=grade,
            rewrite_count=self.rewrites_used,
            is_part=found.part > 0,
        )
        graded = EvidenceGraded(
            part=found.part,
            pass_number=found.pass_number,
            grade=grade,
            route=decision.route,
            status=decision.status,
            resolved_by=decision.rule,
            grader=self.grader.name,
        )
        response = GradingResponse(
            session_id=asked.session_id, collection=asked.collection, query=asked.query
        )
        return Outcome(send=(Send(topics.GRADING_RESPONSE, response),), facts=(graded,))
