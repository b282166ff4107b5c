"""A run as OpenTelemetry spans: one per activity, with GenAI and OpenInference attributes, in the caller's own trace.

A pure function over facts. Ids are derived from the run and the step, so that a run that is exported again gives the
same spans. Sources: OpenTelemetry semantic conventions for GenAI 1.41 (``gen_ai.*``), OpenInference
(``openinference.span.kind``, ``retrieval.documents.*``, ``llm.*``, ``input.value``), W3C Trace Context.

Texts of people and documents are left out unless ``content``: a tracing backend is seldom the place for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from clew_schema.facts import QuestionAsked, RunFailed
from clew_translators import uris
from clew_translators.explain import names
from clew_translators.explain.statements import parse_time
from clew_translators.span_attributes import attributes_of, events_of, kind_of, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.facts import Fact, Mechanism

AttributeValue = str | bool | int | float | tuple[str, ...]
Status = Literal["unset", "ok", "error"]

_TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEvent:
    """Something that happened within a span. ``nanoseconds`` since 1970."""

    name: str
    nanoseconds: int
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSpan:
    """A span. Ids are hexadecimal, as W3C Trace Context has them; times are nanoseconds since 1970."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    started: int
    ended: int
    attributes: Mapping[str, AttributeValue]
    events: tuple[SpanEvent, ...] = ()
    status: Status = "unset"
    message: str = ""


def trace_of(asked: QuestionAsked | None, question: str) -> tuple[str, str]:
    """The ids of the trace that a run belongs to and of the span above it (``""``: none).

    The caller's ``traceparent`` says both. Else a tool's run hangs under the agent's step that asked for it, and any
    other begins a trace of its own. A ``traceparent`` that is none is ignored, as W3C Trace Context demands.
    """
    if asked and asked.traceparent and (found := _TRACEPARENT.fullmatch(asked.traceparent)):
        return found[1], _span_above(asked) or found[2]
    if asked and (asker := _asker(asked)):
        return _trace_id(asker), _span_above(asked)
    return _trace_id(question), ""


def spans(
    facts: Sequence[Fact],
    *,
    session_id: str,
    collection: str,
    mechanism: Mechanism,
    content: bool = False,
) -> tuple[TraceSpan, ...]:
    """The run as a span, and under it a span for each fact; nothing without facts.

    A fact whose times cannot be read stands at those of the run. Spans never end before they start.
    """
    if not facts:
        return ()
    question = uris.question_of(mechanism, session_id)
    asked = next((fact for fact in facts if isinstance(fact, QuestionAsked)), None)
    trace_id, above = trace_of(asked, question)
    times = [time for fact in facts for time in _times(fact) if time]
    begin, end = min(times, default=0), max(times, default=0)
    root = _span_id(question)
    failed = facts[-1] if isinstance(facts[-1], RunFailed) else None
    common: dict[str, AttributeValue] = {"session.id": session_id, "clew.collection": collection}
    whole = TraceSpan(
        trace_id=trace_id,
        span_id=root,
        parent_id=above,
        name=f"invoke_{'agent' if mechanism == 'agent' else 'workflow'} {mechanism}",
        started=begin,
        ended=end,
        attributes=common | _root_attributes(facts, asked, question, mechanism, content=content),
        status="error" if failed else "ok",
        message=failed.message if failed and content else failed.error_type if failed else "",
    )
    return (
        whole,
        *(
            _step(
                fact,
                trace_id=trace_id,
                parent_id=root,
                activity=_activity(fact, question, facts[:place]),
                within=(begin, end),
                common=common,
                content=content,
            )
            for place, fact in enumerate(facts)
            if not isinstance(fact, QuestionAsked)
        ),
    )


def _step(
    fact: Fact,
    *,
    trace_id: str,
    parent_id: str,
    activity: str,
    within: tuple[int, int],
    common: Mapping[str, AttributeValue],
    content: bool,
) -> TraceSpan:
    """The span of one fact; a time that cannot be read is that of the run."""
    started, ended = (time or fallback for time, fallback in zip(_times(fact), within, strict=True))
    ended = max(started, ended)
    failed = isinstance(fact, RunFailed) or getattr(fact, "failed", False) is True
    return TraceSpan(
        trace_id=trace_id,
        span_id=_span_id(activity),
        parent_id=parent_id,
        name=name_of(fact),
        started=started,
        ended=ended,
        attributes={
            **common,
            "openinference.span.kind": kind_of(fact),
            "clew.step": fact.step,
            "clew.fact": fact.kind,
            **attributes_of(fact, content=content),
        },
        events=tuple(
            SpanEvent(name=name, nanoseconds=ended, attributes=attributes)
            for name, attributes in events_of(fact, content=content)
        ),
        status="error" if failed else "unset",
        message=fact.error_type if isinstance(fact, RunFailed) else "",
    )


def _root_attributes(
    facts: Sequence[Fact], asked: QuestionAsked | None, question: str, mechanism: Mechanism, *, content: bool
) -> dict[str, AttributeValue]:
    told: dict[str, AttributeValue] = {
        "openinference.span.kind": "AGENT" if mechanism == "agent" else "CHAIN",
        "gen_ai.operation.name": "invoke_agent" if mechanism == "agent" else "invoke_workflow",
        "gen_ai.conversation.id": question.rpartition(":")[2],
        "clew.run": question,
    }
    if asked and asked.person:
        told["user.id"] = asked.person
    ending = facts[-1]
    if (outcome := getattr(ending, "outcome", "") or getattr(ending, "reason", "")) and ending.kind in {
        "answer_written",
        "concluded",
    }:
        told["clew.outcome"] = outcome
    if content:
        if asked:
            told["input.value"] = asked.query
        if text := getattr(ending, "text", "") or getattr(ending, "answer", ""):
            told["output.value"] = text
    return told


def _activity(fact: Fact, question: str, before: Sequence[Fact]) -> str:
    """The activity of ``fact`` in the trace: an observation has one beside that of the choice it belongs to."""
    entity = names.entity_of(fact, question, before)
    if fact.kind == "tool_observed":
        entity = uris.observation_of(question, fact.number)
    repeat = f"#{len(before)}" if isinstance(fact, RunFailed) else ""  # one run may fail at several attempts
    return f"{entity}/activity{repeat}"


def _asker(asked: QuestionAsked) -> str:
    """The question of the run whose step asked, or ``""``."""
    found = uris.run_of(asked.parent_uri)
    return uris.question_of(*found) if found else ""


def _span_above(asked: QuestionAsked) -> str:
    """The span of the step that asked, or of its whole run where the request names that; ``""`` for neither."""
    asker, above = _asker(asked), asked.parent_uri
    return "" if not asker else _span_id(asker if above == asker else f"{above}/activity")


def _times(fact: Fact) -> tuple[int, int]:
    """Start and end in nanoseconds; 0 for one that cannot be read."""
    return _nanoseconds(fact.started_at), _nanoseconds(fact.ended_at)


def _nanoseconds(text: str) -> int:
    time = parse_time(text)
    if time is None:
        return 0
    # Whole numbers all the way: a float has no room for the microseconds of today.
    return max(0, int(time.replace(microsecond=0).timestamp()) * 1_000_000_000 + time.microsecond * 1000)


def _trace_id(text: str) -> str:
    return sha256(f"trace {text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _span_id(text: str) -> str:
    return sha256(f"span {text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
