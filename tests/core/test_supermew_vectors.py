"""SuperMew's own behaviour, vector by vector: what the pure functions decide is what it was measured to decide."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, get_args

import pytest

from clew_schema.evidence import Grade
from clew_schema.facts import Mode, QuestionPlanned
from clew_services.core import candidates, complexity, replies, resuming, rewriting, routing
from clew_services.core.resuming import Snapshot
from clew_services.core.rewriting import RewriteReply
from clew_services.core.sanitising import sanitise, sanitise_strict
from clew_translators import ragtrace, ragtrace_facts
from tests.core import (
    supermew,
    supermew_chunks,
    supermew_nodes,
    supermew_outcomes,
    supermew_retrieval,
    supermew_stream,
)
from tests.core.supermew_run import Script, Steps

Expected = dict[str, Any]


def fast_path(given: Any, expect: Expected) -> None:
    assert complexity.look(given["question"]).reason == expect["reason"]


async def classified(given: Any, expect: Expected, mode: Mode = "strict") -> None:
    script = Script(given | {"retrieval": {"*": []}})
    steps = Steps(script, mode)
    if "error" in expect:
        with pytest.raises(supermew.ERRORS[expect["error"]]):
            await steps.ask(given["question"])
    else:
        before, after = supermew_nodes.pair(await steps.ask(given["question"]), QuestionPlanned)
        assert supermew_outcomes.updated(before, after) == expect["state_update"]
        plan = after.run.plan
        assert plan is not None
        assert (plan.complexity == "complex") == (expect["next"] == "prepare_sub_questions")
    assert [call for call in script.calls if call == "planner"] == expect["calls"]


def route(given: Any, expect: Expected, mode: Mode = "strict") -> None:
    grade = {name: given[name] for name in ("relevance", "answerability", "ambiguity")}
    decision = routing.resolve(
        evidence_count=given["n_docs"],
        grade=Grade.model_validate(grade | {"route": given["suggested_route"]}),
        rewrite_count=given["rewrite_count"],
        is_part=given["is_sub_agent"],
        rules=routing.RULES[mode],
    )
    assert {"route": decision.route, "retrieval_status": decision.status} == expect


def clarification(given: Any, expect: Expected, mode: Mode = "strict") -> None:
    told = {"relevance": "weak", "answerability": "partial"} | given
    question = None if mode == "strict" else "丹瑾是谁？"
    assert (
        routing.clarification(Grade.model_validate(told), given["route"], question) == expect["hitl_prompt"]
    )


def refined(given: Any, expect: Expected) -> None:
    assert resuming.refine(given["question"], given["answer"]) == expect["q_star"]


def normalised(given: Any, expect: Expected) -> None:
    of(ragtrace.normalise, given, expect)


def normalised_part(given: Any, expect: Expected) -> None:
    of(ragtrace.normalise_part, given, expect)


def of(normalise: Callable[[object], object], given: Any, expect: Expected) -> None:
    if "error" in expect:
        with pytest.raises(supermew.ERRORS[expect["error"]]):
            normalise(given["trace"])
    else:  # as JSON: 2 is not 2.0, and the order of the fields counts
        assert json.dumps(normalise(given["trace"])) == json.dumps(expect["trace"])


def candidate_k(given: Any, expect: Expected) -> None:
    pool = supermew_retrieval.plan(given["env"], given["top_k"]).pool
    told = {
        "candidate_k": pool.candidate_k,
        "candidate_k_source": pool.source,
        "retrieval_candidate_multiplier": pool.multiplier,
    }
    assert told | ({"candidate_k_config_error": candidates.INVALID} if pool.config_error else {}) == expect


def auto_merged(given: Any, expect: Expected) -> None:
    how = supermew_retrieval.plan(given["env"], 8)
    merged, lookups = supermew_retrieval.merge(given["candidates"], how, given["parent_store"])
    children = {"merged_from_children": True}
    assert {
        "out": [
            {"chunk_id": each.chunk_id, "score": each.fused_score}
            | (children | {"merged_child_count": each.merged_children} if each.merged_children else {})
            for each in merged.candidates
        ],
        "auto_merge_enabled": how.merge_enabled,
        "auto_merge_applied": merged.applied,
        "auto_merge_threshold": how.merge_threshold,
        "auto_merge_replaced_chunks": merged.replaced,
        "auto_merge_steps": merged.steps,
        "post_merge_candidate_count": len(merged.candidates),
        "parent_lookups": lookups,
    } == expect


def retrieved(given: Any, expect: Expected) -> None:
    retrieval = supermew_retrieval.Retrieval(given)
    evidence, figures = retrieval.run()
    assert [
        {"chunk_id": each.chunk_id, "score": each.fused_score, "rrf_rank": each.rank}
        | ({} if each.rerank_score is None else {"rerank_score": each.rerank_score})
        for each in evidence
    ] == expect["docs"]
    # The stub writes some nulls and leaves out others; a trace has neither.
    told = {name: value for name, value in ragtrace_facts.figures(figures).items() if value is not None}
    assert told == {name: value for name, value in expect["meta"].items() if value is not None}
    assert retrieval.store_calls == expect["store_calls"]
    assert retrieval.rerank_posts == expect["rerank_posts"]


def composed(given: Any, expect: Expected) -> None:
    lengths = {"<301 chars>": "x" * 301, "<1201 chars>": "x" * 1201}
    output = {name: lengths.get(value, value) for name, value in given["model_output"].items()}
    if "error" in expect:
        with pytest.raises(supermew.ERRORS[expect["error"]]):
            rewriting.compose(given["question"], RewriteReply.model_validate(output))
        return
    made = rewriting.compose(given["question"], RewriteReply.model_validate(output))
    assert {
        "rewrite_method": made.method,
        "rewritten_query": made.composed,
        "step_back_question": made.step_back_question,
        "hyde_document": made.hyde_document,
    } == expect


def tool_text(given: Any, expect: Expected) -> None:
    result = given["result"]
    trace = result["rag_trace"]
    told = replies.tool_text(
        evidence=tuple(map(supermew.evidence, result["docs"])),
        route=trace["route"],
        status=trace["retrieval_status"],
        prompt=trace.get("hitl_prompt", ""),
        options=trace.get("hitl_options", ()),
    )
    assert told == expect["first_call"]
    assert replies.LIMIT_REACHED.startswith(expect["second_call_prefix"])
    assert ragtrace.envelope(trace, result.get("hitl_resume_state")) == expect["stored"]


def asked_a_person(given: Any, expect: Expected) -> None:
    assert resuming.message(given["prompt"], given["options"]) == expect["text"]


def pending(given: Any, expect: Expected) -> None:
    trace = given["trace"]
    record = resuming.pending(
        id="t1",
        created_at="2026-07-11T00:00:00Z",
        original_question=given["original_question"],
        snapshot=Snapshot.model_validate(given["resume_state"]),
        route=trace.get("route"),
        status=trace.get("retrieval_status"),
        prompt=trace.get("hitl_prompt"),
        options=trace.get("hitl_options"),
        answers=given["previous_answers"],
    )
    assert supermew_outcomes.plain(record) == expect | {"id": "t1", "created_at": "2026-07-11T00:00:00Z"}
    assert resuming.read_pending(record.model_dump()) == record


def titled(given: Any, expect: Expected) -> None:
    assert replies.title(given["first_message"]) == expect["title"]


def noted(given: Any, expect: Expected) -> None:
    assert replies.note_is_due(given["message_count"], given["current_note"]) == expect["update"]


def sanitised(given: Any, expect: Expected) -> None:
    assert sanitise_strict(given["text"]) == expect["text"]
    assert sanitise(given["text"]) == expect["text"].replace(
        "\x85", ""
    )  # Q39: ours takes C1 controls away too


def chunked(given: Any, expect: Expected) -> None:
    assert supermew_chunks.chunks(given) == expect["chunks"]


BY_MODE: dict[str, Callable[[Any, Expected, Mode], Awaitable[None] | None]] = {
    "classify_model": classified,
    "resolve_route": route,
    "hitl_prompt": clarification,
    "run": supermew_outcomes.whole_run,
    "resume": supermew_outcomes.resumed,
}
"""What the modes decide differently, where a vector names a quirk."""

RUNNERS: dict[str, Callable[[Any, Expected], None]] = {
    "classify_fast_path": fast_path,
    "refine_question": refined,
    "normalize": normalised,
    "normalize_sub": normalised_part,
    "candidate_k": candidate_k,
    "auto_merge": auto_merged,
    "retrieve": retrieved,
    "rewrite_compose": composed,
    "tool_text": tool_text,
    "hitl_message": asked_a_person,
    "pending_hitl": pending,
    "session_title": titled,
    "note_policy": noted,
    "chunk": chunked,
    "sanitize": sanitised,
    "stream": supermew_stream.streamed,
}


OPS = {"node", *BY_MODE, *RUNNERS}
COVERED = [vector for vector in supermew.VECTORS if vector["op"] in OPS]


@pytest.mark.parametrize("vector", COVERED, ids=lambda vector: vector["id"])
async def test_supermew(vector: dict[str, Any]) -> None:
    given, expect, op = vector["given"], vector["expect"], vector["op"]
    if op == "node":  # its input is the run that leads to it
        await supermew_outcomes.node(given, expect, vector["id"])
    elif op in BY_MODE:
        await done(BY_MODE[op](given, expect, "strict"))
    else:
        RUNNERS[op](given, expect)


@pytest.mark.parametrize(
    "vector",
    [each for each in supermew.VECTORS if each["op"] in BY_MODE and not each.get("quirk_refs")],
    ids=lambda vector: vector["id"],
)
async def test_improved_differs_only_where_a_quirk_is_named(vector: dict[str, Any]) -> None:
    assert "improved" in get_args(Mode)
    await done(BY_MODE[vector["op"]](vector["given"], vector["expect"], "improved"))


async def done(result: Awaitable[None] | None) -> None:
    if result is not None:
        await result


def test_every_vector_runs() -> None:
    assert {each["op"] for each in supermew.VECTORS} == OPS
    assert len(COVERED) == len({each["id"] for each in COVERED}) == 187
