"""The trace store port: what memory, RDF datasets on disk, and the HTTP API over either of them all promise."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette

from clew_schema.facts import Fact
from clew_schema.rdf import Metadata, Triple, Triples, blank, iri, literal, quoted
from clew_services.adapters.trace_http import HttpTraceStore
from clew_services.adapters.trace_memory import MemoryTraceStore
from clew_services.adapters.trace_oxigraph import BULK, OxigraphTraceStore, folder_name
from clew_services.errors import Forbidden, StoreFailed, Unreadable
from clew_services.handlers.trace_store import StoreTriples
from clew_services.ports import TraceRow, TraceStore
from clew_services.runtime.outcome import Outcome
from clew_services.runtime.trace_api import trace_routes
from clew_translators.explain import explain
from clew_translators.namespaces import GRAPH_RETRIEVAL, TG_QUERY
from clew_translators.trace import read_trace
from tests.translators import runs
from tests.translators.strategies import values

RUN = f"urn:trustgraph:docrag:{runs.SESSION}"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"


class Both:
    """Writes to one store, reads through the API over it."""

    def __init__(self, store: TraceStore) -> None:
        app = Starlette(routes=trace_routes(store))
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ops")
        self.below, self.http = store, HttpTraceStore(client)
        self.add, self.list, self.run = store.add, self.http.list, self.http.run

    async def close(self) -> None:
        await self.http.close()
        await self.below.close()


MAKERS: dict[str, Callable[[Path], TraceStore]] = {
    "memory": lambda _: MemoryTraceStore(),
    "oxigraph": lambda folder: OxigraphTraceStore(folder / "traces"),
    "http": lambda folder: Both(OxigraphTraceStore(folder / "traces")),
}


@pytest.fixture(params=[*MAKERS.values()], ids=[*MAKERS])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TraceStore]:
    made = request.param(tmp_path)
    yield made
    await made.close()


def shown(quads: Any) -> list[str]:
    return sorted(quad.model_dump_json() for quad in quads)


def once(batches: list[Triples]) -> list[str]:
    """What a store shows of ``batches``: several steps describe the same agents."""
    return sorted(set(shown(runs.quads_of(batches))))


def asked(session: str, second: int, *, collection: str = "manuals", parent: str = "") -> Triples:
    fact = runs.ASKED.model_copy(
        update={"query": f"question {session}", "parent_uri": parent, **runs.at("document-rag.plan", second)}
    )
    return runs.told(((fact,),), session_id=session, collection=collection)[0]


# --- what all promise -----------------------------------------------------------------------------


@pytest.mark.parametrize("batches", [runs.DOCUMENT_BATCHES, runs.AGENT_BATCHES], ids=["documents", "agent"])
async def test_a_run_comes_back_whole_in_whatever_order_it_arrived(
    store: TraceStore, batches: list[Triples]
) -> None:
    shuffled = list(batches)
    random.Random(1).shuffle(shuffled)
    for batch in shuffled:
        await store.add([batch])
    root = batches[0].metadata.root if batches[0].metadata else ""
    quads = await store.run("manuals", root)
    assert shown(quads) == once(batches)
    assert read_trace(quads) == read_trace(runs.quads_of(batches))


async def test_writing_twice_changes_nothing(store: TraceStore) -> None:
    await store.add(runs.DOCUMENT_BATCHES)
    before, rows = shown(await store.run("manuals", RUN)), await store.list("manuals")
    await store.add(runs.DOCUMENT_BATCHES)
    await store.add([runs.DOCUMENT_BATCHES[0]])
    assert shown(await store.run("manuals", RUN)) == before
    assert list(await store.list("manuals")) == list(rows)
    assert len(rows) == 1


async def test_another_collection_sees_nothing(store: TraceStore) -> None:
    await store.add(runs.DOCUMENT_BATCHES)
    assert list(await store.run("others", RUN)) == []
    assert list(await store.list("others")) == []
    assert list(await store.list("manual")) == []


async def test_the_same_run_name_in_two_collections_is_two_runs(store: TraceStore) -> None:
    """A session id is the caller's to choose: choosing another tenant's must show nothing of theirs."""
    secret = runs.told(((runs.ASKED.model_copy(update={"query": "the secret"}),), (runs.ANSWERED,)))
    await store.add(secret)
    intruder = asked(runs.SESSION, 30, collection="intruder")
    await store.add([intruder])
    assert shown(await store.run("intruder", RUN)) == shown(intruder.triples)
    assert [row.query for row in await store.list("intruder")] == [f"question {runs.SESSION}"]
    assert [(row.query, row.state) for row in await store.list("manuals")] == [("the secret", "answered")]
    assert shown(await store.run("manuals", RUN)) == once(secret)


async def test_an_empty_collection_name_is_the_default_one(store: TraceStore) -> None:
    await store.add([asked("s", 0, collection="")])
    assert [row.collection for row in await store.list("default")] == ["default"]
    assert list(await store.list("")) == list(await store.list("default"))
    assert await store.run("", "urn:trustgraph:docrag:s")


async def test_the_list_has_the_newest_first(store: TraceStore) -> None:
    seconds = {"a": 3, "b": 1, "c": 2, "d": 59}
    await store.add([asked(session, second) for session, second in seconds.items()])
    rows = await store.list("manuals")
    assert [row.session_uri[-1] for row in rows] == ["d", "a", "c", "b"]
    assert rows[0] == TraceRow(
        session_uri="urn:trustgraph:docrag:d",
        mechanism="document-rag",
        query="question d",
        asked_at="2026-01-31T12:00:59.000001Z",
        collection="manuals",
        state="running",
    )
    assert [row.session_uri[-1] for row in await store.list("manuals", limit=2)] == ["d", "a"]
    assert list(await store.list("manuals", limit=0)) == []


async def test_runs_of_one_second_are_in_order_too(store: TraceStore) -> None:
    batches = []
    for number in (2, 0, 1):
        fact = runs.ASKED.model_copy(update={"started_at": f"2026-01-31T12:00:00.00000{number}Z"})
        batches += runs.told(((fact,),), session_id=str(number))
    await store.add(batches)
    assert [row.session_uri[-1] for row in await store.list("manuals")] == ["2", "1", "0"]


async def test_a_tools_own_run_is_kept_and_not_listed(store: TraceStore) -> None:
    await store.add([*runs.AGENT_BATCHES, asked("tool", 11, parent=f"{AGENT}/i1")])
    assert [row.session_uri for row in await store.list("manuals")] == [AGENT]
    assert await store.run("manuals", "urn:trustgraph:docrag:tool")


async def test_the_list_says_how_runs_ended(store: TraceStore) -> None:
    async def state() -> str:
        return (await store.list("manuals"))[0].state

    steps = ((runs.ASKED, runs.RETRIEVED), (runs.FAILED,), (runs.GRADED,), (runs.ANSWERED,))
    first, failed, graded, answered = runs.told(steps)
    await store.add([first])
    assert await state() == "running"
    await store.add([failed])
    assert await state() == "failed"
    await store.add([graded, answered])
    assert await state() == "answered"


async def test_a_request_that_could_not_be_read_is_listed_as_failed(store: TraceStore) -> None:
    await store.add(runs.told(((runs.FAILED,),)))
    assert [(row.query, row.state) for row in await store.list("manuals")] == [("", "failed")]


async def test_a_batch_of_no_run_is_passed_over(store: TraceStore) -> None:
    knowledge = Triple(s=iri("https://ex.org/a"), p=iri("https://ex.org/knows"), o=iri("https://ex.org/b"))
    await store.add(
        [Triples(metadata=Metadata(id="https://ex.org/d", collection="manuals"), triples=(knowledge,))]
    )
    await store.add([])
    assert list(await store.list("manuals")) == []


@pytest.mark.parametrize("uri", ["", "no iri", "urn:x <y>", "urn:clew:runs", "../../etc/passwd"])
async def test_what_names_no_run_has_no_quads(store: TraceStore, uri: str) -> None:
    await store.add(runs.DOCUMENT_BATCHES)
    if uri:  # over HTTP the empty name is the list
        assert list(await store.run("manuals", uri)) == []


async def test_every_kind_of_term_comes_back(store: TraceStore) -> None:
    inner = Triple(s=iri("urn:a"), p=iri("urn:b"), o=literal("c"))
    values = [
        literal('quotes " \\ \n\r\t 中文 \x00\x07 \u2028 🧶'),
        literal(""),
        literal("hallo", language="de"),
        literal("7", datatype="http://www.w3.org/2001/XMLSchema#integer"),
        literal("0.25", datatype="http://www.w3.org/2001/XMLSchema#double"),
        literal("x", datatype="urn:own"),
        iri("urn:é:ü"),
        blank("b1"),
        quoted(inner),
    ]
    quads = tuple(Triple(s=iri(RUN), p=iri("urn:p"), o=value, g="urn:graph:x") for value in values)
    quads += (Triple(s=iri(RUN), p=iri("urn:p"), o=literal("in the default graph")),)
    await store.add([Triples(metadata=Metadata(root=RUN, collection="manuals"), triples=quads)])
    assert shown(await store.run("manuals", RUN)) == shown(quads)


@pytest.mark.parametrize(
    "name", ["../up", "a/b", ".", "A", "a", "ä", "名", "x" * 300, "a b", "con", "a\x00b"]
)
async def test_collections_may_have_any_name(store: TraceStore, name: str) -> None:
    await store.add([asked("s", 0, collection=name)])
    assert [row.collection for row in await store.list(name)] == [name]
    assert await store.run(name, "urn:trustgraph:docrag:s")
    assert list(await store.list(name + "x")) == []


async def test_many_writers_at_once(store: TraceStore) -> None:
    batches = [asked(str(number), number % 60) for number in range(60)]
    await asyncio.gather(*(store.add([batch]) for batch in batches))
    assert len(await store.list("manuals", limit=100)) == 60


async def test_a_closed_store_says_so(store: TraceStore) -> None:
    await store.close()
    await store.close()
    with pytest.raises(StoreFailed):
        await store.list("manuals")


async def test_the_handler_writes_and_sends_nothing(store: TraceStore) -> None:
    assert await StoreTriples(store)(runs.DOCUMENT_BATCHES[0]) == Outcome()
    assert [row.session_uri for row in await store.list("manuals")] == [RUN]


# --- what the disk adds ---------------------------------------------------------------------------


async def test_a_batch_that_is_no_rdf_is_refused_and_harms_no_other(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    bad = Triple(s=iri("no iri at all"), p=iri(TG_QUERY), o=literal("q"), g=GRAPH_RETRIEVAL)
    wrong = Triples(metadata=Metadata(root=RUN, collection="manuals"), triples=(bad,))
    results = await asyncio.gather(
        *(store.add([batch]) for batch in (asked("a", 1), wrong, asked("b", 2))), return_exceptions=True
    )
    assert [type(result) for result in results] == [type(None), Unreadable, type(None)]
    assert f"a batch of {RUN} is no RDF: no iri at all" in str(results[1])
    assert [row.session_uri[-1] for row in await store.list("manuals")] == ["b", "a"]
    await store.close()


async def test_more_collections_than_datasets_may_be_open(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path, open_datasets=1)
    for _ in range(2):
        for name in ("a", "b", "c"):
            await store.add([asked(name, 0, collection=name)])
            assert [row.query for row in await store.list(name)] == [f"question {name}"]
    await store.close()


async def test_a_backlog_is_loaded_in_bulk(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    await store.add([asked("before", 0)])
    batches = [batch for n in range(60) for batch in runs.told(runs.DOCUMENT_STEPS, session_id=str(n))]
    assert sum(len(batch.triples) for batch in batches) > BULK
    await store.add(batches)
    await store.add(batches[:3])
    assert len(await store.list("manuals", limit=100)) == 61
    quads = await store.run("manuals", "urn:trustgraph:docrag:59")
    assert shown(quads) == once(runs.told(runs.DOCUMENT_STEPS, session_id="59"))
    await store.close()


async def test_a_cancelled_writer_leaves_the_others_their_writes(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    tasks = [asyncio.create_task(store.add([asked(str(number), number)])) for number in range(10)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    found = {row.session_uri.rpartition(":")[2] for row in await store.list("manuals")}
    assert {str(number) for number in range(1, 10)} <= found
    await store.close()


async def test_reading_makes_no_folders(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path / "traces")
    assert list(await store.list("anything")) == []
    assert list(await store.run("anything", RUN)) == []
    await store.close()
    assert not (tmp_path / "traces").exists()


async def test_it_survives_being_opened_again_and_one_process_has_it_at_a_time(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    await store.add(runs.DOCUMENT_BATCHES)
    second = OxigraphTraceStore(tmp_path)
    with pytest.raises(StoreFailed, match="lock"):
        await second.list("manuals")
    await store.close()
    assert [row.session_uri for row in await second.list("manuals")] == [RUN]
    await second.close()


def test_it_survives_a_kill(tmp_path: Path) -> None:
    program = f"""
import asyncio, os, signal
from pathlib import Path
from clew_services.adapters.trace_oxigraph import OxigraphTraceStore
from tests.translators import runs

async def main():
    store = OxigraphTraceStore(Path({str(tmp_path)!r}))
    await store.add(runs.DOCUMENT_BATCHES)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    paths = os.pathsep.join(sys.path)
    killed = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths}, check=False
    )
    assert killed.returncode == -signal.SIGKILL

    async def check() -> None:
        store = OxigraphTraceStore(tmp_path)
        assert shown(await store.run("manuals", RUN)) == once(runs.DOCUMENT_BATCHES)
        await store.add(runs.DOCUMENT_BATCHES)
        assert len(await store.list("manuals")) == 1
        await store.close()

    asyncio.run(check())


def test_folders_of_different_collections_differ_also_where_case_does_not_count() -> None:
    names = ["a", "A", "a-", "", "ä", "a/b", "a b"]
    assert len({folder_name(name).lower() for name in names}) == len(names)
    assert all(set(folder_name(name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names)


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    facts=st.lists(values(Fact), min_size=1, max_size=4),
    session=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    ids=st.lists(
        st.sampled_from(["urn:a#b#c", "http://a:b:c/", "http://[", "urn:é", "x y:z", "%zz", "urn:%zz"])
    ),
)
async def test_no_facts_make_a_batch_that_the_store_refuses(
    tmp_path_factory: pytest.TempPathFactory, facts: list[Fact], session: str, ids: list[str]
) -> None:
    hostile = [runs.ASKED.model_copy(update={"parent_uri": name}) for name in ids]
    batch = explain([*hostile, *facts], session_id=session, collection="c", mechanism="agent")
    assert batch is not None
    store = OxigraphTraceStore(tmp_path_factory.mktemp("traces"))
    await store.add([batch])
    assert batch.metadata is not None
    assert await store.run("c", batch.metadata.root)
    await store.close()


# --- what HTTP adds -------------------------------------------------------------------------------


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
