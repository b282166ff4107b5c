"""Facts of agents: iterations, plans, and what other agents found. See :mod:`clew_schema.facts`."""

from typing import Literal

from clew_schema.base import Items
from clew_schema.stamp import Stamp

TerminationReason = Literal["final-answer", "max-iterations", "error", "plan-complete", "subagents-complete"]


class ToolChosen(Stamp):
    """The agent thought, and chose to act. ``number`` counts iterations from 1.

    ``candidates`` are the tools that it could choose from. ``uses`` are the earlier iterations, the one right before
    included, whose observations this step builds on.
    """

    kind: Literal["tool_chosen"] = "tool_chosen"
    number: int
    thought: str
    action: str
    arguments: dict[str, str] = {}
    candidates: Items[str] = ()
    uses: Items[int] = ()
    prompt_version: str = ""
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class ToolObserved(Stamp):
    """What the tool of iteration ``number`` said; ``trace_uri`` is the tool's own trace, if it has one.

    ``trace_end`` is the entity with which that trace ended (``""``: it has none). ``error`` is what went wrong with a
    tool that ``failed``.
    """

    kind: Literal["tool_observed"] = "tool_observed"
    number: int
    observation: str
    failed: bool = False
    error: str = ""
    trace_uri: str = ""
    trace_end: str = ""


class Concluded(Stamp):
    """The agent ended. ``after`` is the number of iterations before the conclusion; ``uses`` as in ToolChosen."""

    kind: Literal["concluded"] = "concluded"
    answer: str
    after: int
    reason: TerminationReason = "final-answer"
    thought: str = ""
    uses: Items[int] = ()
    prompt_version: str = ""
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class PatternChosen(Stamp):
    """It was decided how the agent works: ``react``, ``plan-then-execute`` or ``supervisor``."""

    kind: Literal["pattern_chosen"] = "pattern_chosen"
    pattern: str
    task_type: str = ""


class PlanMade(Stamp):
    """The agent made a plan of ``steps``, which are numbered from 1 everywhere else."""

    kind: Literal["plan_made"] = "plan_made"
    steps: Items[str]
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class PlanStepDone(Stamp):
    """A step of the plan is done."""

    kind: Literal["plan_step_done"] = "plan_step_done"
    number: int
    goal: str
    result: str = ""
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class QuestionDecomposed(Stamp):
    """The question was given to other agents, each with one of ``goals``, numbered from 1 everywhere else."""

    kind: Literal["question_decomposed"] = "question_decomposed"
    goals: Items[str]
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class FindingReceived(Stamp):
    """One of these agents answered. ``trace_uri`` is the question of its run."""

    kind: Literal["finding_received"] = "finding_received"
    number: int
    goal: str
    answer: str = ""
    trace_uri: str = ""
