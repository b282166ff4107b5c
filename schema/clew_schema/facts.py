"""Facts: what a step decided, as frozen values. A trace is the facts of a run, told in some vocabulary.

A handler returns new facts; the runtime stamps them, adds them to the trail that travels in
the run's messages, and publishes them as triples. Nothing is explained that was not decided.
"""

from typing import Annotated, Literal

from pydantic import Field

from clew_schema.agent_facts import (
    Concluded,
    FindingReceived,
    PatternChosen,
    PlanMade,
    PlanStepDone,
    QuestionDecomposed,
    TerminationReason,
    ToolChosen,
    ToolObserved,
)
from clew_schema.base import Items, Message
from clew_schema.evidence import (
    Answerability,
    Citation,
    CitationCheck,
    Claim,
    Evidence,
    Grade,
    Rejected,
    Relevance,
    Retrieval,
    RetrievalStatus,
    Route,
)
from clew_schema.graph_facts import EdgesRetrieved, EdgesSelected, QuestionGrounded, SelectedEdge
from clew_schema.pause_facts import PartQuestion, RunPaused, RunResumed, TicketCancelled
from clew_schema.stamp import Stamp

__all__ = [
    "AnswerWritten",
    "BudgetExhausted",
    "Complexity",
    "Concluded",
    "EdgesRetrieved",
    "EdgesSelected",
    "EvidenceGraded",
    "EvidenceRetrieved",
    "Fact",
    "FindingReceived",
    "Gap",
    "Mechanism",
    "Mode",
    "Origin",
    "Outcome",
    "PartQuestion",
    "PartsJoined",
    "PatternChosen",
    "PlanMade",
    "PlanStepDone",
    "QueryRewritten",
    "QuestionAsked",
    "QuestionDecomposed",
    "QuestionGrounded",
    "QuestionPlanned",
    "RewriteMethod",
    "RunFailed",
    "RunPaused",
    "RunResumed",
    "SelectedEdge",
    "Stage",
    "Stamp",
    "TerminationReason",
    "TicketCancelled",
    "ToolChosen",
    "ToolObserved",
]

Mechanism = Literal["document-rag", "graph-rag", "agent"]
Mode = Literal["strict", "improved"]
Complexity = Literal["simple", "complex"]
RewriteMethod = Literal["step_back", "hyde"]
Stage = Literal["initial", "rewritten", "hitl_targeted_retrieval"]
Outcome = Literal[
    "answer", "partial", "no_knowledge", "needs_clarification", "needs_scope_selection", "cancelled"
]


class QuestionAsked(Stamp):
    """The run began. ``person`` is who asked, as the request names them; ``traceparent`` as its properties have it.

    ``parent_uri`` is the step of another run that asked.
    """

    kind: Literal["question_asked"] = "question_asked"
    mechanism: Mechanism
    query: str
    parent_uri: str = ""
    person: str = ""
    traceparent: str = ""


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

    ``query`` is what was searched for. Passes of a part are numbered from 1, across pauses too. ``rejected`` is what
    was found and left out, and why.
    """

    kind: Literal["evidence_retrieved"] = "evidence_retrieved"
    part: int = 0
    pass_number: int = 1
    stage: Stage = "initial"
    query: str
    evidence: Items[Evidence] = ()
    rejected: Items[Rejected] = ()
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


class AnswerWritten(Stamp):
    """The run ended with this text, or with the statement that nothing reliable is known.

    ``claims`` are the sentences that state something, ``checks`` holds a verdict for each citation of each of them,
    ``coverage`` is the share of claims that a citation supports (null: nothing was checked). ``gaps`` were told to
    the writer, to be disclosed.
    """

    kind: Literal["answer_written"] = "answer_written"
    outcome: Outcome
    text: str
    citations: Items[Citation] = ()
    claims: Items[Claim] = ()
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


class RunFailed(Stamp):
    """The run ended without an answer. ``letter`` is the dead letter that keeps its message (``""``: none was kept)."""

    kind: Literal["run_failed"] = "run_failed"
    mechanism: Mechanism
    error_type: str
    message: str
    letter: str = ""
    attempt: int = 1


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
    | PatternChosen
    | PlanMade
    | PlanStepDone
    | QuestionDecomposed
    | FindingReceived
    | QuestionGrounded
    | EdgesRetrieved
    | EdgesSelected
    | RunFailed,
    Field(discriminator="kind"),
]
