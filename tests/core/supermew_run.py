"""Runs a vector's question through the real handlers, with its scripted retrieval and models and without a bus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clew_schema.base import Message
from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import (
    Fact,
    Mode,
    PartQuestion,
    QueryRewritten,
    QuestionAsked,
    QuestionPlanned,
    RunPaused,
)
from clew_schema.grading import GradingRequest, GradingResponse
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.core import run as runs
from clew_services.core.answer import Draft
from clew_services.core.complexity import PlanReply
from clew_services.core.resuming import Snapshot
from clew_services.core.rewriting import RewriteReply
from clew_services.core.run import Run
from clew_services.errors import ModelRefused
from clew_services.handlers.answering import Answering
from clew_services.handlers.document_rag import FollowRoute, PlanRetrieval
from clew_services.handlers.grading import GradeEvidence
from clew_services.handlers.pausing import Pausing
from clew_services.ports import Emit, Found, Record, Search, Ticket
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.outcome import Outcome
from clew_translators import bus
from clew_translators.ragtrace_facts import project, retrieval_of
from tests.core import supermew


@dataclass
class Script:
    """What retrieval and models say in one vector, and what they were asked: every port that the handlers have."""

    given: dict[str, Any]
    calls: list[str] = field(default_factory=list)
    grades: int = 0
    name: str = "scripted"
    prompt_version: str = "scripted"
    echoes: bool = False

    async def retrieve(
        self, collection: str, search: Search, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> Found:
        del collection, doc_limit, fetch_limit
        query = search.question
        self.calls.append(f"retrieve:{query}")
        found = self.given["retrieval"]
        docs = found[query] if query in found else found["*"]
        figures = self.given.get("retrieval_meta", {}).get(query) or supermew.figures(len(docs))
        return Found(evidence=tuple(map(supermew.evidence, docs)), retrieval=retrieval_of(figures))

    async def plan(self, question: str) -> PlanReply:
        del question
        if self.given.get("planner_output") is None:
            raise ModelRefused("no model plans questions")
        self.calls.append("planner")
        return PlanReply.model_validate(self.given["planner_output"])

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        del evidence
        outputs = self.given.get("grader_outputs")
        if outputs is None:
            raise ModelRefused("no model grades evidence")
        self.calls.append("grader")
        self.grades += 1
        return Grade.model_validate(
            outputs[question] if isinstance(outputs, dict) else outputs[self.grades - 1]
        )

    async def rewrite(self, question: str, evidence: Sequence[Evidence]) -> RewriteReply:
        del evidence
        self.calls.append(f"rewrite:{question}")
        output = self.given.get("rewrite_output", "raise")
        if output == "raise":
            raise ModelRefused("no model rewrites questions")
        fields = {name: output[name] for name in ("step_back_question", "hyde_document")}
        return RewriteReply.model_validate({"method": output["rewrite_method"]} | fields)

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        del question, evidence, emit, gaps, assumptions
        return Draft(text="答案。[1]")


@dataclass(frozen=True)
class Ran:
    """A run's facts so far. ``part`` is whose state is looked at."""

    question: str
    facts: tuple[Fact, ...] = ()
    part: int = 0
    response: DocumentRagResponse | None = None

    @property
    def run(self) -> Run:
        return runs.read(self.facts, self.question)

    @property
    def raw_trace(self) -> dict[str, Any]:
        """The trace as strict mode holds it before it is normalised: it may have nulls and ``rewrite_count``."""
        return project(self.facts).told.traces.get(self.part) or {}

    def until(self, kind: type[Fact], number: int = 1) -> Ran:
        """The run when its ``number``-th fact of ``kind`` (of the part that is looked at) was established."""
        count = 0
        for place, fact in enumerate(self.facts, 1):
            count += isinstance(fact, kind) and getattr(fact, "part", self.part) == self.part
            if count == number:
                return Ran(self.question, self.facts[:place], self.part)
        raise AssertionError(f"{kind} happened {count} times")


@dataclass
class Steps:
    """The three handlers of the evidence pipeline, on ``script``."""

    script: Script
    mode: Mode = "strict"
    rewrites: int = 1

    def __post_init__(self) -> None:
        script = self.script
        self.ledger = MemoryLedger()
        pausing = Pausing(tickets=self.ledger, retriever=script, clock=SystemClock())
        answering = Answering(writer=script, embedder=HashingEmbedder())
        self.plan = PlanRetrieval(planner=script, retriever=script, pausing=pausing, mode=self.mode)
        self.grade = GradeEvidence(script)
        self.follow = FollowRoute(
            rewriter=script,
            retriever=script,
            answering=answering,
            pausing=pausing,
            rewrites=self.rewrites,
        )

    async def to_the_end(self, query: DocumentRagQuery) -> Ran:
        """Hand each message to its handler until the caller is answered."""
        asked = QuestionAsked(mechanism="document-rag", query=query.query)
        facts: tuple[Fact, ...] = () if query.ticket else (asked,)
        message: Message = query
        while not isinstance(message, DocumentRagResponse):
            outcome = await self.handle(message)
            if isinstance(outcome.run, GradingResponse):
                facts = outcome.run.trail
                query = outcome.run.query
            facts = (*facts, *outcome.facts)
            (send,) = outcome.send
            message = send.body
            if isinstance(message, GradingRequest | GradingResponse):
                message = message.model_copy(update={"trail": facts})
        return Ran(query.query, facts, response=message)

    async def handle(self, message: Message) -> Outcome:
        match message:
            case DocumentRagQuery():
                return await self.plan(message)
            case GradingRequest():
                return await self.grade(message)
            case GradingResponse():
                return await self.follow(message, _silent)
            case _:
                raise AssertionError(message)

    async def ask(self, question: str) -> Ran:
        return await self.to_the_end(DocumentRagQuery(query=question, session_id="s", collection="c"))

    async def answer(self, record: dict[str, Any], answer: str) -> Ran:
        """Go on with a run that rests as SuperMew's snapshot ``record`` says."""
        rest = resting(Snapshot.model_validate(record), self.mode)
        ticket = Ticket(
            ticket_id="t",
            session_id="s",
            collection="c",
            question=rest.query.query,
            prompt="?",
            route=record["route"],
            status=record["retrieval_status"],
            opened_at=0.0,
            expires_at=float(2**40),
            run=bus.encode(rest),
        )
        opened = Record(step="document-rag.answer", message_id="m", outputs=(), recorded_at=0.0)
        await self.ledger.record(opened, opens=ticket)
        return await self.to_the_end(
            DocumentRagQuery(ticket="t", answer=answer, session_id="s", collection="c")
        )


def resting(snapshot: Snapshot, mode: Mode) -> GradingResponse:
    """The message in which a run rests that SuperMew knows by ``snapshot``: with the facts that make it so."""
    parts = tuple(snapshot.sub_questions)
    planned = QuestionPlanned(
        mode=mode,
        complexity=snapshot.complexity or "simple",
        reason=snapshot.complexity_reason or "",
        parts=parts or None,
        resolved_by="F07-simple-marker",
    )
    spent = [
        QueryRewritten(method="hyde", query="?", text="?", rewrite_count=count)
        for count in range(1, snapshot.rewrite_count + 1)
    ]
    paused = RunPaused.model_validate(
        {"ticket": "t", "prompt": "?", "route": snapshot.route, "status": snapshot.retrieval_status}
    ).model_copy(
        update={
            "questions": tuple(
                PartQuestion(part=part, question=question) for part, question in enumerate(parts, 1)
            )
            or (PartQuestion(question=snapshot.question),)
        }
    )
    asked = QuestionAsked(mechanism="document-rag", query=snapshot.question)
    query = DocumentRagQuery(query=snapshot.question, session_id="s", collection="c")
    return GradingResponse(
        session_id="s", collection="c", query=query, trail=(asked, planned, *spent, paused)
    )


async def _silent(text: str) -> None:
    del text
