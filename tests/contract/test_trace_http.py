"""The trace API: what it refuses, and what its client makes of a server that is not ours."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from clew_services.adapters.stores.trace_http import HttpTraceStore
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.errors import BadRequest, Forbidden, StoreFailed
from clew_services.ports import QueryResult, TraceFilter, TraceRow
from clew_services.runtime.trace_api import trace_routes
from tests.contract.trace_stores import uri
from tests.translators import runs
from tests.translators.runs import asked

RUN = f"urn:trustgraph:docrag:{runs.SESSION}"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"
EVERYTHING = TraceFilter()


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


# --- what is posted -------------------------------------------------------------------------------

QUERY, ERASE = "/api/traces/query", "/api/traces/erase"
HOSTILE = (
    "a/b",
    "../x",
    "a?collection=manuals",
    "a&b=c#d",
    "urn:graph:runs",
    "'; DROP",
    "<urn:x>",
    "名\u202e",
    " ",
)


@pytest.fixture
async def memory() -> MemoryTraceStore:
    """A run in ``manuals`` and one in ``others``."""
    store = MemoryTraceStore()
    await store.add([asked("mine", 1), asked("theirs", 2, collection="others")])
    return store


@pytest.fixture
async def client(memory: MemoryTraceStore) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=trace_routes(memory))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ops") as asking:
        yield asking


@pytest.mark.parametrize("path", [QUERY, ERASE])
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "body: Invalid JSON"),
        (b"{", "body: Invalid JSON"),
        (b"[" * 100_000, "body: Invalid JSON"),
        (b"[]", "body: "),
        (b'{"collection": 1}', "collection: "),
        (b'{"collection": "a", "query": "ASK {}", "force": true}', "Extra inputs are not permitted"),
        (b'{"collection": "\\ud800"}', "body: Invalid JSON"),
        (b" " * (4 * 2**20 + 1), "more than 4194304 bytes"),
    ],
    ids=["empty", "cut", "deep", "list", "number", "more", "half a character", "long"],
)
async def test_a_body_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, path: str, body: bytes, problem: str
) -> None:
    reply = await client.post(path, content=body, headers={"content-type": "application/json"})
    assert (reply.status_code, reply.json()["error"]["type"]) == (400, "bad-request")
    assert problem in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "fields",
    [
        {"query": "ASK {}", "seconds": 0},
        {"query": "ASK {}", "seconds": 601},
        {"query": "ASK {}", "limit": -1},
        {"query": "ASK {}", "limit": 100_001},
        {"query": "ASK {}", "limit": "5"},
        {"query": None},
        {"query": "DROP ALL"},
    ],
)
async def test_a_query_beyond_its_bounds_is_refused(
    client: httpx.AsyncClient, fields: dict[str, Any]
) -> None:
    reply = await client.post(QUERY, json={"collection": "manuals"} | fields)
    assert (reply.status_code, reply.json()["error"]["type"]) == (400, "bad-request")


@pytest.mark.parametrize("path", [QUERY, ERASE])
async def test_no_page_in_a_browser_posts(
    client: httpx.AsyncClient, memory: MemoryTraceStore, path: str
) -> None:
    """Neither one of another site, nor one whose name was made to mean this machine."""
    asked = {"collection": "manuals", "all": True} if path == ERASE else {"query": "ASK {}"}
    form = await client.post(path, content=json.dumps(asked), headers={"content-type": "text/plain"})
    assert form.status_code == 400
    for origin in ("http://evil.example", "http://ops", "null"):
        reply = await client.post(path, json=asked, headers={"origin": origin})
        assert (reply.status_code, reply.json()["error"]["type"]) == (403, "forbidden")
    assert await memory.run("manuals", uri("mine"))


async def test_results_are_those_of_sparql(client: httpx.AsyncClient) -> None:
    select = "SELECT DISTINCT ?q ?none WHERE { ?r <https://trustgraph.ai/ns/query> ?q }"
    told = (await client.post(QUERY, json={"collection": "manuals", "query": select})).json()
    assert told == {
        "head": {"vars": ["q", "none"]},
        "results": {"bindings": [{"q": {"type": "literal", "value": "question mine"}}]},
    }
    made = "CONSTRUCT { <urn:a> <urn:b> 1 } WHERE {}"
    triples = (await client.post(QUERY, json={"query": made})).json()["triples"]
    assert [(t["s"]["iri"], t["o"]["value"], t["g"]) for t in triples] == [("urn:a", "1", None)]
    late = await client.post(
        QUERY, json={"query": "ASK { ?s ?p ?o }", "seconds": 0.001, "collection": "manuals"}
    )
    assert (late.status_code, late.json()["error"]["type"]) == (408, "deadline-exceeded")


async def test_erasing_says_what_to_erase_and_reaches_one_collection(
    client: httpx.AsyncClient, memory: MemoryTraceStore
) -> None:
    both = {"collection": "manuals", "runs": [uri("mine")], "all": True}
    assert (await client.post(ERASE, json=both)).status_code == 400
    nothing = await client.post(ERASE, json={"collection": "manuals"})
    assert nothing.json() == {"collection": "manuals", "erased": 0}
    for collection in (*HOSTILE, "manuals"):
        reply = await client.post(ERASE, json={"collection": collection, "runs": [uri("theirs")]})
        assert reply.json() == {"collection": collection, "erased": 0}
        if collection != "manuals":
            assert (await client.post(ERASE, json={"collection": collection, "all": True})).json()[
                "erased"
            ] == 0
    assert await memory.run("others", uri("theirs"))
    assert await memory.run("manuals", uri("mine"))


@pytest.mark.parametrize("collection", HOSTILE)
async def test_names_of_collections_are_text(
    client: httpx.AsyncClient, memory: MemoryTraceStore, collection: str
) -> None:
    store = HttpTraceStore(client)
    everything = "SELECT DISTINCT ?q WHERE { ?r <https://trustgraph.ai/ns/query> ?q }"
    assert list(await store.list(collection)) == []
    assert (await store.query(collection, everything, seconds=20, limit=9)).rows == ()
    await memory.add([asked("hostile", 3, collection=collection)])
    assert [row.session_uri for row in await store.list(collection)] == [uri("hostile")]
    assert list(await store.collections()) == sorted(["manuals", "others", collection])
    (row,) = (await store.query(collection, everything, seconds=20, limit=9)).rows
    assert row[0] is not None
    assert row[0].value == "question hostile"
    assert await store.erase_collection(collection) == 1
    assert list(await store.collections()) == ["manuals", "others"]


async def test_a_run_is_looked_for_under_its_name_whatever_that_is(client: httpx.AsyncClient) -> None:
    store = HttpTraceStore(client)
    for name in (
        "query",
        "erase",
        "../collections",
        "a?collection=others",
        "\ud800",
        "%2e%2e",
        uri("theirs"),
    ):
        assert list(await store.run("manuals", name)) == []
    assert await store.run("manuals", uri("mine"))


# --- a caller that goes away ----------------------------------------------------------------------


class Slow(MemoryTraceStore):
    """Answers no query, and notes when one is given up."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.gave_up = asyncio.Event(), asyncio.Event()

    async def query(self, collection: str, sparql: str, *, seconds: float, limit: int) -> QueryResult:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.gave_up.set()
        raise AssertionError


async def test_a_query_ends_when_its_caller_goes_away() -> None:
    store = Slow()
    app = Starlette(routes=trace_routes(store))
    body = json.dumps({"query": "ASK {}", "seconds": 600}).encode()
    incoming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    incoming.put_nowait({"type": "http.request", "body": body})
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": QUERY, "raw_path": QUERY.encode(), "query_string": b"",
        "headers": [(b"content-type", b"application/json")], "root_path": "", "http_version": "1.1",
    }  # fmt: skip
    request = asyncio.create_task(app(scope, incoming.get, send))
    await asyncio.wait_for(store.began.wait(), 5)
    assert not store.gave_up.is_set()
    incoming.put_nowait({"type": "http.disconnect"})
    await asyncio.wait_for(store.gave_up.wait(), 5)
    await asyncio.wait_for(request, 5)


# --- the whole port over it -----------------------------------------------------------------------


async def test_filters_and_cursors_travel() -> None:
    seen: list[httpx.URL] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.url)
        return httpx.Response(200, json={"traces": []})

    store = api(handle)
    where = TraceFilter(
        mechanisms=frozenset({"agent", "document-rag"}),
        states=frozenset({"failed"}),
        person="Ann & Bob",
        since="2026",
        until="2027-01-01T00:00",
        text="100% +1",
        tools=True,
    )
    await store.list("a&b", limit=3, where=where, after="2026-01-31T12:00:00Z urn:x")
    assert sorted(seen[0].params.multi_items()) == sorted(
        [
            ("collection", "a&b"),
            ("limit", "3"),
            ("mechanism", "agent"),
            ("mechanism", "document-rag"),
            ("state", "failed"),
            ("person", "Ann & Bob"),
            ("since", "2026"),
            ("until", "2027-01-01T00:00"),
            ("text", "100% +1"),
            ("tools", "true"),
            ("after", "2026-01-31T12:00:00Z urn:x"),
        ]
    )
    await store.close()


async def test_next_is_the_cursor_of_a_full_page(client: httpx.AsyncClient, memory: MemoryTraceStore) -> None:
    await memory.add([asked("b", 4)])
    first = (await client.get("/api/traces", params={"collection": "manuals", "limit": 1})).json()
    assert first["next"] == first["traces"][0]["asked_at"] + " " + uri("b")
    params = {"collection": "manuals", "limit": 2, "after": first["next"]}
    rest = (await client.get("/api/traces", params=params)).json()
    assert ([row["session_uri"] for row in rest["traces"]], rest["next"]) == ([uri("mine")], "")
    for wrong in ({"after": "x"}, {"state": "dead"}, {"mechanism": "x"}, {"tools": "yes"}):
        assert (await client.get("/api/traces", params=wrong)).status_code == 400


class Long(MemoryTraceStore):
    """Lists 25,000 runs, at most 10,000 at once, and notes which it was told to erase."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: list[int] = []
        self.erased: list[int] = []

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = EVERYTHING, after: str = ""
    ) -> Sequence[TraceRow]:
        first = int(after.rpartition(":")[2]) + 1 if after else 0
        self.pages.append(limit)
        return [
            TraceRow(
                session_uri=f"urn:run:{number}",
                mechanism="agent",
                query="",
                asked_at="2026",
                collection=collection,
                state="answered",
            )
            for number in range(first, min(first + limit, 25_000))
        ]

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        self.erased.append(len(session_uris))
        return len(session_uris)


@pytest.mark.parametrize(("limit", "rows"), [(0, 0), (-1, 0), (12_000, 12_000), (99_999, 25_000)])
async def test_a_long_list_takes_several_requests(limit: int, rows: int) -> None:
    app = Starlette(routes=trace_routes(Long()))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ops") as asking:
        found = await HttpTraceStore(asking).list("manuals", limit=limit)
    assert [row.session_uri for row in found] == [f"urn:run:{number}" for number in range(rows)]


async def test_many_long_names_are_erased_in_several_requests() -> None:
    store = Long()
    app = Starlette(routes=trace_routes(store))
    names = [f"urn:{number}:{'x' * 20_000}" for number in range(400)]  # 8 MB: twice what may be posted
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ops") as asking:
        assert await HttpTraceStore(asking).erase("manuals", names) == 400
        assert await HttpTraceStore(asking).erase("manuals", []) == 0
    assert len(store.erased) > 2
    assert sum(store.erased) == 400


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"head": {"vars": ["a"]}},
        {"head": {"vars": [1]}, "results": {"bindings": []}},
        {"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "odd", "value": ""}}]}},
        {"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "uri", "value": 1}}]}},
        {"boolean": "true"},
        {"triples": [{"s": 1}]},
        {"triples": 1},
    ],
)
async def test_a_result_that_is_not_ours_is_a_failure(reply: dict[str, Any]) -> None:
    store = api(lambda _: httpx.Response(200, json=reply))
    with pytest.raises(StoreFailed, match="trace API"):
        await store.query("manuals", "ASK {}", seconds=1, limit=1)
    await store.close()


@pytest.mark.parametrize("reply", [{}, {"erased": True}, {"erased": "1"}])
async def test_an_erasing_that_does_not_say_how_many_is_a_failure(reply: dict[str, Any]) -> None:
    store = api(lambda _: httpx.Response(200, json=reply))
    with pytest.raises(StoreFailed, match="how many"):
        await store.erase_collection("manuals")
    await store.close()


async def test_a_refusal_of_the_other_side_is_raised_as_its_store_raises_it() -> None:
    told = {"error": {"type": "bad-request", "message": "SPARQL LOAD is refused"}}
    store = api(lambda _: httpx.Response(400, json=told))
    with pytest.raises(BadRequest, match="LOAD is refused"):
        await store.query("manuals", "LOAD <urn:x>", seconds=1, limit=1)
    await store.close()
