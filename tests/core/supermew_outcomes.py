"""What must hold of a node that was done, and of a run that came to its end."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from clew_schema.facts import EvidenceGraded, Mode, RunResumed
from clew_translators.ragtrace_facts import project
from tests.core import supermew, supermew_nodes
from tests.core.supermew_nodes import Make, names, state
from tests.core.supermew_run import Ran, Script, Steps

Expected = dict[str, Any]


def updated(before: Ran, after: Ran) -> dict[str, Any]:
    old, new = state(before), state(after)
    return {name: value for name, value in new.items() if value != old[name]}


async def node(given: Any, expect: Expected, vector: str, make: Make = Steps) -> None:
    if vector == "SN-01":
        began = state(supermew_nodes.began(given["question"]))
        assert began | {"rag_trace": None, "sub_results": []} == expect
    elif vector == "SN-07":
        await fanned_out(expect, make)
    elif vector == "SN-28":
        await part_result(expect, make)
    elif vector == "SN-30":
        _, after = await supermew_nodes.resumed(make, RunResumed, given["resume_state"], given["answer"])
        assert (state(after)["question"], state(after)["rewrite_count"]) == (
            expect["question"],
            expect["rewrite_count"],
        )
        assert after.raw_trace == expect["raw_trace"]
    else:
        before, after = await supermew_nodes.RUNS[vector](make)
        stepped(before, after, expect)


def stepped(before: Ran, after: Ran, expect: Expected) -> None:
    now = state(after)
    assert {name: now[name] for name in expect["state_update"]} == expect["state_update"]
    changed = set(updated(before, after))
    assert changed <= {*expect["state_update"], "docs", "context"}
    assert (now["docs"], now["context"] == "") == (expect["docs"], expect["context_empty"])
    raw = after.raw_trace
    assert supermew.shorthand(raw) == supermew.longhand(expect["raw_trace"] or {})
    assert sorted(name for name, value in raw.items() if value is None) == expect["raw_trace_null_keys"]


async def fanned_out(expect: Expected, make: Make) -> None:
    _, planned = await supermew_nodes.RUNS["SN-05"](make)
    parts = [state(Ran(planned.question, planned.facts, part=part)) for part in planned.run.branches]
    for part, send in zip(parts, expect["sends"], strict=True):
        assert part | {"rag_trace": None} == part | send["state"]


async def part_result(expect: Expected, make: Make) -> None:
    whole = await supermew_nodes.whole_of_part(make)
    ran = Ran(whole.question, whole.facts, part=1).until(EvidenceGraded)
    result = ran.run.branches[1].result
    assert {
        "question": result.question,
        "docs": names(result.evidence),
        "route": result.route,
        "retrieval_status": result.status,
        "raw_trace": supermew.shorthand(ran.raw_trace),
    } == expect | {"raw_trace": supermew.longhand(expect["raw_trace"])}


async def whole_run(given: Any, expect: Expected, mode: Mode = "strict") -> None:
    script = Script(given)
    await ended(Steps(script, mode).ask(given["question"]), script, expect)


async def resumed(given: Any, expect: Expected, mode: Mode = "strict") -> None:
    script = Script(given)
    await ended(Steps(script, mode).answer(given["resume_state"], given["answer"]), script, expect)


async def ended(run: Awaitable[Ran], script: Script, expect: Expected) -> None:
    if "error" in expect:
        with pytest.raises(supermew.ERRORS[expect["error"]]) as caught:
            await run
        if isinstance(caught.value, ValidationError):
            assert expect["error_message"].startswith(f"{caught.value.error_count()} validation error")
        assert sorted(script.calls) == sorted(expect["calls"])
        return
    ran = await run
    assert ran.response is not None
    trace, told = ran.response.rag_trace, ran.run
    assert trace is not None
    raw = project(ran.facts).told.top or {}
    assert {
        "route": trace["route"],
        "retrieval_status": trace["retrieval_status"],
        "docs": names(told.verdict.evidence),
        "rewrite_count": told.rewrite_count,
        "complexity": told.plan and told.plan.complexity,
        "hitl_resume_state": project(ran.facts).resume_state,
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
