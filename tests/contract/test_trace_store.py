"""What every trace store promises of runs that are written and read. See also the other modules named so."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew_schema.rdf import Metadata, Term, Triple, Triples, blank, iri, literal, quoted
from clew_services.errors import Forbidden, StoreFailed
from clew_services.handlers.trace_store import StoreTriples
from clew_services.ports import TraceFilter, TraceRow, TraceStore
from clew_services.runtime.outcome import Outcome
from clew_translators.trace import read_trace
from tests.contract.trace_stores import PAUSED, resumed, run, uri
from tests.translators import runs
from tests.translators.runs import asked, once, shown

RUN = f"urn:trustgraph:docrag:{runs.SESSION}"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"
NUMBERS = itertools.count()


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


async def test_a_run_of_another_collection_is_refused_and_nothing_of_it_is_written(store: TraceStore) -> None:
    """A session id is the caller's to choose: choosing another tenant's must neither show nor change anything."""
    await store.add(runs.DOCUMENT_BATCHES)
    with pytest.raises(Forbidden, match="another collection"):
        await store.add([asked(runs.SESSION, 30, collection="intruder")])
    assert list(await store.run("intruder", RUN)) == []
    assert list(await store.list("intruder")) == []
    assert "intruder" not in await store.collections()
    assert shown(await store.run("manuals", RUN)) == once(runs.DOCUMENT_BATCHES)
    assert [row.query for row in await store.list("manuals")] == [runs.ASKED.query]


async def test_one_call_cannot_tell_a_run_in_two_collections(store: TraceStore) -> None:
    with pytest.raises(Forbidden):
        await store.add([asked("s", 1), asked("s", 1, collection="others")])
    assert not await store.run("others", "urn:trustgraph:docrag:s")


async def test_a_name_that_was_erased_is_free_for_another_collection(store: TraceStore) -> None:
    await store.add([asked("s", 1)])
    await store.erase("manuals", ["urn:trustgraph:docrag:s"])
    await store.add([asked("s", 1, collection="others")])
    assert [row.collection for row in await store.list("others")] == ["others"]


async def test_the_collections_that_have_runs(store: TraceStore) -> None:
    assert list(await store.collections()) == []
    await store.add([asked("a", 1, collection="b c"), asked("b", 1, collection=""), *runs.DOCUMENT_BATCHES])
    assert list(await store.collections()) == ["b c", "default", "manuals"]


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


VALUES = (
    literal('quotes " \\ \n\r\t 中文 \x00\x07 \u2028 🧶'),
    literal(""),
    literal("hallo", language="de"),
    literal("7", datatype="http://www.w3.org/2001/XMLSchema#integer"),
    literal("0.25", datatype="http://www.w3.org/2001/XMLSchema#double"),
    literal("x", datatype="urn:own"),
    iri("urn:é:ü"),
    blank("b1"),
    quoted(Triple(s=iri("urn:a"), p=iri("urn:b"), o=literal("c"))),
)
KINDS_OF_TERM = (
    *((value, "urn:graph:x") for value in VALUES),
    (literal("in the default graph"), None),
)


def batch_of(run: str, values: Sequence[tuple[Term, str | None]]) -> Triples:
    """A batch that says ``values`` of ``run``, each in a graph."""
    quads = tuple(Triple(s=iri(run), p=iri("urn:p"), o=value, g=graph) for value, graph in values)
    return Triples(metadata=Metadata(root=run, collection="manuals"), triples=quads)


async def test_every_kind_of_term_comes_back(store: TraceStore) -> None:
    batch = batch_of(RUN, KINDS_OF_TERM)
    await store.add([batch])
    assert shown(await store.run("manuals", RUN)) == shown(batch.triples)


@pytest.mark.parametrize(
    "name", ["../up", "a/b", ".", "A", "a", "ä", "名", "x" * 300, "a b", "con", "a\x00b"]
)
async def test_collections_may_have_any_name(store: TraceStore, name: str) -> None:
    await store.add([asked("s", 0, collection=name)])
    assert [row.collection for row in await store.list(name)] == [name]
    assert await store.run(name, "urn:trustgraph:docrag:s")
    assert list(await store.list(name + "x")) == []


@settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
async def test_any_order_and_any_repetition_make_the_same_dataset(
    store: TraceStore, data: st.DataObject
) -> None:
    """Sent in another order, and some of it again: what comes of it is the same."""
    batches = [
        *runs.DOCUMENT_BATCHES,
        *runs.AGENT_BATCHES,
        *run("waited", 3, PAUSED, resumed("bob"), runs.ANSWERED, person="ann"),
    ]
    for row in await store.list("manuals", where=TraceFilter(tools=True)):
        await store.erase("manuals", [row.session_uri])
    # A run that was erased stays away; so each example has runs of its own.
    number = next(NUMBERS)
    mine = [_renamed(batch, str(number)) for batch in batches]
    order = data.draw(st.permutations(mine))
    again = data.draw(st.lists(st.sampled_from(mine), max_size=6))
    for batch in (*order, *again):
        await store.add([batch])
    rows = {
        row.session_uri.rpartition("-")[0]: (row.state, row.person) for row in await store.list("manuals")
    }
    assert rows == {
        f"{RUN}": ("answered", ""),
        f"{AGENT}": ("answered", ""),
        f"{uri('waited')}": ("answered", "ann"),
    }
    for name in (RUN, AGENT, uri("waited")):
        told = [batch for batch in mine if batch.metadata and batch.metadata.root == f"{name}-{number}"]
        assert shown(await store.run("manuals", f"{name}-{number}")) == once(told)


def _renamed(batch: Triples, number: str) -> Triples:
    """The same batch of a run of another name."""
    text = batch.model_dump_json()
    for name in (RUN, AGENT, uri("waited")):
        text = text.replace(name, f"{name}-{number}")
    return Triples.model_validate_json(text)


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
