"""Retention: what is past it leaves nothing, what is kept is not touched, whatever the store and however many runs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.errors import StoreFailed
from clew_services.ports import TraceFilter, TraceRow
from clew_services.retention import PAGE, PAGES, SWEEP_EVERY, Retention, Sweeper, Swept, sweep
from clew_services.runtime.clock import ManualClock
from clew_services.runtime.observe import Observer
from clew_services.settings import Settings
from clew_services.steps import SERVICES
from clew_services.wiring import Parts
from tests.contract.trace_stores import CANCELLED, PAUSED, found, run, uri
from tests.runtime.world import Log
from tests.translators import runs
from tests.translators.runs import asked, once, shown

NOON = 1_769_860_800.0
"""2026-01-31T12:00:00Z, the minute in which the runs of these tests are asked."""
EVERYTHING = TraceFilter(tools=True)
KEPT, GONE = "Zq8xJv2WmK0tLr5", "Hb7nYc4PdF9sGu3"


def test_noon_is_when_the_runs_were_asked() -> None:
    assert asked("s", 0).triples[0].s is not None
    assert runs.ASKED.started_at.startswith("2026-01-31T12:00:00")


async def sessions(store: MemoryTraceStore | OxigraphTraceStore, collection: str = "manuals") -> list[str]:
    rows = await store.list(collection, limit=10_000, where=EVERYTHING)
    return [row.session_uri.rpartition(":")[2] for row in rows]


async def swept_whole(
    store: MemoryTraceStore | OxigraphTraceStore, retention: Retention, now: float = NOON + 60
) -> Swept:
    """A sweep of ``manuals`` in as many calls as it takes."""
    swept = await sweep(store, "manuals", retention, now)
    while not swept.done:
        swept = await sweep(store, "manuals", retention, now, begun=swept)
    return swept


# --- by age ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("age", "left"),
    [(60.0, ["3", "2", "1", "0"]), (58.5, ["3", "2"]), (56.5, []), (1e15, ["3", "2", "1", "0"])],
)
async def test_what_is_older_goes_and_what_is_not_stays(age: float, left: list[str]) -> None:
    store = MemoryTraceStore()
    await store.add([asked(str(second), second) for second in range(4)])
    swept = await swept_whole(store, Retention(days=age / 86_400))
    assert await sessions(store) == left
    assert swept.erased == 4 - len(left)


async def test_a_tools_run_goes_with_the_run_it_belongs_to() -> None:
    store = MemoryTraceStore()
    parent = f"urn:trustgraph:agent:{runs.AGENT_SESSION}/i1"
    await store.add([*runs.AGENT_BATCHES, asked("tool", 50, parent=parent)])
    assert (await swept_whole(store, Retention(days=45 / 86_400))).erased == 2
    assert await sessions(store) == []


async def test_a_tools_run_that_lost_its_run_goes_by_its_own_age() -> None:
    store = MemoryTraceStore()
    await store.add([asked("orphan", 1, parent="urn:trustgraph:agent:never-told/i1")])
    assert (await swept_whole(store, Retention(days=30 / 86_400))).erased == 1
    assert list(await store.collections()) == []


async def test_who_waits_for_a_person_goes_by_age_alone() -> None:
    store = MemoryTraceStore()
    await store.add(run("waits", 1, PAUSED))
    await store.add(run("withdrawn", 2, PAUSED, CANCELLED))
    await store.add([asked("new", 30)])
    assert (await swept_whole(store, Retention(runs=1))).erased == 1
    assert await sessions(store) == ["new", "waits"]
    assert (await swept_whole(store, Retention(days=55 / 86_400, runs=1))).erased == 1
    assert await sessions(store) == ["new"]


# --- by number ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0, 1, 3, 4, 9])
async def test_the_newest_stay(kept: int) -> None:
    store = MemoryTraceStore()
    await store.add([asked(str(second), second) for second in range(4)])
    assert (await swept_whole(store, Retention(runs=kept))).erased == max(0, 4 - kept)
    assert await sessions(store) == ["3", "2", "1", "0"][:kept]


async def test_runs_of_tools_are_not_counted() -> None:
    store = MemoryTraceStore()
    await store.add([asked("a", 1), asked("b", 2)])
    await store.add([asked(f"tool {n}", 3, parent=f"{uri('b')}/i{n}") for n in range(3)])
    assert (await swept_whole(store, Retention(runs=2))).erased == 0
    assert len(await sessions(store)) == 5


async def test_nothing_is_swept_when_all_is_kept() -> None:
    store = MemoryTraceStore()
    await store.add([asked("a", 1)])
    assert await sweep(store, "manuals", Retention(), NOON + 1e9) == Swept(done=True)
    assert await sessions(store) == ["a"]


async def test_another_collection_is_not_touched() -> None:
    store = MemoryTraceStore()
    await store.add([asked("mine", 1), asked("theirs", 1, collection="others")])
    assert (await swept_whole(store, Retention(days=0.0, runs=0))).erased == 1
    assert await sessions(store, "others") == ["theirs"]


# --- on disk --------------------------------------------------------------------------------------


async def test_nothing_is_left_on_disk(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path)
    # Files are compressed, which leaves words that are like nothing else as they are.
    kept, gone = found("kept", 40, KEPT), found("gone", 1, GONE)
    await store.add([*gone, *kept])
    assert (await swept_whole(store, Retention(days=30 / 86_400))).erased == 1
    assert await sessions(store) == ["kept"]
    assert shown(await store.run("manuals", uri("kept"))) == once(kept)
    assert list(await store.run("manuals", uri("gone"))) == []
    await store.add(gone)
    assert await sessions(store) == ["kept"]
    await store.close()
    files = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert KEPT.encode() in files
    assert GONE.encode() not in files
    assert b"docrag:gone" not in files


# --- bounded work ---------------------------------------------------------------------------------


class Counted(MemoryTraceStore):
    """Lists as many runs as it is told to, and counts how many it was asked for."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows = [
            TraceRow(
                session_uri=f"urn:run:{n:06}",
                mechanism="agent",
                query="",
                asked_at=f"2026-01-31T12:00:00.{n:06}Z",
                collection="manuals",
                state="answered",
            )
            for n in reversed(range(rows))
        ]
        self.looked_at = 0

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = EVERYTHING, after: str = ""
    ) -> Sequence[TraceRow]:
        wanted = [row for row in self._rows if not where.until or row.asked_at < where.until]
        page = [row for row in wanted if not after or row.cursor < after][:limit]
        self.looked_at += len(page)
        return page

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        before = len(self._rows)
        self._rows = [row for row in self._rows if row.session_uri not in set(session_uris)]
        return before - len(self._rows)


@pytest.mark.parametrize("retention", [Retention(runs=11_000), Retention(days=0.0)], ids=["number", "age"])
async def test_one_call_looks_at_so_many_and_the_next_goes_on(retention: Retention) -> None:
    store = Counted(25_000)
    swept, calls, seen = Swept(), 0, 0
    while not swept.done:
        swept = await sweep(store, "manuals", retention, NOON + 60, begun=swept)
        assert store.looked_at - seen <= PAGE * PAGES
        seen, calls = store.looked_at, calls + 1
    assert calls == 3
    assert swept.erased == 25_000 - (retention.runs or 0)


class Stubborn(Counted):
    """Says that it erased, and did not."""

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        return 0


async def test_a_store_that_erases_nothing_is_not_asked_for_ever() -> None:
    assert (await sweep(Stubborn(10), "manuals", Retention(days=0.0), NOON + 60)).done


# --- the service ----------------------------------------------------------------------------------


async def test_all_collections_are_swept_from_time_to_time_and_it_is_logged() -> None:
    store, clock, log = MemoryTraceStore(), ManualClock(NOON + 60), Log()
    sweeper = Sweeper(store, Retention(days=30 / 86_400), clock=clock, observer=Observer(log=log)).begin()
    await asyncio.sleep(0)
    await store.add([asked("a", 1), asked("b", 2), asked("c", 3, collection="others")])
    await clock.advance(SWEEP_EVERY - 1)
    assert log.events == []
    await clock.advance(1)
    await asyncio.sleep(0)
    assert log.events == [
        ("info", "traces_swept", {"collection": "manuals", "erased": 2}),
        ("info", "traces_swept", {"collection": "others", "erased": 1}),
    ]
    assert list(await store.collections()) == []
    await store.add([asked("d", 1)])
    await clock.advance(SWEEP_EVERY)
    await asyncio.sleep(0)
    assert list(await store.collections()) == []
    await sweeper.close()
    await sweeper.close()


class Failing(MemoryTraceStore):
    """Fails as often as it is told to."""

    failures = 1

    async def collections(self) -> Sequence[str]:
        if self.failures:
            self.failures -= 1
            raise StoreFailed("the disk is full")
        return await super().collections()


async def test_a_sweep_that_failed_is_logged_and_tried_again() -> None:
    store, log = Failing(), Log()
    await store.add([asked("a", 1)])
    sweeper = Sweeper(store, Retention(runs=0), clock=ManualClock(NOON), observer=Observer(log=log))
    await sweeper.sweep_all()
    assert log.events == [
        ("warning", "sweep_failed", {"error": "store-failed", "message": "the disk is full"})
    ]
    await sweeper.sweep_all()
    assert log.names() == ["sweep_failed", "traces_swept"]


@pytest.mark.parametrize(
    ("settings", "left"),
    [({}, ["a", "b"]), ({"trace_retention_runs": 1}, ["b"]), ({"trace_retention_days": 1.0}, [])],
)
async def test_the_settings_say_what_the_trace_store_keeps(
    tmp_path: Path, settings: dict[str, float], left: list[str]
) -> None:
    store, clock = MemoryTraceStore(), ManualClock(NOON + 2 * 86_400)
    await store.add([asked("a", 1), asked("b", 2)])
    parts = Parts(
        Settings(data=tmp_path, **settings),  # type: ignore[arg-type] # each case gives its own
        clock=clock,
        traces=store,
        observer=Observer(log=Log()),
    )
    await SERVICES["trace-store"](parts)
    await asyncio.sleep(0)
    await clock.advance(SWEEP_EVERY)
    for _ in range(3):
        await asyncio.sleep(0)
    assert sorted(await sessions(store)) == left
    await parts.close()


@pytest.mark.parametrize("name", ["trace_retention_days", "trace_retention_runs"])
def test_less_than_nothing_cannot_be_kept(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Settings.model_validate({"data": tmp_path, name: -1})
