"""Facts: what a step decided, as frozen values. A trace is the facts of a run, told in some vocabulary.

A handler returns new facts; the runtime stamps them, adds them to the trail that travels in
the run's messages, and publishes them as triples. Nothing is explained that was not decided.
"""

from typing import Annotated, Literal

from pydantic import Field

from clew_schema.base import Items, Message
from clew_schema.evidence import (
    Answerability,
    Citation,
    CitationCheck,
    Evidence,
    Grade,
    Relevance,
    Retrieval,
    RetrievalStatus,
    Route,
)

Mechanism = Literal["document-rag", "graph-rag", "agent"]
Mode = Literal["strict", "improved"]
Complexity = Literal["simple", "complex"]
RewriteMethod = Literal["step_back", "hyde"]
Stage = Literal["initial", "rewritten", "hitl_targeted_retrieval"]
Outcome = Literal[
    "answer", "partial", "no_knowledge", "needs_clarification", "needs_scope_selection", "cancelled"
]
TerminationReason = Literal["final-answer", "max-iterations", "error"]


class Stamp(Message):
    """When and by which step a fact was established. Times are UTC, ISO 8601, as the trace prints them."""

    step: str = ""
    started_at: str = ""
    ended_at: str = ""


class QuestionAsked(Stamp):
    """The run began."""

    kind: Literal["question_asked"] = "question_asked"
    mechanism: Mechanism
    query: str
    parent_uri: str = ""


class QuestionPlanned(Stamp):
    """It was decided how to work on the question, in which ``mode``, by which rule or planner.

    ``parts`` is null when nobody was asked for any (a rule knew), else the parts of a complex question, which
    are numbered from 1 everywhere else. ``dropped`` parts were too many.
    """

    kind: Literal["question_planned"] = "question_planned"
    mode: Mode = "improved"
    complexity: Complexity
    reason: str = ""
    parts: Items[str] | None = None
    dropped: int = 0
    resolved_by: str
    planner: str = ""
    prompt_version: str = ""


class EvidenceRetrieved(Stamp):
    """One retrieval returned ``evidence``, best first. ``part`` 0 is the whole question.

    ``query`` is what was searched for. Passes of a part are numbered from 1, across pauses too.
    """

    kind: Literal["evidence_retrieved"] = "evidence_retrieved"
    part: int = 0
    pass_number: int = 1
    stage: Stage = "initial"
    query: str
    evidence: Items[Evidence] = ()
    retrieval: Retrieval = Retrieval()


class EvidenceGraded(Stamp):
    """The evidence of one pass was graded and a route chosen; ``resolved_by`` names the rule that chose it.

    ``grade`` is the grader's own, its suggested route included; ``route`` is the decision. ``asks`` is what a
    person would be asked. ``kept_pass`` is the pass whose evidence goes on, when that is not this one: an
    earlier pass said more (0: this one). ``omitted`` pieces of evidence did not fit into the grader's
    budget, ``truncated`` ones were cut. ``failure`` is the type of the error that kept a part from being
    graded (``""``: it was).
    """

    kind: Literal["evidence_graded"] = "evidence_graded"
    part: int = 0
    pass_number: int = 1
    grade: Grade
    route: Route
    status: RetrievalStatus
    resolved_by: str
    asks: str = ""
    kept_pass: int = 0
    grader: str = ""
    prompt_version: str = ""
    omitted: int = 0
    truncated: int = 0
    failure: str = ""


class QueryRewritten(Stamp):
    """Another way to ask was found; pass ``pass_number`` searches with it. ``query`` is the question with ``text``.

    ``rewrite_count`` is how many rewrites of the run's budget are spent now.
    """

    kind: Literal["query_rewritten"] = "query_rewritten"
    part: int = 0
    pass_number: int = 2
    method: RewriteMethod
    query: str
    text: str
    rewrite_count: int = 1
    rewriter: str = ""
    prompt_version: str = ""


class Origin(Message):
    """Where a piece of joined evidence was first seen: the part, and its place there, both from 1."""

    part: int
    place: int


class Gap(Message):
    """A planned part that the answer does not cover, or not wholly: ``code`` is its status or an error's type."""

    part: int
    question: str
    code: str


class PartsJoined(Stamp):
    """The parts became one. ``origins`` lists the joined evidence in its order, each piece at its first place.

    ``merged_count`` is how much accepted evidence there was before duplicates were removed.
    """

    kind: Literal["parts_joined"] = "parts_joined"
    origins: Items[Origin] = ()
    merged_count: int = 0
    route: Route
    status: RetrievalStatus
    relevance: Relevance
    answerability: Answerability
    resolved_by: str
    asks: str = ""
    options: Items[str] = ()
    gaps: Items[Gap] = ()


class BudgetExhausted(Stamp):
    """The run may not do again what its route asks for: ``rewrites`` of the query, or ``rounds`` of questions."""

    kind: Literal["budget_exhausted"] = "budget_exhausted"
    budget: Literal["rewrites", "rounds"]
    spent: int
    route: Route
    status: RetrievalStatus
    resolved_by: str


class PartQuestion(Message):
    """A part's number (0: the whole question) and the question that is asked for it."""

    part: int = 0
    question: str


class RunPaused(Stamp):
    """The run waits for a person, who answers by naming ``ticket``. ``round`` counts from 1.

    ``questions`` are those that wait: of the whole, or of each part that does.
    """

    kind: Literal["run_paused"] = "run_paused"
    ticket: str
    round: int = 1
    route: Route
    status: RetrievalStatus
    prompt: str
    options: Items[str] = ()
    questions: Items[PartQuestion] = ()
    expires_at: str = ""


class RunResumed(Stamp):
    """A person answered ``ticket``, verbatim in ``answer``; ``questions`` are what that made of those that waited."""

    kind: Literal["run_resumed"] = "run_resumed"
    ticket: str
    answer: str
    from_route: Route
    from_status: RetrievalStatus
    questions: Items[PartQuestion] = ()


class TicketCancelled(Stamp):
    """A person withdrew the question that ``ticket`` waits for."""

    kind: Literal["ticket_cancelled"] = "ticket_cancelled"
    ticket: str


class AnswerWritten(Stamp):
    """The run ended with this text, or with the statement that nothing reliable is known.

    ``checks`` holds a verdict for each citation of each sentence, ``coverage`` the share of sentences that a
    citation supports (null: nothing was checked). ``gaps`` were told to the writer, to be disclosed.
    """

    kind: Literal["answer_written"] = "answer_written"
    outcome: Outcome
    text: str
    citations: Items[Citation] = ()
    checks: Items[CitationCheck] = ()
    coverage: float | None = None
    gaps: Items[str] = ()
    omitted: int = 0
    truncated: int = 0
    writer: str = ""
    prompt_version: str = ""
    model: str | None = None
    in_token: int | None = None
    out_token: int | None = None


class ToolChosen(Stamp):
    """The agent thought, and chose to act. ``number`` counts iterations from 1."""

    kind: Literal["tool_chosen"] = "tool_chosen"
    number: int
    thought: str
    action: str
    arguments: dict[str, str] = {}
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class ToolObserved(Stamp):
    """What the tool of iteration ``number`` said; ``trace_uri`` is the tool's own trace, if it has one."""

    kind: Literal["tool_observed"] = "tool_observed"
    number: int
    observation: str
    failed: bool = False
    trace_uri: str = ""


class Concluded(Stamp):
    """The agent ended. ``after`` is the number of iterations before the conclusion."""

    kind: Literal["concluded"] = "concluded"
    answer: str
    after: int
    reason: TerminationReason = "final-answer"
    thought: str = ""


class RunFailed(Stamp):
    """The run ended without an answer."""

    kind: Literal["run_failed"] = "run_failed"
    mechanism: Mechanism
    error_type: str
    message: str


Fact = Annotated[
    QuestionAsked
    | QuestionPlanned
    | EvidenceRetrieved
    | EvidenceGraded
    | QueryRewritten
    | PartsJoined
    | BudgetExhausted
    | RunPaused
    | RunResumed
    | TicketCancelled
    | AnswerWritten
    | ToolChosen
    | ToolObserved
    | Concluded
    | RunFailed,
    Field(discriminator="kind"),
]
