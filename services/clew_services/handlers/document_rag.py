"""Document-RAG: look a question up; once its evidence is graded, carry out the route that was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.facts import EvidenceRetrieved, QueryRewritten, QuestionPlanned
from clew_schema.grading import GradingRequest
from clew_schema.limits import MAX_REWRITES
from clew_services.core import complexity, rewriting
from clew_services.core.complexity import UNAVAILABLE
from clew_services.core.questions import check_limits, check_question
from clew_services.core.run import WHOLE, read
from clew_services.errors import ModelFailed, ModelRefused
from clew_services.handlers.concurrently import together
from clew_services.ports import Search
from clew_services.runtime.outcome import Outcome, Send

if TYPE_CHECKING:
    from clew_schema.facts import Mode
    from clew_schema.grading import GradingResponse
    from clew_schema.retrieval import DocumentRagQuery
    from clew_services.core.complexity import Plan
    from clew_services.core.run import Run
    from clew_services.handlers.answering import Answering
    from clew_services.handlers.pausing import Pausing
    from clew_services.ports import Emit, Planner, Retriever, Rewriter


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRetrieval:
    """Bound to ``document-rag-request``; sends one ``GradingRequest``, or the end of a ticket that is cancelled."""

    planner: Planner
    retriever: Retriever
    pausing: Pausing
    mode: Mode = "improved"

    async def __call__(self, query: DocumentRagQuery) -> Outcome:
        """Plan, and retrieve for the question or for each of its parts; or go on with a run that waited."""
        if query.ticket:
            return await self.pausing.go_on(query)
        check_question(query.query)
        check_limits(query.doc_limit, query.fetch_limit)
        planned = await self._plan(query.query)
        parts = dict(enumerate(planned.parts or (), 1)) or {WHOLE: query.query}
        found = await together(*(self._retrieve(query, part, question) for part, question in parts.items()))
        request = GradingRequest(session_id=query.session_id, collection=query.collection, query=query)
        return Outcome(send=(Send(topics.GRADING_REQUEST, request),), facts=(planned, *found))

    async def _plan(self, question: str) -> QuestionPlanned:
        plan = complexity.obvious(question)
        planner = "" if plan else self.planner.name
        plan = plan or await self._ask_planner(question)
        return QuestionPlanned(
            mode=self.mode,
            complexity=plan.complexity,
            reason=plan.reason,
            parts=plan.parts,
            dropped=plan.dropped,
            resolved_by=plan.rule,
            planner=planner,
            prompt_version=self.planner.prompt_version if planner else "",
        )

    async def _ask_planner(self, question: str) -> Plan:
        try:
            return complexity.plan(await self.planner.plan(question), self.mode)
        except (ModelFailed, ModelRefused):
            if self.mode == "strict":
                raise
            return UNAVAILABLE  # nothing is lost by it but a better way to look things up

    async def _retrieve(self, query: DocumentRagQuery, part: int, question: str) -> EvidenceRetrieved:
        found = await self.retriever.retrieve(
            query.collection,
            Search.of(question),
            doc_limit=query.doc_limit,
            fetch_limit=query.fetch_limit,
        )
        return EvidenceRetrieved(
            part=part,
            query=question,
            evidence=found.evidence,
            rejected=found.rejected,
            retrieval=found.retrieval,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowRoute:
    """Bound to ``grading-response``; sends the final response, or a ``GradingRequest`` after a rewrite.

    ``rewrites`` is the budget of one run, all its pauses together.
    """

    rewriter: Rewriter
    retriever: Retriever
    answering: Answering
    pausing: Pausing
    rewrites: int = MAX_REWRITES

    async def __call__(self, graded: GradingResponse, emit: Emit) -> Outcome:
        """Carry out the route that was chosen."""
        run = read(graded.trail, graded.query.query)
        verdict = run.verdict
        if verdict.pauses:
            return await self._pause(graded, run, emit)
        if verdict.route == "rewrite" and not (run.mode == "strict" and run.resumed):
            return await self._rewrite(graded, run, emit)
        # Strict, after a person's answer, nobody rewrites: what there is is answered from (quirk Q09).
        return await self.answering.end(graded, run, verdict, emit)

    async def _pause(self, graded: GradingResponse, run: Run, emit: Emit) -> Outcome:
        if run.mode == "improved" and run.rounds >= self.pausing.rounds:
            return await self.answering.without_asking(graded, run, emit)
        return self.pausing.pause(graded, run)

    async def _rewrite(self, graded: GradingResponse, run: Run, emit: Emit) -> Outcome:
        """Spend the rewrite, and look up what it says. Improved: a rewriter that refuses costs no evidence (Q14)."""
        if run.rewrite_count >= self.rewrites:
            return await self.answering.exhausted(graded, run, emit, "W01-rewrite-budget-exhausted")
        branch = run.branches[WHOLE]
        try:
            reply = await self.rewriter.rewrite(branch.question, branch.found)
        except ModelRefused:
            if run.mode == "strict":
                raise
            return await self.answering.exhausted(graded, run, emit, "I05-rewriter-unavailable")
        made = rewriting.compose(branch.question, reply)
        query = graded.query
        found = await self.retriever.retrieve(
            graded.collection,
            rewriting.search(branch.question, made, run.mode, echoes=self.rewriter.echoes),
            doc_limit=query.doc_limit,
            fetch_limit=query.fetch_limit,
        )
        rewritten = QueryRewritten(
            pass_number=branch.next_pass,
            method=made.method,
            query=made.query,
            text=made.text,
            rewrite_count=run.rewrite_count + 1,
            rewriter=self.rewriter.name,
            prompt_version=self.rewriter.prompt_version,
        )
        again = EvidenceRetrieved(
            pass_number=branch.next_pass,
            stage="rewritten",
            query=made.query,
            evidence=found.evidence,
            rejected=found.rejected,
            retrieval=found.retrieval,
        )
        request = GradingRequest(session_id=graded.session_id, collection=graded.collection, query=query)
        return Outcome(send=(Send(topics.GRADING_REQUEST, request),), facts=(rewritten, again))
