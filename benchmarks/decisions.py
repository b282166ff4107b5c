"""One document question with one rewrite, without a bus, a store or a model: what deciding and recording it costs.

Plan, grade, rewrite, grade, answer, as the handlers do it: each pass finds eight pieces of evidence of 600 characters,
the models of the script answer at once, and the answer is a sentence of its source in other words, with one citation.
No text is seen twice, so nothing that is remembered of a text helps. A question that is rewritten has no parts, so
nothing is joined.
"""
# ruff: noqa: ARG002 - a fake takes what its port hands it, used or not

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from clew_schema.base import Message
from clew_schema.evidence import Evidence, Grade, Retrieval
from clew_schema.facts import EvidenceRetrieved, Fact, QuestionAsked
from clew_schema.grading import GradingRequest, GradingResponse
from clew_schema.limits import GRADER_CHARACTERS, WRITER_CHARACTERS
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.core import candidates, citing, complexity, rewriting, verifying
from clew_services.core.answer import Draft
from clew_services.core.complexity import PlanReply
from clew_services.core.packing import pack
from clew_services.core.rewriting import RewriteReply
from clew_services.core.routing import RULES, resolve
from clew_services.core.run import WHOLE, read
from clew_services.errors import ModelRefused
from clew_services.handlers.answering import Answering
from clew_services.handlers.document_rag import FollowRoute, PlanRetrieval
from clew_services.handlers.grading import GradeEvidence
from clew_services.handlers.pausing import Pausing
from clew_services.ports import Emit, Found, Search
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.outcome import Outcome
from clew_translators.explain import tell

QUESTION = "What reduction does the gearbox of the second stage have?"
REPLY = RewriteReply(method="step_back", step_back_question="How are the gearboxes of the stages built?")
GRADES = (
    Grade(relevance="weak", answerability="none", route="rewrite", confidence=0.4, reason="another stage"),
    Grade(relevance="strong", answerability="sufficient", route="answer", confidence=0.9),
)
DRAFT = Draft(text="In the second stage, the gearbox assembly has a planetary reduction of five to one. [1]")
SESSION = "00000000-0000-4000-8000-000000000000"
SENTENCES = (
    "The gearbox assembly of the second stage uses a planetary reduction of five to one.",
    "Its bearings are greased for life and must not be opened before 12,000 hours of operation.",
    "The housing is cast in two halves, which eight bolts of size M10 hold together.",
    "A sensor beside the input shaft reports speed and temperature to the controller.",
    "Oil is changed every two years, or earlier when the analysis shows metal.",
    "Spare parts are ordered by the number on the plate below the inspection cover.",
    "Tighten the bolts crosswise, first to 20 and then to 45 newton metres.",
    "Noise above the usual level points to a worn planet wheel.",
)

_numbers = count(1)
T = TypeVar("T")


def evidence(passes: int = 2) -> tuple[tuple[Evidence, ...], ...]:
    """Eight pieces of 600 characters a pass, whose texts nobody has seen before."""
    return tuple(tuple(_piece(next(_numbers), rank) for rank in range(1, 9)) for _ in range(passes))


def _piece(number: int, rank: int) -> Evidence:
    order = SENTENCES[rank - 1 :] + SENTENCES[: rank - 1]
    text = " ".join((*order, *order))[: 600 - 12] + f" {number:011d}"
    return Evidence(
        chunk_id=f"urn:chunk:00000000-0000-4000-8000-{number:012d}",
        document_id="urn:document:00000000-0000-4000-8000-000000000000",
        version="v1",
        filename="handbook.pdf",
        file_type="application/pdf",
        page=rank,
        page_end=rank,
        start=600 * number,
        end=600 * number + len(text),
        ordinal=number,
        content_hash=f"{number:064x}",
        text=text,
        rank=rank,
        dense_rank=rank,
        dense_score=0.9 - rank / 100,
        fused_score=1 / (60 + rank),
    )


class Script:
    """Retrieval and models that answer at once; ``passes`` is what is found, ``GRADES`` what is thought of it."""

    name = prompt_version = "scripted"
    echoes = False

    def __init__(self, passes: Sequence[tuple[Evidence, ...]]) -> None:
        self._passes, self._grades = iter(passes), iter(GRADES)

    async def retrieve(
        self, collection: str, search: Search, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> Found:
        return Found(evidence=next(self._passes), retrieval=Retrieval(top_k=8, kept_count=8))

    async def plan(self, question: str) -> PlanReply:
        raise ModelRefused("a rule knows that the question is simple")

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        return next(self._grades)

    async def rewrite(self, question: str, evidence: Sequence[Evidence]) -> RewriteReply:
        return REPLY

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        return DRAFT


@dataclass(frozen=True, slots=True)
class Answered:
    """A run at its end: its facts, step by step, and its last message."""

    steps: tuple[tuple[Fact, ...], ...]
    response: DocumentRagResponse

    @property
    def trail(self) -> tuple[Fact, ...]:
        return tuple(fact for step in self.steps for fact in step)


class Steps:
    """The handlers of the pipeline on a script."""

    def __init__(self, passes: Sequence[tuple[Evidence, ...]]) -> None:
        script = Script(passes)
        pausing = Pausing(tickets=MemoryLedger(), retriever=script, clock=SystemClock())
        answering = Answering(writer=script, embedder=HashingEmbedder())
        self._plan = PlanRetrieval(planner=script, retriever=script, pausing=pausing)
        self._grade = GradeEvidence(script)
        self._follow = FollowRoute(
            rewriter=script, retriever=script, answering=answering, pausing=pausing, rewrites=1
        )

    def answer(self) -> Answered:
        """Hand each message to its handler until the caller is answered, RAGTrace and ``ext`` included."""
        query = DocumentRagQuery(query=QUESTION, session_id=SESSION, collection="bench")
        steps: list[tuple[Fact, ...]] = [(QuestionAsked(mechanism="document-rag", query=QUESTION),)]
        message: Message = query
        while not isinstance(message, DocumentRagResponse):
            outcome = finished(self._handle(message))
            steps.append(outcome.facts)
            message = outcome.send[0].body
            if isinstance(message, GradingRequest | GradingResponse):
                message = message.model_copy(update={"trail": tuple(f for step in steps for f in step)})
        return Answered(tuple(steps), message)

    async def _handle(self, message: Message) -> Outcome:
        match message:
            case DocumentRagQuery():
                return await self._plan(message)
            case GradingRequest():
                return await self._grade(message)
            case GradingResponse():
                return await self._follow(message, _silent)
            case _:
                raise AssertionError(message)


async def _silent(text: str) -> None:
    del text


def finished(work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, which waits for nothing, so no event loop is measured with it."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("something was waited for")


def decide(trail: Sequence[Fact], cited: tuple[Evidence, ...]) -> verifying.Verification:
    """The decisions of ``trail`` again, by the core's functions alone; the answer cites ``cited``."""
    complexity.obvious(QUESTION)
    for place, fact in enumerate(trail, 1):
        if isinstance(fact, EvidenceRetrieved):
            _graded(trail[:place], GRADES[fact.pass_number - 1])
    run = read(trail[:-1], QUESTION)
    packed = pack(run.verdict.evidence and cited, WRITER_CHARACTERS)
    citing.resolve(DRAFT, packed.evidence)
    return verifying.finish(verifying.begin(DRAFT.text, packed.evidence))


def _graded(trail: Sequence[Fact], grade: Grade) -> None:
    candidates.pool(8)
    run = read(trail, QUESTION)
    branch = run.branches[WHOLE]
    packed = pack(branch.found, GRADER_CHARACTERS)
    decision = resolve(
        evidence_count=len(packed.evidence),
        grade=grade,
        rewrite_count=run.rewrite_count,
        is_part=False,
        rules=RULES["improved"],
    )
    if decision.route == "rewrite":
        made = rewriting.compose(branch.question, REPLY)
        rewriting.search(branch.question, made, "improved")
        read(trail, QUESTION)  # the step that follows the route reads the run anew


def explain(answered: Answered) -> int:
    """The triples of every step as the bus gets them; how many bytes they are."""
    told = 0
    trail: tuple[Fact, ...] = ()
    for facts in answered.steps:
        batch = tell(facts, session_id=SESSION, collection="bench", mechanism="document-rag", trail=trail)
        told += len(batch.encode()) if batch else 0
        trail += facts
    return told


class _Sample(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    name: str
    score: float
    words: tuple[str, ...]
    rank: int = 0


def unit() -> int:
    """A fixed piece of work that nobody makes faster: Python, and pydantic on a model that is not ours."""
    counts: dict[str, int] = {}
    made = [_Sample(name=f"sample {n}", score=n / 7, words=("a", "b", str(n))) for n in range(40)]
    for each in made:
        moved = each.model_copy(update={"rank": len(counts)})
        for word in f"{moved.name} {' '.join(moved.words)}".split():
            counts[word] = counts.get(word, 0) + 1
    return len(sorted(counts.items(), key=lambda item: (-item[1], item[0]))) + len(made[0].model_dump_json())
