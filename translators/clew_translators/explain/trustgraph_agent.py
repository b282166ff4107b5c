"""What TrustGraph 2.11 says of an agent's entities, statement by statement and in its order (reference 3.2).

Every function tells one entity. All literals are plain, numbers as ``str()`` has them. What is null is left out, and so
is an empty document, reason or error; a count of 0 and an empty model's name are told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clew_translators import namespaces as ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clew_translators.explain.statements import Statements

LABEL_GOAL = 60
"""Characters of a goal that stand in a label."""


def session(
    say: Statements,
    session_uri: str,
    query: str,
    timestamp: str | None = None,
    parent_uri: str | None = None,
) -> None:
    """A question to an agent."""
    question(
        say,
        session_uri,
        ns.TG_AGENT_QUESTION,
        "Agent Question",
        query,
        timestamp=timestamp,
        parent_uri=parent_uri,
    )


def question(
    say: Statements,
    uri: str,
    type_: str,
    label: str,
    query: str,
    *,
    timestamp: str | None,
    parent_uri: str | None,
) -> None:
    """A question of any kind; ``parent_uri`` is the step of another run that asked."""
    say.about(uri, ns.PROV_ENTITY, ns.TG_QUESTION, type_)
    say.plain(ns.RDFS_LABEL, label)
    say.text(ns.PROV_STARTED_AT_TIME, timestamp or "")
    say.plain(ns.TG_QUERY, query)
    say.link(ns.PROV_WAS_DERIVED_FROM, parent_uri or "")


def pattern_decision(say: Statements, uri: str, session_uri: str, pattern: str, task_type: str = "") -> None:
    """How the agent works."""
    say.about(uri, ns.PROV_ENTITY, ns.TG_PATTERN_DECISION)
    say.plain(ns.RDFS_LABEL, f"Pattern: {pattern}")
    say.plain(ns.TG_PATTERN, pattern)
    say.link(ns.PROV_WAS_DERIVED_FROM, session_uri)
    say.text(ns.TG_TASK_TYPE, task_type)


def iteration(
    say: Statements,
    iteration_uri: str,
    question_uri: str | None = None,
    previous_uri: str | None = None,
    action: str = "",
    *,
    arguments: Mapping[str, Any] | None = None,
    thought_uri: str | None = None,
    thought_document_id: str | None = None,
    tool_candidates: Sequence[str] | None = None,
    step_number: int | None = None,
    llm_duration_ms: int | None = None,
    in_token: int | None = None,
    out_token: int | None = None,
    model: str | None = None,
    with_thought: bool = True,
) -> None:
    """The choice of a tool, and the thought before it. A question wins over what was before.

    ``with_thought`` false: the thought is named, and told elsewhere (:func:`thought`).
    """
    say.about(iteration_uri, ns.PROV_ENTITY, ns.TG_ANALYSIS, ns.TG_TOOL_USE)
    say.plain(ns.RDFS_LABEL, f"Analysis: {action}")
    say.plain(ns.TG_ACTION, action)
    say.plain(ns.TG_ARGUMENTS, json.dumps(dict(arguments or {})))
    for name in tool_candidates or ():
        say.plain(ns.TG_TOOL_CANDIDATE, name)
    number(say, ns.TG_STEP_NUMBER, step_number)
    number(say, ns.TG_LLM_DURATION_MS, llm_duration_ms)
    say.link(ns.PROV_WAS_DERIVED_FROM, question_uri or previous_uri or "")
    if thought_uri:
        say.link(ns.TG_THOUGHT, thought_uri)
        if with_thought:
            thought(say, thought_uri, iteration_uri, thought_document_id)
            say.about(iteration_uri)
    tokens(say, in_token, out_token, model)


def thought(
    say: Statements,
    thought_uri: str,
    iteration_uri: str,
    thought_document_id: str | None = None,
) -> None:
    """What the agent thought."""
    say.about(thought_uri, ns.TG_REFLECTION, ns.TG_THOUGHT_TYPE)
    say.plain(ns.RDFS_LABEL, "Thought")
    say.link(ns.PROV_WAS_DERIVED_FROM, iteration_uri)
    say.link(ns.TG_DOCUMENT, thought_document_id or "")


def observation(
    say: Statements,
    observation_uri: str,
    iteration_uri: str,
    document_id: str | None = None,
    tool_duration_ms: int | None = None,
    *,
    tool_error: str | None = None,
) -> None:
    """What a tool said; ``iteration_uri`` is the iteration, or the end of the tool's own trace."""
    say.about(observation_uri, ns.PROV_ENTITY, ns.TG_OBSERVATION_TYPE)
    say.plain(ns.RDFS_LABEL, "Observation")
    say.link(ns.PROV_WAS_DERIVED_FROM, iteration_uri)
    say.link(ns.TG_DOCUMENT, document_id or "")
    number(say, ns.TG_TOOL_DURATION_MS, tool_duration_ms)
    if tool_error:
        say.plain(ns.TG_TOOL_ERROR, tool_error)
        say.about(observation_uri, ns.TG_ERROR)


def final(
    say: Statements,
    final_uri: str,
    question_uri: str | None = None,
    previous_uri: str | None = None,
    document_id: str | None = None,
    *,
    termination_reason: str | None = None,
    in_token: int | None = None,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """What the agent concluded. A question wins over what was before."""
    say.about(final_uri, ns.PROV_ENTITY, ns.TG_CONCLUSION, ns.TG_ANSWER_TYPE)
    say.plain(ns.RDFS_LABEL, "Conclusion")
    say.link(ns.PROV_WAS_DERIVED_FROM, question_uri or previous_uri or "")
    say.link(ns.TG_DOCUMENT, document_id or "")
    say.text(ns.TG_TERMINATION_REASON, termination_reason or "")
    tokens(say, in_token, out_token, model)


def decomposition(
    say: Statements,
    uri: str,
    session_uri: str,
    goals: Sequence[str],
    in_token: int | None = None,
    *,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """What other agents were given to do."""
    say.about(uri, ns.PROV_ENTITY, ns.TG_DECOMPOSITION)
    say.plain(ns.RDFS_LABEL, f"Decomposed into {len(goals)} research threads")
    say.link(ns.PROV_WAS_DERIVED_FROM, session_uri)
    for goal in goals:
        say.plain(ns.TG_SUBAGENT_GOAL, goal)
    tokens(say, in_token, out_token, model)


def finding(
    say: Statements,
    uri: str,
    decomposition_uri: str,
    goal: str,
    document_id: str | None = None,
) -> None:
    """What one of them found; ``decomposition_uri`` is the conclusion of its own run, where that is known."""
    say.about(uri, ns.PROV_ENTITY, ns.TG_FINDING, ns.TG_ANSWER_TYPE)
    say.plain(ns.RDFS_LABEL, f"Finding: {goal[:LABEL_GOAL]}")
    say.link(ns.PROV_WAS_DERIVED_FROM, decomposition_uri)
    say.plain(ns.TG_SUBAGENT_GOAL, goal)
    say.link(ns.TG_DOCUMENT, document_id or "")


def plan(
    say: Statements,
    uri: str,
    session_uri: str,
    steps: Sequence[str],
    in_token: int | None = None,
    *,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """What the agent means to do."""
    say.about(uri, ns.PROV_ENTITY, ns.TG_PLAN)
    say.plain(ns.RDFS_LABEL, f"Plan with {len(steps)} steps")
    say.link(ns.PROV_WAS_DERIVED_FROM, session_uri)
    for step in steps:
        say.plain(ns.TG_PLAN_STEP, step)
    tokens(say, in_token, out_token, model)


def step_result(
    say: Statements,
    uri: str,
    plan_uri: str,
    goal: str,
    document_id: str | None = None,
    *,
    in_token: int | None = None,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """What came of a step of the plan."""
    say.about(uri, ns.PROV_ENTITY, ns.TG_STEP_RESULT, ns.TG_ANSWER_TYPE)
    say.plain(ns.RDFS_LABEL, f"Step result: {goal[:LABEL_GOAL]}")
    say.link(ns.PROV_WAS_DERIVED_FROM, plan_uri)
    say.plain(ns.TG_PLAN_STEP, goal)
    say.link(ns.TG_DOCUMENT, document_id or "")
    tokens(say, in_token, out_token, model)


def synthesis(
    say: Statements,
    uri: str,
    previous_uris: str | Iterable[str],
    document_id: str | None = None,
    termination_reason: str | None = None,
    *,
    in_token: int | None = None,
    out_token: int | None = None,
    model: str | None = None,
) -> None:
    """The answer that was made of several results: of one, or of each of ``previous_uris``."""
    say.about(uri, ns.PROV_ENTITY, ns.TG_SYNTHESIS, ns.TG_ANSWER_TYPE)
    say.plain(ns.RDFS_LABEL, "Synthesis")
    for previous in (previous_uris,) if isinstance(previous_uris, str) else previous_uris:
        say.link(ns.PROV_WAS_DERIVED_FROM, previous)
    say.link(ns.TG_DOCUMENT, document_id or "")
    say.text(ns.TG_TERMINATION_REASON, termination_reason or "")
    tokens(say, in_token, out_token, model)


def number(say: Statements, predicate: str, value: float | None) -> None:
    """A number as TrustGraph prints it: ``str()``; nothing for null."""
    if value is not None:
        say.plain(predicate, str(value))


def tokens(say: Statements, in_token: int | None, out_token: int | None, model: str | None) -> None:
    """What a model's answer cost."""
    number(say, ns.TG_IN_TOKEN, in_token)
    number(say, ns.TG_OUT_TOKEN, out_token)
    if model is not None:
        say.plain(ns.TG_LLM_MODEL, model)
