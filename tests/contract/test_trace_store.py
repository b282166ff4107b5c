"""The trace store port: what memory, RDF datasets on disk, and the HTTP API over either of them all promise."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from clew_schema.rdf import Metadata, Triple, Triples, blank, iri, literal, quoted
from clew_services.adapters.stores.trace_http import HttpTraceStore
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.errors import StoreFailed
from clew_services.handlers.trace_store import StoreTriples
from clew_services.ports import TraceRow, TraceStore
from clew_services.runtime.outcome import Outcome
from clew_services.runtime.trace_api import trace_routes
from clew_translators.trace import read_trace
from tests.translators import runs
from tests.translators.runs import asked, once, shown

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


async def test_refused_runs_of_one_name_in_many_collections_are_each_their_own(store: TraceStore) -> None:
    def refused(number: int) -> Triples:
        failed = runs.FAILED.model_copy(update={"message": f"there is no collection {number}"})
        return runs.told(((runs.ASKED, failed),), collection=str(number))[0]

    await store.add([refused(number) for number in range(500)])
    for number in (0, 250, 499):
        assert [(row.session_uri, row.state) for row in await store.list(str(number))] == [(RUN, "failed")]
        assert shown(await store.run(str(number), RUN)) == once([refused(number)])
    assert list(await store.list("500")) == []
    assert list(await store.run("500", RUN)) == []


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
