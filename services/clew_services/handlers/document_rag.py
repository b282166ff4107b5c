"""Document-RAG: look a question up; once its evidence is graded, answer it or say why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.facts import AnswerWritten, EvidenceGraded, EvidenceRetrieved
from clew_schema.grading import GradingRequest
from clew_schema.retrieval import DocumentRagResponse
from clew_services.core.citing import resolve
from clew_services.core.questions import check_limits, check_question
from clew_services.core.routing import clarification
from clew_services.core.trail import latest
from clew_services.runtime.outcome import Outcome, Send

if TYPE_CHECKING:
    from clew_schema.facts import Outcome as RunOutcome
    from clew_schema.grading import GradingResponse
    from clew_schema.retrieval import DocumentRagQuery
    from clew_services.ports import Emit, Writer
    from clew_services.retrieve import Retriever

NO_KNOWLEDGE = "The documents hold no reliable information on this question."
"""Said when evidence was looked for, and none of it answers."""


@dataclass(frozen=True, slots=True)
class PlanRetrieval:
    """Bound to ``document-rag-request``; sends one ``GradingRequest``."""

    retriever: Retriever

    async def __call__(self, query: DocumentRagQuery) -> Outcome:
        """Retrieve for the question."""
        check_question(query.query)
        check_limits(query.doc_limit, query.fetch_limit)
        found = await self.retriever.retrieve(
            query.collection, query.query, doc_limit=query.doc_limit, fetch_limit=query.fetch_limit
        )
        request = GradingRequest(session_id=query.session_id, collection=query.collection, query=query)
        return Outcome(send=(Send(topics.GRADING_REQUEST, request),), facts=(found,))


@dataclass(frozen=True, slots=True)
class FollowRoute:
    """Bound to ``grading-response``; sends the final ``DocumentRagResponse``."""

    writer: Writer

    async def __call__(self, graded: GradingResponse, emit: Emit) -> Outcome:
        """Carry out the route that was chosen."""
        decided = latest(graded.trail, EvidenceGraded)
        if decided.route == "answer":
            fact = await self._answer(graded, decided, emit)
        elif decided.route in {"clarify", "scope_select"}:
            question = clarification(decided.grade, decided.route)
            asks: RunOutcome = (
                "needs_clarification" if decided.route == "clarify" else "needs_scope_selection"
            )
            fact = AnswerWritten(outcome=asks, text=question)
        else:
            fact = AnswerWritten(outcome="no_knowledge", text=NO_KNOWLEDGE)
        options = decided.grade.hitl_options if fact.outcome.startswith("needs_") else ()
        return Outcome(send=(_final(graded, fact, options),), facts=(fact,))

    async def _answer(self, graded: GradingResponse, decided: EvidenceGraded, emit: Emit) -> AnswerWritten:
        found = latest(graded.trail, EvidenceRetrieved)
        draft = await self.writer.write(graded.query.query, found.evidence, emit)
        return AnswerWritten(
            outcome="partial" if decided.status == "partial" else "answer",
            text=draft.text,
            citations=resolve(draft, found.evidence),
            writer=self.writer.name,
            model=draft.model,
            in_token=draft.in_token,
            out_token=draft.out_token,
        )


def _final(
    graded: GradingResponse, fact: AnswerWritten, options: tuple[str, ...]
) -> Send[DocumentRagResponse]:
    query = graded.query
    response = DocumentRagResponse(
        response=fact.text,
        message_type="end" if query.streaming else "",
        end_of_stream=True,
        end_of_session=True,
        outcome=fact.outcome,
        citations=fact.citations,
        options=options,
        model=fact.model,
        in_token=fact.in_token,
        out_token=fact.out_token,
        state=query.reply.state if query.reply else "",
    )
    return Send(topics.DOCUMENT_RAG_RESPONSE, response, to=query.reply)
