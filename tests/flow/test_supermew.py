"""The documented snapshots, and every vector of a whole run, through the real consumers on one memory bus.

What a node left behind is read from the triples that the services published: explanation and record are one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.core import supermew, supermew_outcomes
from tests.core.supermew_run import Script
from tests.flow.supermew_services import Failed, Services

UNREACHABLE = {"SN-01": "before the first message", "SN-25": "no route of a run leads there"}
"""Snapshots that no message can show; the handlers alone are asked for them in tests/core."""

BY_OP: dict[str, list[dict[str, Any]]] = {}
for vector in supermew.VECTORS:
    BY_OP.setdefault(vector["op"], []).append(vector)


@pytest.mark.parametrize(
    "vector", [v for v in BY_OP["node"] if v["id"] not in UNREACHABLE], ids=lambda vector: vector["id"]
)
async def test_a_snapshot(tmp_path: Path, vector: dict[str, Any]) -> None:
    await supermew_outcomes.node(
        vector["given"], vector["expect"], vector["id"], lambda script: Services(tmp_path, script)
    )


@pytest.mark.parametrize("vector", BY_OP["run"], ids=lambda vector: vector["id"])
async def test_a_run(tmp_path: Path, vector: dict[str, Any]) -> None:
    given, expect = vector["given"], vector["expect"]
    script = Script(given)
    run = Services(tmp_path, script).ask(given["question"])
    if "error" in expect:
        with pytest.raises(Failed):
            await run
        assert sorted(script.calls) == sorted(expect["calls"])
    else:
        await supermew_outcomes.ended(run, script, expect)


@pytest.mark.parametrize(
    "vector", [v for v in BY_OP["resume"] if "error" not in v["expect"]], ids=lambda vector: vector["id"]
)
async def test_a_resumption(tmp_path: Path, vector: dict[str, Any]) -> None:
    given = vector["given"]
    script = Script(given)
    run = Services(tmp_path, script).answer(given["resume_state"], given["answer"])
    await supermew_outcomes.ended(run, script, vector["expect"])
