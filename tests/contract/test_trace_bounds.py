"""What callers cannot make the trace store on disk use up: memory, folders, descriptors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pyoxigraph as ox
import pytest

from clew_schema.rdf import Triples
from clew_services.adapters.stores.oxigraph_datasets import BULK, Datasets
from clew_services.adapters.stores.trace_oxigraph import SHARED, OxigraphTraceStore, folder_name
from clew_translators.explain import explain, question_uri
from clew_translators.namespaces import TG_CHUNK_COUNT
from tests.translators import runs
from tests.translators.runs import asked, once, shown

ROOT = Path(__file__).parents[2]
QUAD = ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("o"))


def refused(collection: str, session: str = runs.SESSION) -> Triples:
    """The only batch of a question that was refused."""
    return runs.told(((runs.ASKED, runs.FAILED),), session_id=session, collection=collection)[0]


def datasets(folder: Path) -> list[str]:
    """The datasets that were made in ``folder``."""
    return sorted(each.name for each in folder.iterdir() if each.is_dir())


# --- memory ---------------------------------------------------------------------------------------


class Recorded:
    """Stands for an opened dataset, and notes what is done with it: quads that wait, and 0 for a flush."""

    def __init__(self, name: str, notes: list[tuple[str, int]]) -> None:
        self._name, self._notes = name, notes

    def extend(self, quads: Sequence[ox.Quad]) -> None:
        self._notes.append((self._name, len(quads)))

    def bulk_extend(self, quads: Sequence[ox.Quad]) -> None:
        """Goes past the memory."""

    def flush(self) -> None:
        self._notes.append((self._name, 0))


def recorded(folder: Path, notes: list[tuple[str, int]], *, limit: int = 8) -> Datasets:
    def opened(path: str) -> ox.Store:
        return cast("ox.Store", Recorded(Path(path).name, notes))

    return Datasets(folder, limit=limit, pinned=SHARED, flush_weight=1_000, store=opened)


def waiting(notes: list[tuple[str, int]]) -> list[int]:
    """How many quads were in memory, over all datasets, after each note."""
    now: Counter[str] = Counter()
    sums = []
    for name, quads in notes:
        now[name] = now[name] + quads if quads else 0
        sums.append(now.total())
    return sums


@pytest.mark.parametrize("names", ["a", "abcd", "aaaaaab"])
def test_what_waits_in_memory_is_bounded_over_all_datasets(tmp_path: Path, names: str) -> None:
    notes: list[tuple[str, int]] = []
    datasets = recorded(tmp_path, notes)
    for n in range(700):
        datasets.write(names[n % len(names)], [QUAD] * 100, characters=0)
    assert max(waiting(notes)) == 1_000
    flushes = sum(1 for _, quads in notes if not quads)
    assert 70 <= flushes <= 70 * len(set(names))  # 70,000 quads in thousands
    datasets.close()
    assert waiting(notes)[-1] == 0


def test_long_texts_count_as_well_as_many_quads(tmp_path: Path) -> None:
    notes: list[tuple[str, int]] = []
    datasets = recorded(tmp_path, notes)
    for _ in range(4):
        datasets.write("a", [QUAD], characters=600_000)
    assert notes == [("a", 1), ("a", 1), ("a", 0)] * 2


def test_a_dataset_is_flushed_before_it_is_let_go_and_only_if_it_has_to_be(tmp_path: Path) -> None:
    notes: list[tuple[str, int]] = []
    datasets = recorded(tmp_path, notes, limit=1)
    datasets.write(SHARED, [QUAD], characters=0)
    datasets.write("a", [QUAD], characters=0)
    datasets.write("b", [QUAD] * BULK, characters=0)  # lets go of a
    assert datasets.existing("a") is not None  # lets go of b, which has nothing in memory
    assert datasets.existing("c") is None
    datasets.close()
    assert notes == [(SHARED, 1), ("a", 1), ("a", 0), (SHARED, 0)]


@pytest.mark.parametrize(("length", "flushed"), [(3, False), (300_000, True)])
async def test_the_store_counts_the_texts_it_writes(tmp_path: Path, *, length: int, flushed: bool) -> None:
    def tables() -> int:
        return len(list(tmp_path.glob("*/*.sst")))

    store = OxigraphTraceStore(tmp_path, flush_weight=500)
    await store.add([asked("s", 0)])
    before = tables()
    query = runs.ASKED.model_copy(update={"query": "q" * length})  # it will stand in both graphs
    await store.add(runs.told(((query,),)))
    assert (tables() > before) is flushed
    await store.close()


async def test_what_is_flushed_is_still_there(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path, flush_weight=100)
    for n in range(20):
        await store.add(runs.told(runs.DOCUMENT_STEPS, session_id=str(n)))
    assert len(await store.list("manuals")) == 20
    quads = await store.run("manuals", "urn:trustgraph:docrag:7")
    assert shown(quads) == once(runs.told(runs.DOCUMENT_STEPS, session_id="7"))
    await store.close()


def test_memory_does_not_grow_with_the_runs() -> None:
    """In a process of its own: between 1,000 and 3,000 runs; without flushes 2,000 runs take some 290 MB."""
    program = """
import asyncio
from benchmarks import traces

asyncio.run(traces.measure(3_000, 1, every=1_000))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    first, _, last = (int(line.partition(" MB")[0].split()[-1]) for line in done.stdout.splitlines())
    assert last - first < 80


# --- folders and descriptors ----------------------------------------------------------------------


async def test_unknown_collections_get_no_datasets_and_are_kept_apart(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    names = [f"unknown {n}" for n in range(500)]
    for name in names:
        await store.add([refused(name, name)])
    assert datasets(tmp_path) == [SHARED]
    for name in names[::50]:
        uri = question_uri(name, "document-rag")
        rows = await store.list(name)
        assert [(row.session_uri, row.collection, row.state) for row in rows] == [(uri, name, "failed")]
        assert shown(await store.run(name, uri)) == shown(dict.fromkeys(refused(name, name).triples))
        assert list(await store.run("unknown 500", uri)) == []
    assert list(await store.list("unknown 500")) == []
    await store.close()


async def test_a_collection_has_a_dataset_from_when_something_was_found_in_it(tmp_path: Path) -> None:
    """What was told before stays where it is, and is read with the rest."""
    store = OxigraphTraceStore(tmp_path)
    await store.add([refused("manuals", "early"), refused("others", "theirs")])
    await store.add(runs.told(((runs.ASKED,),), session_id="half"))
    assert not (tmp_path / folder_name("manuals")).exists()
    rest = runs.told((runs.DOCUMENT_RUN[1:],), session_id="half")
    await store.add(rest)
    assert (tmp_path / folder_name("manuals")).exists()
    await store.add([refused("manuals", "late")])
    rows = {row.session_uri.rpartition(":")[2]: (row.state, row.query) for row in await store.list("manuals")}
    query = runs.ASKED.query
    assert rows == {"early": ("failed", query), "half": ("answered", query), "late": ("failed", query)}
    assert [row.state for row in await store.list("others")] == ["failed"]
    whole = once([*runs.told(((runs.ASKED,),), session_id="half"), *rest])
    assert shown(await store.run("manuals", "urn:trustgraph:docrag:half")) == whole
    await store.close()


async def test_the_newest_come_first_wherever_they_stand(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    await store.add([asked("a", 1), asked("d", 4)])
    await store.add(runs.told(((runs.ASKED, runs.RETRIEVED),), session_id="0"))
    await store.add([asked("b", 2), asked("c", 3), asked("d", 4)])
    assert [row.session_uri[-1] for row in await store.list("manuals", limit=3)] == ["d", "c", "b"]
    assert [row.session_uri[-1] for row in await store.list("manuals")] == ["d", "c", "b", "a", "0"]
    await store.close()


async def test_a_search_that_found_nothing_makes_no_dataset(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    nothing = runs.RETRIEVED.model_copy(update={"evidence": ()})
    batch = explain([runs.ASKED, nothing], session_id="s", collection="c", mechanism="document-rag")
    assert batch is not None
    assert any(t.p and t.p.iri == TG_CHUNK_COUNT for t in batch.triples)
    await store.add([batch])
    assert datasets(tmp_path) == [SHARED]
    assert await store.run("c", "urn:trustgraph:docrag:s")
    await store.close()


async def test_agents_that_never_search_make_no_datasets(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    for n in range(20):
        await store.add(runs.told(runs.AGENT_STEPS, "agent", session_id=str(n), collection=str(n)))
    assert datasets(tmp_path) == [SHARED]
    assert [row.state for row in await store.list("7")] == ["answered"]
    await store.close()


async def test_descriptors_are_bounded_however_many_collections_are_read(tmp_path: Path) -> None:
    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    store = OxigraphTraceStore(tmp_path)
    before = descriptors()
    await store.add([refused("unknown")])
    most = 0
    for n in range(30):
        await store.add(runs.told(runs.DOCUMENT_STEPS, session_id=str(n), collection=str(n % 15)))
        most = max(most, descriptors() - before)
    await store.close()
    assert 18 < most < 256
    assert not list(tmp_path.glob("*/LOG.old.*"))
