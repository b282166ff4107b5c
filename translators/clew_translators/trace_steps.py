"""The steps of a trace, each kind in its own way: what it is called, what is worth reading of it, what it rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.trace_quads import Quads, natural
from clew_translators.trace_spans import spans_of
from clew_translators.trace_tree import Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PLAIN_TITLES: Mapping[str, str] = MappingProxyType(
    {
        names.PATTERN: "Pattern",
        names.AGENT_PLAN: "Plan of the agent",
        names.STEP_RESULT: "Step of the plan",
        names.DECOMPOSITION: "Given to other agents",
        names.FINDING: "Finding of another agent",
        names.CONCEPTS: "Concepts",
        names.SELECTED_EDGES: "Edges selected",
    }
)
"""Steps that the page has no term for, and that only our own graph tells of: how they are called."""

_KINDS: Mapping[str, StepKind] = MappingProxyType(
    {
        names.FAILURE: "failure",  # before those by which TrustGraph's vocabulary ends a run that failed
        ns.TG_EXPLORATION: "retrieval",
        names.GRADE: "grade",
        names.PLAN: "plan",
        names.REWRITE: "rewrite",
        names.JOIN: "join",
        names.LIMIT: "budget",
        names.TICKET: "pause",
        names.REPLY: "resume",
        names.CANCELLATION: "cancelled",
        ns.TG_SYNTHESIS: "answer",
        ns.TG_ANALYSIS: "analysis",
        ns.TG_OBSERVATION_TYPE: "observation",
        ns.TG_CONCLUSION: "conclusion",
        ns.TG_GROUNDING: "other",
        ns.TG_FOCUS: "other",
        ns.TG_PATTERN_DECISION: "other",
        ns.TG_PLAN: "other",
        ns.TG_STEP_RESULT: "other",
        ns.TG_DECOMPOSITION: "other",
        ns.TG_FINDING: "other",
        **dict.fromkeys(_PLAIN_TITLES, "other"),
    }
)

Details = tuple[tuple[str, str], ...]

_DECISION = (
    ("route", names.ROUTE),
    ("status", names.STATUS),
    ("rule", names.RESOLVED_BY),
    ("asks", names.ASKS),
    ("keeps", names.KEEPS),
    ("failed", names.ERROR_TYPE),
)
_FIELDS: Mapping[StepKind, Sequence[tuple[str, str]]] = MappingProxyType(
    {
        "plan": (
            ("complexity", names.COMPLEXITY),
            ("reason", names.REASON),
            ("rule", names.RESOLVED_BY),
            ("dropped", names.DROPPED),
        ),
        "rewrite": (("method", names.METHOD), ("text", ns.PROV_VALUE), ("query", names.QUERY)),
        "join": (
            ("evidence", names.EVIDENCE_COUNT),
            ("relevance", names.RELEVANCE),
            ("answerability", names.ANSWERABILITY),
            *_DECISION,
            ("gap", names.GAP),
        ),
        "budget": (("budget", names.BUDGET), ("spent", names.SPENT), *_DECISION),
        "pause": (
            ("ticket", names.TICKET_ID),
            ("asks", ns.PROV_VALUE),
            ("option", names.OPTION),
            ("route", names.ROUTE),
            ("status", names.STATUS),
            ("round", names.NUMBER),
            ("expires", names.EXPIRES_AT),
        ),
        "resume": (("ticket", names.TICKET_ID), ("reply", ns.PROV_VALUE)),
        "cancelled": (("ticket", names.TICKET_ID),),
        "retrieval": (("query", names.QUERY), ("mode", names.MODE), ("candidates", names.CANDIDATE_COUNT)),
        "grade": (
            ("relevance", names.RELEVANCE),
            ("answerability", names.ANSWERABILITY),
            ("ambiguity", names.AMBIGUITY),
            ("suggested route", names.SUGGESTED_ROUTE),
            ("confidence", names.CONFIDENCE),
            ("missing", names.MISSING_SLOT),
            ("reason", names.REASON),
        ),
        "answer": (
            ("outcome", names.OUTCOME),
            ("answer", ns.TG_CONTENT),
            ("document", ns.TG_DOCUMENT),
            ("coverage", names.COVERAGE),
            ("gap", names.GAP),
            ("model", ns.TG_LLM_MODEL),
        ),
        "analysis": (
            ("thought", ns.TG_THOUGHT),
            ("action", ns.TG_ACTION),
            ("arguments", ns.TG_ARGUMENTS),
            ("observation", ns.TG_OBSERVATION),
        ),
        "observation": (
            ("observation", ns.TG_OBSERVATION),
            ("document", ns.TG_DOCUMENT),
            ("error", ns.TG_TOOL_ERROR),
        ),
        "conclusion": (
            ("thought", names.THOUGHT),
            ("answer", ns.TG_ANSWER),
            ("document", ns.TG_DOCUMENT),
            ("reason", names.TERMINATION),
            ("reason", ns.TG_TERMINATION_REASON),
        ),
        "failure": (("error", names.ERROR_TYPE), ("message", names.MESSAGE)),
    }
)


def step_kind(known: Quads, subject: str) -> StepKind | None:
    """What kind of step ``subject`` is; None for what is part of a step, or no step at all."""
    types = known.types(subject)
    found = types & _KINDS.keys()
    if len(found) < 2:
        return next((_KINDS[type_] for type_ in found), None)
    return next(kind for type_, kind in _KINDS.items() if type_ in found)


def read_step(known: Quads, subject: str) -> Step:
    """The step that ``subject`` is the entity of."""
    kind = step_kind(known, subject) or "other"
    details = _details(known, subject, _FIELDS[kind]) if kind in _FIELDS else _everything(known, subject)
    activity = known.activity(subject)
    if kind == "retrieval":  # how it was done is told of the doing
        details += _details(known, activity, _FIELDS[kind])
    if kind == "plan":
        details += _parts(known, subject)
    traces: tuple[str, ...] = ()
    if kind == "grade":
        details += _details(known, _derived(known, subject, names.DECISION), _DECISION)
    if kind == "other":
        traces = tuple(known.links(subject, names.TOOL_TRACE))
    if kind == "analysis":
        seen = _derived(known, subject, names.OBSERVATION)
        traces = tuple(known.links(seen, names.TOOL_TRACE))
        details += (("tool failed", "true"),) * (known.text(seen, names.FAILED) == "true")
    agents = (
        known.text(agent, ns.RDFS_LABEL) for agent in known.links(activity, ns.PROV_WAS_ASSOCIATED_WITH)
    )
    step = Step(
        uri=subject,
        kind=kind,
        title=kind.capitalize(),
        part=_part(subject),
        started_at=known.text(activity, ns.PROV_STARTED_AT_TIME),
        ended_at=known.text(activity, ns.PROV_ENDED_AT_TIME),
        details=details + tuple(("by", label) for label in agents if label),
        spans=spans_of(known, subject),
        traces=traces,
    )
    return replace(step, title=_title(known, step) or step.title)


def _parts(known: Quads, plan: str) -> Details:
    """The parts of a question, in their order."""
    return tuple(("part", known.text(part, ns.PROV_VALUE)) for part in known.links(plan, names.HAS_PART))


def _part(subject: str) -> int:
    """The part of the question that a name of ours says, else 0."""
    found = re.search(r"/part/(\d{1,9})/", subject, re.ASCII)
    return int(found.group(1)) if found else 0


def _title(known: Quads, step: Step) -> str:
    match step.kind:
        case "retrieval":
            chunks = known.text(step.uri, ns.TG_CHUNK_COUNT) or str(len(step.spans))
            edges = known.text(step.uri, ns.TG_EDGE_COUNT)
            counted = _counted(edges, "edge") if edges else _counted(chunks, "chunk")
            return f"Retrieval: {counted}"
        case "grade":
            route = step.detail("route")
            judged = f"Grade: {step.detail('relevance')} / {step.detail('answerability')}"
            return f"{judged} → {route}" if route else judged
        case "analysis":
            return f"Step {step.uri.rpartition('/i')[2]}: {step.detail('action')}"
        case "failure" | "plan" | "rewrite" | "join" | "budget" | "pause" | "resume" | "cancelled":
            return _course_title(step)
        case "other":
            plain = (title for type_, title in _PLAIN_TITLES.items() if type_ in known.types(step.uri))
            return known.text(step.uri, ns.RDFS_LABEL) or next(plain, "")
        case _:
            return ""


def _course_title(step: Step) -> str:
    detail = step.detail
    if step.kind == "plan":
        parts = sum(name == "part" for name, _ in step.details)
        return f"Plan: {detail('complexity')}" + (f", {_counted(str(parts), 'part')}" if parts else "")
    titles: dict[StepKind, str] = {
        "rewrite": f"Rewritten: {detail('method')}",
        "join": f"Joined: {_counted(detail('evidence'), 'chunk')} → {detail('route')}",
        "budget": f"No more {detail('budget')}: {detail('spent')} spent → {detail('route')}",
        "pause": f"Waits for a person: ticket {detail('ticket')}",
        "resume": "A person answered",
        "cancelled": "Cancelled by a person",
    }
    return titles.get(step.kind, f"Failed: {detail('error')}")


def _counted(number: str, noun: str) -> str:
    return f"{number} {noun}" if number == "1" else f"{number} {noun}s"


def _details(known: Quads, subject: str, fields: Sequence[tuple[str, str]]) -> Details:
    """Literals of ``fields``; where TrustGraph has a document instead, its IRI."""
    return tuple(
        (label, text)
        for label, predicate in fields
        for text in known.texts(subject, predicate) or known.links(subject, predicate)
    )


def _everything(known: Quads, subject: str) -> Details:
    """All literals of a step that only TrustGraph has, by the local names of their predicates."""
    return tuple(
        (_local(predicate), text)
        for predicate in known.predicates(subject)
        if predicate != ns.RDFS_LABEL
        for text in known.texts(subject, predicate)
    )


def _derived(known: Quads, source: str, type_: str) -> str:
    """The entity of class ``type_`` that derives from ``source``, or ``""``."""
    found = (
        subject
        for subject in known.subjects
        if type_ in known.types(subject) and source in known.links(subject, ns.PROV_WAS_DERIVED_FROM)
    )
    return min(found, key=natural, default="")


def _local(iri: str) -> str:
    return iri.rpartition("#")[2].rpartition("/")[2]
