"""Runs leave for a tracing backend when they end, if the settings name one; nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from clew_schema.retrieval import DocumentRagQuery
from clew_services.client import Client
from clew_services.core.agent import Thought
from clew_services.errors import ExportFailed
from clew_services.setting_checks import headers_of
from clew_services.settings import Settings
from clew_translators.spans import TraceSpan
from tests.flow.house import CLEW, House


class Backend:
    def __init__(self, failures: int = 0) -> None:
        self.told: list[Sequence[TraceSpan]] = []
        self.failures = failures

    async def export(self, told: Sequence[TraceSpan]) -> None:
        if self.failures:
            self.failures -= 1
            raise ExportFailed("out of order")
        self.told.append(told)

    async def runs(self, count: int) -> list[Sequence[TraceSpan]]:
        async with asyncio.timeout(10):
            while len(self.told) < count:
                await asyncio.sleep(0.01)
        return self.told


async def test_an_agents_run_and_its_tools_are_one_trace(tmp_path: Path) -> None:
    backend = Backend()
    script = [
        Thought(thought="look", action="document-query", arguments={"question": "What is a clew?"}),
        Thought(thought="done", final="Thread."),
    ]
    async with House(tmp_path, exporter=backend, thinker=script) as house:
        await house.load("clew.md", CLEW)
        await house.agent("What is a clew?", session_id="a-1")
        told = await backend.runs(2)
        assert len({span.trace_id for run in told for span in run}) == 1
        roots = {run[0].name: run[0] for run in told}
        tool, agent = roots["invoke_workflow document-rag"], roots["invoke_agent agent"]
        assert agent.parent_id == ""
        assert tool.parent_id in {span.span_id for run in told for span in run if run[0] is agent}


async def test_the_span_that_asked_is_above_the_run(tmp_path: Path) -> None:
    backend = Backend()
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with House(tmp_path, exporter=backend) as house:
        await house.load("clew.md", CLEW)
        async with Client(house.bus, house.settings.space, traceparent=caller) as client:
            await client.answer(DocumentRagQuery(query="What is a clew?"), timeout=10)
        ((root, *_),) = await backend.runs(1)
        assert (root.trace_id, root.parent_id) == ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331")


async def test_a_backend_that_is_out_of_order_is_asked_again(tmp_path: Path) -> None:
    backend = Backend(failures=1)
    async with House(tmp_path, exporter=backend) as house:
        await house.load("clew.md", CLEW)
        assert (await house.ask("What is a clew?")).error is None
        ((root, *_),) = await backend.runs(1)
        assert root.attributes["clew.outcome"] == "answer"


async def test_without_a_backend_nothing_reads_for_it(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        assert "trace-store.export" not in house.service.health()
    async with House(tmp_path, exporter=Backend()) as house:
        assert "trace-store.export" in house.service.health()


def test_headers() -> None:
    assert headers_of(SecretStr(" api-key = k=1 , x=y,")) == {"api-key": "k=1", "x": "y"}
    assert headers_of(SecretStr("")) == {}
    for bad in ("key", "k=v,oh", "ключ=v", "k=v\r\nx: y"):
        with pytest.raises(ValidationError) as caught:
            Settings(otlp_headers=SecretStr(bad))
        assert "NAME=VALUE" in str(caught.value)
        assert bad not in caught.value.errors(include_input=False, include_url=False)[0]["msg"]
    with pytest.raises(ValidationError, match="begins with"):
        Settings(otlp_endpoint="collector:4318")
