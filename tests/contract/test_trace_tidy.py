"""The trace store on disk: what erasing leaves in files, what it costs, and datasets that an earlier Clew wrote."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pyoxigraph as ox
import pytest

from clew_services.adapters.stores.oxigraph_datasets import Datasets
from clew_services.adapters.stores.oxigraph_index import REMEMBERED_DAYS
from clew_services.adapters.stores.trace_oxigraph import SHARED, OxigraphTraceStore, folder_name
from clew_services.errors import StoreFailed
from clew_services.ports import TraceFilter, TraceStore
from tests.contract.trace_stores import PAUSED, found, resumed, run, uri
from tests.translators import runs
from tests.translators.runs import asked, once, shown

OLD = Path(__file__).parents[1] / "data" / "traces"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"


def files_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("settle", [0.0, 60.0], ids=["by itself", "when it is closed"])
async def test_texts_of_what_was_erased_leave_the_files(tmp_path: Path, settle: float) -> None:
    store = OxigraphTraceStore(tmp_path, settle=settle)
    await store.add([*found("gone", 1, "ERASED-TEXT which is long"), *found("stays", 2, "a text that stays")])
    await store.add([asked("shared", 3, collection="others"), asked("other", 4, collection="others")])
    assert b"ERASED-TEXT" in files_of(tmp_path)
    assert b"question shared" in files_of(tmp_path)
    await store.erase("manuals", [uri("gone")])
    await store.erase("others", [uri("shared")])
    if settle:
        await store.close()
    for _ in range(100):
        if settle or not any(text in files_of(tmp_path) for text in (b"ERASED-TEXT", b"question shared")):
            break
        await asyncio.sleep(0.05)
    left = files_of(tmp_path)
    for text in (b"ERASED-TEXT", b"question gone", b"docrag:gone", b"question shared", b"docrag:shared"):
        assert text not in left, text
    store = store if not settle else OxigraphTraceStore(tmp_path)
    assert shown(await store.run("manuals", uri("stays"))) == once(found("stays", 2, "a text that stays"))
    assert [row.session_uri for row in await store.list("others")] == [uri("other")]
    await store.close()


async def test_a_collections_files_go_at_once(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    await store.add(found("gone", 1, "ERASED-TEXT"))
    assert (tmp_path / folder_name("manuals")).exists()
    await store.erase_collection("manuals")
    assert not (tmp_path / folder_name("manuals")).exists()
    await store.add(found("new", 2, "new"))
    assert [row.session_uri for row in await store.list("manuals")] == [uri("new")]
    await store.close()


@pytest.mark.parametrize("cut", ["half written", "not yet in place", "not yet cleaned"])
def test_a_rewriting_that_was_cut_short_is_undone_or_finished(tmp_path: Path, cut: str) -> None:
    def quads(name: str) -> int:
        dataset = ox.Store(str(tmp_path / name))
        return sum(1 for _ in dataset.quads_for_pattern(None, None, None, None))

    quad = ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("o"))
    datasets = Datasets(tmp_path, limit=2, pinned=SHARED)
    datasets.write("a", [quad], characters=1)
    datasets.close()
    if cut == "half written":
        (tmp_path / "a.new").mkdir()
    else:
        shutil.copytree(tmp_path / "a", tmp_path / "a.old")
        if cut == "not yet in place":
            (tmp_path / "a").rename(tmp_path / "a.new")
    Datasets(tmp_path, limit=2, pinned=SHARED).mend()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a"]
    assert quads("a") == 1


async def test_that_a_run_was_erased_is_forgotten_in_time(tmp_path: Path) -> None:
    now = [1_000_000.0]
    store = OxigraphTraceStore(tmp_path, now=lambda: now[0])
    await store.add([asked("a", 1)])
    await store.erase("manuals", [uri("a")])
    now[0] += (REMEMBERED_DAYS - 1) * 86_400
    await store.add([asked("b", 2)])
    await store.erase("manuals", [uri("b")])
    await store.add([asked("a", 1)])
    assert list(await store.list("manuals")) == []
    now[0] += 2 * 86_400
    await store.add([asked("c", 3)])
    await store.erase("manuals", [uri("c")])
    await store.add([asked("a", 1), asked("b", 2)])
    assert [row.session_uri for row in await store.list("manuals")] == [uri("a")]
    await store.close()


async def test_queries_leave_nothing_behind(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    await store.add(runs.DOCUMENT_BATCHES)
    before = sorted(each.name for each in tmp_path.iterdir())
    await asyncio.gather(*(store.query("manuals", "ASK { ?s ?p ?o }", seconds=20, limit=1) for _ in range(3)))
    assert sorted(each.name for each in tmp_path.iterdir()) == before
    await store.close()
    with pytest.raises(StoreFailed):
        await store.query("manuals", "ASK { ?s ?p ?o }", seconds=20, limit=1)


# --- datasets of an earlier Clew ------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> TraceStore:
    """What the version before filters and erasure wrote."""
    for file in OLD.glob("*.nq"):
        folder = tmp_path / "traces" / file.stem
        folder.mkdir(parents=True)
        dataset = ox.Store(str(folder))
        dataset.bulk_load(path=str(file), format=ox.RdfFormat.N_QUADS)
        dataset.flush()
    return OxigraphTraceStore(tmp_path / "traces")


async def test_old_datasets_go_on_to_list_right(old: TraceStore) -> None:
    async def listed(where: TraceFilter) -> list[str]:
        return [row.session_uri for row in await old.list("manuals", where=where)]

    assert list(await old.collections()) == ["default", "manuals", "others"]
    whole = [AGENT, uri("waits"), uri("answered"), uri("own")]
    assert await listed(TraceFilter()) == whole
    assert await listed(TraceFilter(tools=True)) == [uri("tool"), *whole]
    assert await listed(TraceFilter(person="eve")) == [uri("answered")]
    assert await listed(TraceFilter(states=frozenset({"needs_input"}))) == [uri("waits")]
    rows = {row.session_uri: (row.state, row.query) for row in await old.list("manuals")}
    assert rows[uri("answered")] == ("answered", "question answered")
    assert [row.query for row in await old.list("others")] == ["question theirs"]
    assert [row.query for row in await old.list("default")] == ["question nameless"]


async def test_old_datasets_go_on_and_are_erased(old: TraceStore, tmp_path: Path) -> None:
    await old.add(run("waits", 4, PAUSED, resumed("eve"), runs.ANSWERED))
    rows = await old.list("manuals", where=TraceFilter(person="eve"))
    assert [(row.session_uri, row.state) for row in rows] == [
        (uri("waits"), "answered"),
        (uri("answered"), "answered"),
    ]
    assert await old.erase("manuals", [AGENT, *(row.session_uri for row in rows)]) == 4
    assert [row.session_uri for row in await old.list("manuals", where=TraceFilter(tools=True))] == [
        uri("own")
    ]
    await old.close()
    dataset = ox.Store(str(tmp_path / "traces" / folder_name("manuals")))
    told = "\n".join(str(quad) for quad in dataset.quads_for_pattern(None, None, None, None))
    assert uri("own") in told
    for gone in (AGENT, uri("waits"), uri("answered"), uri("tool"), "urn:clew:person:eve"):
        assert gone not in told, gone


async def test_an_index_that_was_lost_is_made_again(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    await store.add([*run("a", 1, PAUSED, resumed("eve"), person="ann"), *found("b", 2, "text")])
    await store.add([asked("tool", 3, parent=f"{uri('a')}/i1"), asked("theirs", 4, collection="others")])
    everything = TraceFilter(tools=True)
    before = [list(await store.list(name, where=everything)) for name in ("manuals", "others")]
    eve = list(await store.list("manuals", where=TraceFilter(person="eve")))
    await store.close()
    for file in tmp_path.glob("runs.sqlite3*"):
        file.unlink()
    again = OxigraphTraceStore(tmp_path)
    assert [list(await again.list(name, where=everything)) for name in ("manuals", "others")] == before
    assert list(await again.list("manuals", where=TraceFilter(person="eve"))) == eve
    assert await again.erase("manuals", [uri("a")]) == 2
    await again.close()
