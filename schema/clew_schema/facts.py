"""Facts: what a step decided, as frozen values. A trace is the facts of a run, told in some vocabulary.

A handler returns new facts; the runtime stamps them, adds them to the trail that travels in
the run's messages, and publishes them as triples. Nothing is explained that was not decided.
"""

from typing import Annotated, Literal

from pydantic import Field

from clew_schema.base import Items, Message
from clew_schema.evidence import Citation, Evidence, Grade, Retrieval, RetrievalStatus, Route

Mechanism = Literal["document-rag", "graph-rag", "agent"]
Outcome = Literal["answer", "partial", "no_knowledge", "needs_clarification", "needs_scope_selection"]
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


class EvidenceRetrieved(Stamp):
    """One retrieval returned ``evidence``, best first. ``part`` 0 is the whole question."""

    kind: Literal["evidence_retrieved"] = "evidence_retrieved"
    part: int = 0
    pass_number: int = 1
    stage: Literal["initial", "rewritten", "hitl_targeted_retrieval"] = "initial"
    query: str
    evidence: Items[Evidence] = ()
    retrieval: Retrieval = Retrieval()


class EvidenceGraded(Stamp):
    """The evidence of one pass was graded and a route chosen; ``resolved_by`` names the rule that chose it."""

    kind: Literal["evidence_graded"] = "evidence_graded"
    part: int = 0
    pass_number: int = 1
    grade: Grade
    route: Route
    status: RetrievalStatus
    resolved_by: str
    grader: str = ""


class AnswerWritten(Stamp):
    """The run ended with this text, or with the statement that nothing reliable is known."""

    kind: Literal["answer_written"] = "answer_written"
    outcome: Outcome
    text: str
    citations: Items[Citation] = ()
    writer: str = ""
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
    | EvidenceRetrieved
    | EvidenceGraded
    | AnswerWritten
    | ToolChosen
    | ToolObserved
    | Concluded
    | RunFailed,
    Field(discriminator="kind"),
]
