"""A run as spans: in the caller's trace, one per activity, with ids that a second export repeats, and no texts unless asked."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from clew_schema.evidence import Claim
from clew_schema.facts import (
    AnswerWritten,
    Fact,
    Mechanism,
    QuestionAsked,
    RunFailed,
    ToolChosen,
)
from clew_translators.explain import question_uri
from clew_translators.otlp import otlp
from clew_translators.spans import TraceSpan, spans
from tests.translators import courses, runs

RUN = tuple(fact for step in runs.DOCUMENT_STEPS for fact in step)
REWRITTEN = tuple(fact for step in courses.REWRITTEN_STEPS for fact in step)
RESUMED = tuple(fact for step in courses.RESUMED_STEPS for fact in step)
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"  # the example of W3C Trace Context


def told(
    facts: tuple[Fact, ...], *, content: bool = False, mechanism: Mechanism = "document-rag"
) -> tuple[TraceSpan, ...]:
    session = runs.AGENT_SESSION if mechanism == "agent" else runs.SESSION
    return spans(facts, session_id=session, collection="manuals", mechanism=mechanism, content=content)


def asked_with(facts: tuple[Fact, ...], **update: object) -> tuple[Fact, ...]:
    return tuple(f.model_copy(update=update) if isinstance(f, QuestionAsked) else f for f in facts)


def test_one_span_for_the_run_and_one_for_each_activity_below_it() -> None:
    root, *steps = told(REWRITTEN)
    assert [span.attributes["clew.fact"] for span in steps] == [fact.kind for fact in REWRITTEN[1:]]
    assert {span.parent_id for span in steps} == {root.span_id}
    assert root.parent_id == ""
    assert len({span.span_id for span in (root, *steps)}) == len(steps) + 1
    assert {span.trace_id for span in steps} == {root.trace_id}
    assert (root.started, root.ended) == (min(s.started for s in steps), max(s.ended for s in steps))


def test_times_are_whole_nanoseconds() -> None:
    # 2026-01-31T12:00:00.000001Z is 1769860800.000001 seconds after 1970.
    root, *_ = told(RUN)
    assert root.started == 1_769_860_800_000_001_000
    assert all(span.ended >= span.started for span in told(REWRITTEN))


def test_the_callers_trace_goes_on() -> None:
    root, *steps = told(asked_with(RUN, traceparent=CALLER))
    assert (root.trace_id, root.parent_id) == ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")
    assert {span.trace_id for span in steps} == {root.trace_id}


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "00",
        f"ff{CALLER[2:]}",
        CALLER.replace("0af7651916cd43dd8448eb211c80319c", "0" * 32),
        CALLER.upper(),
    ],
)
def test_a_traceparent_that_is_none_begins_a_trace(nonsense: str) -> None:
    assert told(asked_with(RUN, traceparent=nonsense))[0].parent_id == ""
    assert told(asked_with(RUN, traceparent=nonsense))[0].trace_id == told(RUN)[0].trace_id


def test_a_tools_run_hangs_under_the_step_that_asked_for_it() -> None:
    agent = told(runs.AGENT_RUN, mechanism="agent")
    choice = next(span for span in agent if span.attributes.get("clew.fact") == "tool_chosen")
    parent = f"{question_uri(runs.AGENT_SESSION, 'agent')}/i1"
    tool, *_ = told(asked_with(RUN, parent_uri=parent))
    assert (tool.trace_id, tool.parent_id) == (agent[0].trace_id, choice.span_id)
    both = told(asked_with(runs.AGENT_RUN, traceparent=CALLER), mechanism="agent")
    tool, *_ = told(asked_with(RUN, parent_uri=parent, traceparent=CALLER))
    assert (tool.trace_id, tool.parent_id) == (both[0].trace_id, choice.span_id)


def test_kinds_and_names_of_the_conventions() -> None:
    root, *steps = told(RUN)
    assert (root.name, root.attributes["openinference.span.kind"]) == (
        "invoke_workflow document-rag",
        "CHAIN",
    )
    retrieval, grade, answer = steps
    assert (retrieval.name, retrieval.attributes["openinference.span.kind"]) == (
        "retrieval pass 1",
        "RETRIEVER",
    )
    assert retrieval.attributes["gen_ai.operation.name"] == "retrieval"
    assert retrieval.attributes["retrieval.documents.0.document.id"] == runs.CHUNKS[0]
    assert retrieval.attributes["retrieval.documents.0.document.score"] == 0.0325
    assert grade.attributes["openinference.span.kind"] == "EVALUATOR"
    assert answer.attributes["clew.outcome"] == "answer"
    agent, *_ = told(runs.AGENT_RUN, mechanism="agent")
    assert (agent.name, agent.attributes["gen_ai.operation.name"]) == ("invoke_agent agent", "invoke_agent")


def test_a_model_call_has_its_model_and_its_tokens() -> None:
    written = AnswerWritten(
        outcome="answer", text="x", model="m1", in_token=12, out_token=0, prompt_version="p3"
    )
    _, span = told((written,))
    assert span.name == "chat m1"
    assert {
        "openinference.span.kind": "LLM",
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m1",
        "llm.model_name": "m1",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 0,
        "llm.token_count.prompt": 12,
        "clew.prompt_version": "p3",
    }.items() <= span.attributes.items()


def test_every_claim_is_an_evaluation() -> None:
    claims = (
        Claim(number=1, start=0, end=1, verdict="supported"),
        Claim(number=2, start=2, end=3, verdict="uncited"),
    )
    _, span = told((AnswerWritten(outcome="answer", text="a b", claims=claims),))
    assert [(e.name, e.attributes["gen_ai.evaluation.score.label"]) for e in span.events] == [
        ("gen_ai.evaluation.result", "supported"),
        ("gen_ai.evaluation.result", "uncited"),
    ]


def test_texts_are_told_only_on_demand() -> None:
    secret = "zebra"
    facts = tuple(
        fact.model_copy(
            update={
                name: secret
                for name in ("query", "text", "answer", "prompt", "observation", "thought", "message")
                if name in type(fact).model_fields
            }
        )
        for fact in (
            *REWRITTEN,
            *RESUMED,
            *runs.AGENT_RUN,
            RunFailed(mechanism="agent", error_type="e", message="m"),
        )
    )
    assert secret not in repr(told(facts))
    assert secret in repr(told(facts, content=True))
    evidence = "Returns are accepted"
    assert evidence not in repr(told(RUN))
    assert evidence in repr(told(RUN, content=True))


def test_a_failure_is_an_error_of_its_span_and_of_the_run() -> None:
    failed = RunFailed(
        mechanism="document-rag", error_type="model-failed", message="no answer", **runs.at("x.y", 5)
    )
    root, span = told((RUN[0], failed))
    assert (root.status, root.message, span.status, span.events[0].name) == (
        "error", "model-failed", "error", "exception",
    )  # fmt: skip
    overcome = told((RUN[0], failed, *RUN[1:]))
    assert overcome[0].status == "ok"


def test_an_export_repeats_itself_byte_by_byte() -> None:
    assert otlp(told(REWRITTEN)) == otlp(told(REWRITTEN))


def parsed(request: dict[str, Any]) -> ExportTraceServiceRequest:
    """Read by the protocol's own definition; its JSON has hexadecimal ids where protobuf's has base64."""

    def of_protobuf(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: of_protobuf(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [of_protobuf(one) for one in value]
        if key in {"traceId", "spanId", "parentSpanId"}:
            assert re.fullmatch(r"[0-9a-f]{32}|[0-9a-f]{16}", value)
            return base64.b64encode(bytes.fromhex(value)).decode()
        return value

    return ParseDict(of_protobuf(request), ExportTraceServiceRequest())


def test_it_is_otlp() -> None:
    request = parsed(otlp(told(asked_with(REWRITTEN, traceparent=CALLER), content=True), version="1.2"))
    (resource,) = request.resource_spans
    assert {a.key: a.value.string_value for a in resource.resource.attributes} == {
        "service.name": "clew", "service.version": "1.2",
    }  # fmt: skip
    (scope,) = resource.scope_spans
    root, *steps = scope.spans
    assert root.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert root.parent_span_id.hex() == "b7ad6b7169203331"
    assert len(steps) == len(REWRITTEN) - 1
    assert {one.parent_span_id for one in steps} == {root.span_id}
    assert root.start_time_unix_nano == 1_769_860_800_000_001_000


@given(
    facts=st.lists(st.sampled_from((*REWRITTEN, *RESUMED, *runs.AGENT_RUN)), max_size=12),
    content=st.booleans(),
)
def test_any_course_is_otlp(facts: list[Fact], content: bool) -> None:
    spans_told = told(tuple(facts), content=content)
    parsed(otlp(spans_told))
    assert len(spans_told) == (1 + sum(fact.kind != "question_asked" for fact in facts) if facts else 0)


def test_half_a_character_does_not_cost_the_request() -> None:
    broken = RUN[0].model_copy(update={"query": "x\ud800"})
    parsed(otlp(told((broken, *RUN[1:]), content=True)))


def test_a_run_that_another_run_as_a_whole_asked_for_hangs_under_the_span_of_that_run() -> None:
    agent = tuple(fact for step in runs.AGENT_STEPS for fact in step)
    whole, *_ = told(agent, mechanism="agent")
    asked = asked_with(RUN, parent_uri=question_uri(runs.AGENT_SESSION, "agent"), traceparent="")
    assert (told(asked)[0].trace_id, told(asked)[0].parent_id) == (whole.trace_id, whole.span_id)


def test_what_a_model_calls_a_tool_that_there_is_not_is_a_text_of_its_own() -> None:
    chosen = ToolChosen(number=1, thought="t", action="tell Ann's diagnosis", candidates=("search",))
    there = chosen.model_copy(update={"action": "search"})
    for fact, content, name in (
        (chosen, False, None),
        (chosen, True, chosen.action),
        (there, False, "search"),
    ):
        _, span = told(
            (QuestionAsked(mechanism="agent", query="q"), fact), content=content, mechanism="agent"
        )
        assert span.attributes.get("gen_ai.tool.name") == name
