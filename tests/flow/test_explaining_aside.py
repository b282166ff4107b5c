"""Explaining is never in the way: with the trace store or the exporter down, hanging or slow, answers are as fast.

And no batch is lost: when it works again, every run is stored, and exported, whole.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from clew_schema.rdf import Triples
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.errors import ExportFailed, StoreFailed
from clew_translators.spans import TraceSpan
from tests.flow.house import CLEW, House
from tests.flow.proving import runs_of

QUESTIONS = 15
SLOW = 1.0
"""Seconds that a slow store takes for a batch; a run has three of them."""

Trouble = Callable[[], Awaitable[None]]


class Part:
    """Something that works, or not: ``trouble`` is awaited at every call until it is taken away."""

    def __init__(self, trouble: Trouble | None) -> None:
        self.trouble = trouble
        self.calls = 0
        self.mended = asyncio.Event()

    async def used(self) -> None:
        self.calls += 1
        if self.trouble is not None and not self.mended.is_set():
            await self.trouble()

    async def hang(self) -> None:
        await self.mended.wait()


class Store(MemoryTraceStore):
    """A trace store that has its troubles."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part = part

    async def add(self, batches: Sequence[Triples]) -> None:
        await self.part.used()
        await super().add(batches)


class Backend:
    """A tracing backend that has its troubles."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.told: list[Sequence[TraceSpan]] = []

    async def export(self, told: Sequence[TraceSpan]) -> None:
        await self.part.used()
        self.told.append(told)


async def down() -> None:
    raise StoreFailed("the disk is full")


async def refused() -> None:
    raise ExportFailed("nobody listens there")


async def slow() -> None:
    await asyncio.sleep(SLOW)


async def median(house: House) -> float:
    """Seconds from a question to its answer, in the middle of some, one after the other."""
    took = []
    for _ in range(QUESTIONS):
        begun = time.perf_counter()
        answer = await house.ask("What is a clew?")
        took.append(time.perf_counter() - begun)
        assert answer.error is None
        assert answer.outcome == "answer"
    return statistics.median(took)


async def healthy(tmp_path: Path) -> float:
    async with House(tmp_path, proves=False) as house:
        await house.load("clew.md", CLEW)
        return await median(house)


async def until(holds: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not await holds():
            await asyncio.sleep(0.02)


async def all_stored(house: House, store: MemoryTraceStore) -> bool:
    runs = runs_of(house.published("explainability"))
    kept = [await store.run(run.collection, run.uri) for run in runs]
    return all(set(quads) == set(run.quads) for quads, run in zip(kept, runs, strict=True))


def assert_as_fast(troubled: float, usual: float) -> None:
    """Others use this machine, too: the bound is generous, and far below what waiting for the trouble would take."""
    assert troubled < max(4 * usual, usual + 0.1) < SLOW, (troubled, usual)


@pytest.mark.parametrize("kind", ["down", "hanging", "slow"])
async def test_answers_do_not_wait_for_the_trace_store_and_no_batch_is_lost(
    tmp_path: Path, kind: str
) -> None:
    usual = await healthy(tmp_path)
    part = Part({"down": down, "slow": slow}.get(kind))
    if kind == "hanging":
        part.trouble = part.hang
    store = Store(part)
    async with House(tmp_path, traces=store) as house:
        await house.load("clew.md", CLEW)
        troubled = await median(house)
        assert part.calls > 0
        assert not await all_stored(house, store), "the trouble was there all the time"
        assert_as_fast(troubled, usual)
        part.mended.set()
        await until(lambda: all_stored(house, store))
        runs = runs_of(house.published("explainability"))
        assert len(runs) == QUESTIONS
        assert [run.tree.state for run in runs] == ["answered"] * QUESTIONS
        assert len(await store.list("default")) == QUESTIONS
        assert not house.published("dead-letter")


@pytest.mark.parametrize("kind", ["down", "hanging"])
async def test_neither_answers_nor_the_trace_store_wait_for_the_exporter(tmp_path: Path, kind: str) -> None:
    usual = await healthy(tmp_path)
    part = Part(refused)
    if kind == "hanging":
        part.trouble = part.hang
    backend = Backend(part)
    store = Store(Part(None))
    async with House(tmp_path, exporter=backend, traces=store) as house:
        await house.load("clew.md", CLEW)
        troubled = await median(house)
        assert_as_fast(troubled, usual)
        await until(lambda: all_stored(house, store))

        async def asked() -> bool:  # later than stored: until then it is tried again
            return part.calls > 0

        await until(asked)
        assert not backend.told
        part.mended.set()

        async def all_exported() -> bool:
            return len({told[0].trace_id for told in backend.told}) == QUESTIONS

        await until(all_exported)
        assert not house.published("dead-letter")
