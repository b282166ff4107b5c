"""The trace API: what it refuses, and what its client makes of a server that is not ours."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from starlette.applications import Starlette

from clew_services.adapters.stores.trace_http import HttpTraceStore
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.errors import Forbidden, StoreFailed
from clew_services.runtime.trace_api import trace_routes
from tests.translators import runs

RUN = f"urn:trustgraph:docrag:{runs.SESSION}"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"


def api(handler: Callable[[httpx.Request], httpx.Response]) -> HttpTraceStore:
    return HttpTraceStore(httpx.AsyncClient(transport=httpx.MockTransport(handler), base_url="http://ops"))


async def test_nothing_is_written_over_http() -> None:
    store = api(lambda _: httpx.Response(200))
    with pytest.raises(Forbidden, match="explainability topic"):
        await store.add(runs.DOCUMENT_BATCHES)
    await store.close()


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"traces": [{"session_uri": 1}]}),
        httpx.Response(404, json={"detail": "some other server"}),
        httpx.Response(503, json={"error": {"type": "store-failed", "message": "busy"}}),
    ],
    ids=["no JSON", "no object", "wrong rows", "another server", "failed"],
)
async def test_a_reply_that_is_not_ours_is_a_failure(reply: httpx.Response) -> None:
    store = api(lambda _: reply)
    with pytest.raises(StoreFailed, match="trace API"):
        await store.list("manuals")
    await store.close()


async def test_nobody_listening_is_a_failure() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    store = api(refuse)
    with pytest.raises(StoreFailed, match=r"http://ops.*refused"):
        await store.run("manuals", RUN)
    await store.close()


@pytest.mark.parametrize("limit", ["0", "-1", "10001", "x", "²", ""])
async def test_a_limit_that_makes_no_sense_is_refused(limit: str) -> None:
    app = Starlette(routes=trace_routes(MemoryTraceStore()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ops") as client:
        reply = await client.get("/api/traces", params={"limit": limit})
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "bad-request"
    assert "limit must be a number from 1 to 10000" in reply.json()["error"]["message"]


async def test_the_api_says_what_is_missing_and_what_failed() -> None:
    memory = MemoryTraceStore()
    app = Starlette(routes=trace_routes(memory))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ops") as client:
        missing = await client.get(f"/api/traces/{RUN}", params={"collection": "c"})
        await memory.close()
        failed = [await client.get(path) for path in ("/api/traces", f"/api/traces/{RUN}")]
    assert (missing.status_code, missing.json()["error"]["type"]) == (404, "unknown-trace")
    assert [(reply.status_code, reply.json()["error"]["type"]) for reply in failed] == [
        (503, "store-failed")
    ] * 2
