"""The trace store on disk, beyond what its port promises: crashes, locks, bulk loads, what is no RDF."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew_schema.facts import Fact
from clew_schema.rdf import Metadata, Triple, Triples, iri, literal
from clew_services.adapters.stores.oxigraph_datasets import BULK, Datasets
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore, folder_name
from clew_services.errors import BadRequest, StoreFailed, Unreadable
from clew_services.ports import TraceFilter
from clew_translators.explain import explain
from clew_translators.namespaces import GRAPH_RETRIEVAL, TG_QUERY
from tests.translators import runs
from tests.translators.runs import asked, once, shown
from tests.translators.strategies import values

RUN = f"urn:trustgraph:docrag:{runs.SESSION}"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"


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


async def test_half_a_character_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    half = "\ud800"
    await store.add([asked("s", 0)])
    for where in (TraceFilter(text=half), TraceFilter(since=half)):
        with pytest.raises(BadRequest, match="half a character"):
            await store.list("manuals", where=where)
    with pytest.raises(BadRequest, match="half a character"):
        await store.run(half, RUN)
    with pytest.raises(Unreadable):
        await store.add([asked("s", 0, collection=half)])
    with pytest.raises(BadRequest, match="half a character"):
        await store.erase("manuals", [half])
    assert len(await store.list("manuals")) == 1
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
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
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


def test_files_that_rocksdb_deletes_meanwhile_count_no_more(tmp_path: Path) -> None:
    """As its compaction does in the background, whatever we look at."""
    datasets, folder, over = Datasets(tmp_path, limit=1, pinned=""), tmp_path / "x", threading.Event()
    folder.mkdir()

    def churn() -> None:
        for number in itertools.count():
            if over.is_set():
                return
            (folder / f"{number % 50}.sst").write_bytes(b"12345")
            (folder / f"{(number - 20) % 50}.sst").unlink(missing_ok=True)

    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(churn)
        try:
            sizes = {datasets.size("x") for _ in range(3_000)}
        finally:
            over.set()
        busy.result()
    assert max(sizes) <= 50 * 5
    datasets.drop("x")
    assert datasets.size("x") == 0
