"""The models and the retrieval of a run, as its trace recorded them: what they said then, they say again.

Nothing is asked and nothing is paid. Each part looks for the fact that holds its reply, by what it is asked about; one
that the run never asked raises NotRecorded, so a pipeline that decides otherwise than it did then is found out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    Concluded,
    EvidenceGraded,
    EvidenceRetrieved,
    QueryRewritten,
    QuestionPlanned,
    RunFailed,
    Stamp,
    ToolChosen,
    ToolObserved,
)
from clew_services.adapters.models.chat_recorded import NotRecorded
from clew_services.core.agent import Thought
from clew_services.core.answer import Draft, Quote
from clew_services.core.complexity import PlanReply
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import ModelFailed, ModelRefused, ModelReplyInvalid
from clew_services.ports import Completion, Found, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from clew_schema.agent import AgentStep
    from clew_schema.evidence import Evidence, Grade
    from clew_schema.facts import Fact
    from clew_services.core.agent import Tool
    from clew_services.ports import Emit, Prompt, Reply, Search

F = TypeVar("F", bound=Stamp)

COMPLETION = "text-completion"
"""The tool that asks a chat model."""


@dataclass
class Recording:
    """The facts of a run and of the runs of its tools. Each of them is given out once."""

    facts: Sequence[Fact]
    _taken: set[int] = field(default_factory=set)

    def take(self, kind: type[F], wanted: Callable[[F], bool] = lambda _: True) -> F | None:
        """The first fact of ``kind`` that was not given out and is ``wanted``; null when there is none."""
        for place, fact in enumerate(self.facts):
            if place not in self._taken and isinstance(fact, kind) and wanted(fact):
                self._taken.add(place)
                return fact
        return None

    def first(self, kind: type[F], wanted: Callable[[F], bool] = lambda _: True) -> F | None:
        """The first fact of ``kind`` that is ``wanted``, given out or not."""
        return next((fact for fact in self.facts if isinstance(fact, kind) and wanted(fact)), None)

    def missing(self, what: str) -> ModelRefused:
        """What to raise where ``what`` was asked and nothing is left of it: as a run failed then, it fails again.

        Which of a run's questions it was that failed is not told: a run that failed has this one without a reply.
        """
        failed = self.take(RunFailed)
        return RecordedFailure(failed) if failed else NotRecorded(f"{what} was recorded")


class RecordedFailure(ModelRefused):
    """What went wrong in the run, by its type and message; not tried again, however it was then."""

    def __init__(self, failed: RunFailed) -> None:
        super().__init__(failed.message)
        self.type = failed.error_type  # type: ignore[misc] # of this one alone


class RecordedPlanner:
    """A Planner."""

    def __init__(self, recording: Recording) -> None:
        planned = recording.first(QuestionPlanned, _was_asked)
        self.name = planned.planner if planned else ""
        self.prompt_version = planned.prompt_version if planned else ""
        self._recording = recording

    async def plan(self, question: str) -> PlanReply:
        """As it was said. A planner that was out of order is so again."""
        planned = self._recording.take(QuestionPlanned, _was_asked)
        if planned is None:
            raise self._recording.missing(f"no plan of {question!r}")
        if planned.resolved_by.startswith("P05"):
            raise ModelFailed("the planner did not answer then")
        parts = (*(planned.parts or ()), *("(dropped)",) * planned.dropped)
        return PlanReply(
            complexity="complex" if planned.resolved_by.startswith("P03") else planned.complexity,
            reason=planned.reason,
            sub_questions=(question,) if planned.resolved_by.startswith("P03") else parts,
        )


def _was_asked(planned: QuestionPlanned) -> bool:
    """Whether a planner made this plan: of an obvious question nobody was asked."""
    return bool(planned.planner)


class RecordedRetriever:
    """A Retriever: by what was searched for."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    async def retrieve(
        self, collection: str, search: Search, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> Found:
        """What this search found."""
        del collection, doc_limit, fetch_limit
        found = self._recording.take(EvidenceRetrieved, lambda fact: fact.query == search.question)
        if found is None:
            raise self._recording.missing(f"no search for {search.question!r}")
        return Found(evidence=found.evidence, rejected=found.rejected, retrieval=found.retrieval)


class RecordedGrader:
    """A Grader: by the question and the chunks that it is given."""

    def __init__(self, recording: Recording) -> None:
        named = recording.first(EvidenceGraded, lambda fact: bool(fact.grader))
        self.name = named.grader if named else ""
        self.prompt_version = named.prompt_version if named else ""
        self._recording = recording
        # By the grade itself: an agent's tools have runs of their own, whose passes have the same numbers.
        self._passes: dict[int, EvidenceRetrieved] = {}
        latest: dict[tuple[int, int], EvidenceRetrieved] = {}
        for fact in recording.facts:
            if isinstance(fact, EvidenceRetrieved):
                latest[fact.part, fact.pass_number] = fact
            elif isinstance(fact, EvidenceGraded) and (found := latest.get((fact.part, fact.pass_number))):
                self._passes[id(fact)] = found

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """What was thought of this evidence."""
        chunks = [one.chunk_id for one in evidence]

        def is_about(fact: EvidenceGraded, *, asked: bool) -> bool:
            found = self._passes.get(id(fact))
            if found is None or (not fact.grader and not fact.failure):
                return False
            left = iter([one.chunk_id for one in found.evidence])
            # What did not fit into the grader's prompt is left out, also in the middle.
            same = all(chunk in left for chunk in chunks)
            return same and (not asked or found.query.strip().startswith(question.strip()))

        graded = self._recording.take(EvidenceGraded, lambda fact: is_about(fact, asked=True))
        graded = graded or self._recording.take(EvidenceGraded, lambda fact: is_about(fact, asked=False))
        if graded is None:
            raise self._recording.missing(f"no grade of these {len(chunks)} chunks for {question!r}")
        if graded.failure:
            refused = ModelReplyInvalid("the grader's reply was refused then")
            refused.type = graded.failure  # type: ignore[misc] # of this one alone: as it failed then
            raise refused
        return graded.grade


class RecordedRewriter:
    """A Rewriter. ``echoes`` does not matter: its search is recorded too."""

    echoes = False

    def __init__(self, recording: Recording) -> None:
        rewritten = recording.first(QueryRewritten)
        self.name = rewritten.rewriter if rewritten else ""
        self.prompt_version = rewritten.prompt_version if rewritten else ""
        self._recording = recording

    async def rewrite(self, question: str, evidence: Sequence[Evidence]) -> RewriteReply:
        """As it was said. A rewriter that refused does so again."""
        del evidence
        rewritten = self._recording.take(Stamp, _is_reply)
        if isinstance(rewritten, BudgetExhausted):
            raise ModelRefused("the rewriter refused then")
        if not isinstance(rewritten, QueryRewritten):
            raise self._recording.missing(f"no rewrite of {question!r}")
        step_back = rewritten.text if rewritten.method == "step_back" else ""
        hyde = rewritten.text if rewritten.method == "hyde" else ""
        return RewriteReply(method=rewritten.method, step_back_question=step_back, hyde_document=hyde)


def _is_reply(fact: Stamp) -> bool:
    """Whether a rewriter said this: a rewrite, or that it does not want to."""
    refused = isinstance(fact, BudgetExhausted) and fact.resolved_by.startswith("I05")
    return refused or isinstance(fact, QueryRewritten)


class RecordedWriter:
    """A Writer. Quotes are where the citations say."""

    def __init__(self, recording: Recording) -> None:
        named = next((f for f in recording.facts if isinstance(f, AnswerWritten) and f.writer), None)
        self.name = named.writer if named else ""
        self.prompt_version = named.prompt_version if named else ""
        self._recording = recording

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        """The answer as it was written. Raises NotRecorded for evidence that lies elsewhere than it did."""
        del gaps, assumptions
        written = self._recording.take(AnswerWritten, lambda fact: bool(fact.writer))
        if written is None:
            raise self._recording.missing(f"no answer to {question!r}")
        await emit(written.text)
        quotes = []
        for citation in written.citations:
            source = evidence[citation.number - 1] if citation.number <= len(evidence) else None
            if source is None or source.chunk_id != citation.chunk_id:
                raise NotRecorded(f"[{citation.number}] stood for {citation.chunk_id} then, and does not now")
            start = citation.start - source.start
            quotes.append(Quote(number=citation.number, start=start, end=start + len(citation.quote)))
        return Draft(
            text=written.text,
            quotes=tuple(quotes),
            model=written.model,
            in_token=written.in_token,
            out_token=written.out_token,
        )


class RecordedThinker:
    """A Thinker: by how far the agent is."""

    def __init__(self, recording: Recording) -> None:
        named = next((f for f in recording.facts if isinstance(f, ToolChosen | Concluded)), None)
        self.name = (named.model or "") if named else ""
        self.prompt_version = named.prompt_version if named else ""
        self._recording = recording

    async def think(
        self, question: str, history: Sequence[AgentStep], tools: Sequence[Tool], emit: Emit
    ) -> Thought:
        """As it was thought."""
        del tools
        number = len(history) + 1
        chosen = self._recording.take(ToolChosen, lambda fact: fact.number == number)
        ended = None if chosen else self._recording.take(Concluded, lambda fact: fact.after == number - 1)
        said = chosen or ended
        if said is None:
            raise self._recording.missing(f"no thought number {number} about {question!r}")
        await emit(said.thought)
        return Thought(
            thought=said.thought,
            action=chosen.action if chosen else "",
            arguments=chosen.arguments if chosen else {},
            final=ended.answer if ended else None,
            model=said.model,
            in_token=said.in_token,
            out_token=said.out_token,
        )


class RecordedCompletion:
    """The chat model behind the agent's tool: its observations, in their order. A Chat that completes and no more."""

    def __init__(self, recording: Recording) -> None:
        self.name = "recorded"
        chosen = {f.number for f in recording.facts if isinstance(f, ToolChosen) and f.action == COMPLETION}
        self._numbers = chosen
        self._recording = recording

    async def complete(self, prompt: Prompt) -> Completion:
        """What the tool said. One that failed does so again."""
        seen = self._recording.take(ToolObserved, lambda fact: fact.number in self._numbers)
        if seen is None:
            raise NotRecorded(f"no reply to the prompt {prompt.name!r} was recorded")
        if seen.failed:
            raise ModelFailed(seen.error or seen.observation.removeprefix("Error: "))
        return Completion(text=seen.observation, usage=Usage(model=self.name))

    def stream(self, prompt: Prompt) -> AsyncIterator[str | Usage]:
        """Never recorded."""
        raise NotRecorded(f"no stream for the prompt {prompt.name!r} was recorded")

    async def structured(self, prompt: Prompt, reply: type[Reply]) -> tuple[Reply, Usage]:
        """Never recorded: planners, graders and others have recordings of their own."""
        del reply
        raise NotRecorded(f"no structured reply to the prompt {prompt.name!r} was recorded")
