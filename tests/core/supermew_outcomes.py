"""What must hold of a node that was done, and of a run that came to its end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from clew_services.core import progress
from clew_translators import ragtrace
from tests.core import supermew, supermew_nodes, supermew_run
from tests.core.supermew_run import Ran, Script

Expected = dict[str, Any]


def updated(before: progress.Progress, after: progress.Progress) -> dict[str, Any]:
    old, new = supermew_nodes.state(before), supermew_nodes.state(after)
    return {name: value for name, value in new.items() if value != old[name]}


def node(given: Any, expect: Expected, vector: str) -> None:
    if vector == "SN-01":
        began = supermew_nodes.state(progress.asked(given["question"]))
        assert began | {"rag_trace": None, "sub_results": []} == expect
    elif vector == "SN-07":
        fanned_out(expect)
    elif vector == "SN-28":
        part_result(expect)
    elif vector == "SN-30":
        ran = supermew_run.begin_again(given["resume_state"], given["answer"])
        assert (ran.progress.question, ran.progress.rewrite_count) == (
            expect["question"],
            expect["rewrite_count"],
        )
        assert ran.raw_trace == expect["raw_trace"]
    else:
        before, after = supermew_nodes.RUNS[vector]()
        stepped(before, after, expect)


def stepped(before: Ran, after: Ran, expect: Expected) -> None:
    state = supermew_nodes.state(after.progress)
    assert {name: state[name] for name in expect["state_update"]} == expect["state_update"]
    changed = set(updated(before.progress, after.progress))
    assert changed <= {*expect["state_update"], "docs", "context"}
    assert (state["docs"], state["context"] == "") == (expect["docs"], expect["context_empty"])
    raw = after.raw_trace
    assert supermew.shorthand(raw) == supermew.longhand(expect["raw_trace"] or {})
    assert sorted(name for name, value in raw.items() if value is None) == expect["raw_trace_null_keys"]


def fanned_out(expect: Expected) -> None:
    _, planned = supermew_nodes.RUNS["SN-05"]()
    parts = [supermew_nodes.state(part) for part in progress.fanned_out(planned.progress)]
    for part, send in zip(parts, expect["sends"], strict=True):
        assert part | {"rag_trace": None} == part | send["state"]


def part_result(expect: Expected) -> None:
    grade = supermew_nodes.PARTIAL | {"confidence": 0.5, "reason": ""}
    script = Script({"retrieval": {"甲题": supermew_nodes.docs("a1")}, "grader_outputs": [grade]})
    ran = supermew_run.answer_part(progress.asked("甲题", part=1), script)
    result = ran.progress.result
    assert {
        "question": result.question,
        "docs": [each.chunk_id for each in result.evidence],
        "route": result.route,
        "retrieval_status": result.status,
        "raw_trace": supermew.shorthand(ran.raw_trace),
    } == expect | {"raw_trace": supermew.longhand(expect["raw_trace"])}


def whole_run(given: Any, expect: Expected) -> None:
    ended(lambda script: supermew_run.run(given["question"], script), Script(given), expect)


def resumed(given: Any, expect: Expected) -> None:
    ended(
        lambda script: supermew_run.resume(given["resume_state"], given["answer"], script),
        Script(given),
        expect,
    )


def ended(run: Callable[[Script], Ran], script: Script, expect: Expected) -> None:
    if "error" in expect:
        with pytest.raises(supermew.ERRORS[expect["error"]]) as caught:
            run(script)
        if isinstance(caught.value, ValidationError):
            assert expect["error_message"].startswith(f"{caught.value.error_count()} validation error")
        assert sorted(script.calls) == expect["calls"]
        return
    ran = run(script)
    now, raw = ran.progress, ran.raw_trace
    trace = ragtrace.normalise(raw)
    assert now.decision is not None
    assert trace is not None
    assert {
        "route": now.decision.route,
        "retrieval_status": now.decision.status,
        "docs": [each.chunk_id for each in now.evidence],
        "rewrite_count": now.rewrite_count,
        "complexity": now.complexity,
        "hitl_resume_state": now.snapshot and plain(now.snapshot),
        "trace": supermew.shorthand(trace),
        "raw_only_keys": sorted(set(raw) - set(trace)),
    } == {name: value for name, value in expect.items() if name != "calls"} | {
        "trace": supermew.longhand(expect["trace"])
    }
    # Parts run side by side there, so the calls of a planned run are listed by name.
    assert (sorted(script.calls) if "planner" in script.calls else script.calls) == expect["calls"]
    ours = [name for name in trace if name not in supermew.figures(0)]
    assert ours == [name for name in expect["trace"] if name in ours]


def plain(value: BaseModel) -> Any:
    return json.loads(value.model_dump_json())
