"""The end of a document question: an answer whose citations were verified, or the statement that nothing is known."""

from __future__ import annotations

from dataclasses import dataclass
from operator import mul
from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.facts import AnswerWritten, BudgetExhausted
from clew_schema.limits import WRITER_CHARACTERS
from clew_schema.retrieval import DocumentRagResponse
from clew_services.core import verifying
from clew_services.core.citing import resolve
from clew_services.core.packing import UNBOUNDED, pack
from clew_services.core.run import WHOLE, Verdict
from clew_services.errors import RetrievalFailed
from clew_services.handlers.concurrently import together
from clew_services.runtime.outcome import Outcome, Send
from clew_translators import ragtrace_ext
from clew_translators.uris import docrag_question_uri, docrag_synthesis_uri

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Claim, Evidence
    from clew_schema.facts import Fact
    from clew_schema.grading import GradingResponse
    from clew_services.core.run import Run
    from clew_services.core.verifying import Verification
    from clew_services.ports import Embedder, Emit, Writer

NO_KNOWLEDGE = "The documents hold no reliable information on this question."
NO_KNOWLEDGE_ZH = "知识库中没有找到可靠的相关信息，暂时无法基于知识库回答这个问题。"
"""Said when evidence was looked for, and none of it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Writes the answer and verifies its citations; the embedder is asked only where words alone do not decide."""

    writer: Writer
    embedder: Embedder
    budget: int = WRITER_CHARACTERS

    async def end(self, graded: GradingResponse, run: Run, verdict: Verdict, emit: Emit) -> Outcome:
        """Answer from the evidence of ``verdict``; without any, say so."""
        return _outcome(graded, await self._written(run, verdict, emit))

    async def without_asking(self, graded: GradingResponse, run: Run, emit: Emit) -> Outcome:
        """The run asked often enough: answer from what says at least something (quirk Q10)."""
        evidence = run.fallback
        spent = BudgetExhausted(
            budget="rounds",
            spent=run.rounds,
            route="answer" if evidence else "no_knowledge",
            status="partial" if evidence else "no_knowledge",
            resolved_by="I07-rounds-exhausted",
        )
        return await self._after(graded, run, spent, evidence, emit)

    async def exhausted(self, graded: GradingResponse, run: Run, emit: Emit, rule: str) -> Outcome:
        """A rewrite was asked for and there is none to be had: answer from what says something, improved."""
        evidence = run.fallback if run.mode == "improved" else ()
        spent = BudgetExhausted(
            budget="rewrites",
            spent=run.rewrite_count,
            route="answer" if evidence else "no_knowledge",
            status="partial" if evidence else "no_knowledge",
            resolved_by=rule,
        )
        return await self._after(graded, run, spent, evidence, emit)

    async def _after(
        self,
        graded: GradingResponse,
        run: Run,
        spent: BudgetExhausted,
        evidence: tuple[Evidence, ...],
        emit: Emit,
    ) -> Outcome:
        verdict = Verdict(
            route=spent.route,
            status=spent.status,
            resolved_by=spent.resolved_by,
            evidence=evidence,
            gaps=run.joined.gaps if run.joined else (),
        )
        return _outcome(graded, await self._written(run, verdict, emit), spent)

    async def _written(self, run: Run, verdict: Verdict, emit: Emit) -> AnswerWritten:
        if not verdict.evidence or verdict.route not in {"answer", "rewrite"}:
            return AnswerWritten(outcome="no_knowledge", text=_nothing_known(run.question))
        packed = pack(verdict.evidence, self.budget if run.mode == "improved" else UNBOUNDED)
        gaps = tuple(gap.question for gap in verdict.gaps) if run.mode == "improved" else ()
        draft = await self.writer.write(
            run.question, packed.evidence, emit, gaps=gaps, assumptions=_assumptions(run)
        )
        verified = await self._verify(draft.text, packed.evidence)
        return AnswerWritten(
            outcome="answer" if verdict.status == "answerable" else "partial",
            text=draft.text,
            citations=resolve(draft, packed.evidence),
            claims=verified.claims,
            checks=verified.checks,
            coverage=verified.coverage,
            gaps=gaps,
            omitted=packed.omitted,
            truncated=packed.truncated,
            writer=self.writer.name,
            prompt_version=self.writer.prompt_version,
            model=draft.model,
            in_token=draft.in_token,
            out_token=draft.out_token,
        )

    async def _verify(self, text: str, evidence: Sequence[Evidence]) -> Verification:
        """Words first; what they leave open is measured by cosines, unless the embedder is out of order."""
        first = verifying.begin(text, evidence)
        if not first.unsure:
            return verifying.finish(first)
        said = tuple(dict.fromkeys(pair.text for pair in first.unsure))
        cited = tuple(dict.fromkeys(pair.number for pair in first.unsure))
        try:
            vectors = dict(zip(said, await together(*map(self.embedder.query, said)), strict=True))
            passages = await self.embedder.passages([evidence[number - 1].text for number in cited])
        except RetrievalFailed:
            return verifying.finish(first)  # the answer stands; a check that failed costs no answer
        chunks = dict(zip(cited, passages, strict=True))
        cosines = {
            (pair.sentence, pair.number): _cosine(vectors[pair.text], chunks[pair.number])
            for pair in first.unsure
        }
        return verifying.finish(first, cosines, self.embedder.name)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Of two unit vectors."""
    return float(sum(map(mul, one, other)))


def _assumptions(run: Run) -> tuple[str, ...]:
    """What an answered question leaves open, though the evidence suffices (quirk Q04)."""
    branch = run.branches.get(WHOLE)
    if run.mode == "strict" or branch is None or branch.graded is None:
        return ()
    return branch.graded.grade.missing_slots


def _nothing_known(question: str) -> str:
    return NO_KNOWLEDGE_ZH if any("\u4e00" <= sign <= "\u9fff" for sign in question) else NO_KNOWLEDGE


def named_claims(claims: Sequence[Claim], session_id: str) -> tuple[Claim, ...]:
    """``claims`` with the names that the trace of the document run has for them, whoever is told and however."""
    answer = docrag_synthesis_uri(session_id)
    return tuple(claim.model_copy(update={"id": f"{answer}/claim/{claim.number}"}) for claim in claims)


def _outcome(graded: GradingResponse, written: AnswerWritten, *before: Fact) -> Outcome:
    facts = (*before, written)
    response = DocumentRagResponse(
        response=written.text,
        outcome=written.outcome,
        citations=written.citations,
        claims=named_claims(written.claims, graded.session_id),
        checks=written.checks,
        coverage=written.coverage,
        model=written.model,
        in_token=written.in_token,
        out_token=written.out_token,
    )
    final = Send(topics.DOCUMENT_RAG_RESPONSE, record(graded, response, facts), to=graded.query.reply)
    return Outcome(send=(final,), facts=facts)


def record(
    graded: GradingResponse, response: DocumentRagResponse, facts: tuple[Fact, ...]
) -> DocumentRagResponse:
    """``response`` as the last message of its run, with the record of all that led to it; ``facts`` are the newest."""
    query, session = graded.query, graded.session_id
    records = ragtrace_ext.records(
        (*graded.trail, *facts), session_id=session, question_uri=docrag_question_uri(session)
    )
    return response.model_copy(
        update={
            "message_type": "end" if query.streaming else "",
            "end_of_stream": True,
            "end_of_session": True,
            "rag_trace": records.rag_trace,
            "ext": records.ext,
            "state": query.reply.state if query.reply else "",
        }
    )
