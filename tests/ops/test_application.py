"""A whole process of services, in this process: what starts, what is undone after an error, what a signal does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.bus.pulsar_lite import PulsarLite
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.application import Application
from clew_services.errors import BusFailed, StoreFailed
from clew_services.run_file import RUN_FILE, Running, read_run_file, remove_run_file, write_run_file
from clew_services.runtime.clock import SystemClock
from clew_services.settings import Settings


def application(data: Path, services: tuple[str, ...] = ("trace-store",), **given: Any) -> Application:
    """With every store in memory; ``given`` are settings, or parts."""
    settings = {name: given.pop(name) for name in list(given) if name in Settings.model_fields}
    parts = {
        "bus": MemoryBus(SystemClock()),
        "ledger": MemoryLedger(),
        "vectors": MemoryVectors(),
        "embedder": HashingEmbedder(),
        "traces": MemoryTraceStore(),
    }
    return Application(Settings(data=data, embedder="hashing", **settings), services, **parts | given)


async def test_it_serves_between_start_and_stop(tmp_path: Path) -> None:
    async with application(tmp_path) as running, httpx.AsyncClient() as http:
        assert (await http.get(f"{running.ops_url}/readyz")).status_code == 200
        assert (await http.get(f"{running.ops_url}/api/traces")).status_code == 200
        url = running.ops_url
        await running.stop()
        with pytest.raises(httpx.ConnectError):
            await http.get(f"{url}/livez")


async def test_without_the_trace_store_there_is_no_trace_api(tmp_path: Path) -> None:
    async with application(tmp_path, ("agent",)) as running, httpx.AsyncClient() as http:
        assert (await http.get(f"{running.ops_url}/api/traces")).status_code == 404


async def test_a_start_that_fails_leaves_nothing_running(tmp_path: Path) -> None:
    bus = MemoryBus(SystemClock())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        failing = application(tmp_path, bus=bus, ops_port=taken.getsockname()[1])
        with pytest.raises(OSError, match="cannot listen"):
            await failing.start()
    topic = failing.settings.space.full("explainability")
    assert not bus.broker._topic(topic).groups["trace-store.store"].consumers
    await failing.stop()


async def test_a_broker_that_is_away_at_the_start_is_told(tmp_path: Path) -> None:
    bus = MemoryBus(SystemClock())
    bus.broker.stop()
    with pytest.raises(BusFailed):
        await application(tmp_path, bus=bus).start()


@pytest.mark.parametrize("below", ["file", "file/deeper"])
async def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match=rf"data folder {tmp_path / below} .*--data"):
        await application(tmp_path / below).start()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_and_gives_the_handlers_back(tmp_path: Path, number: int) -> None:
    before = signal.getsignal(number)
    running = application(tmp_path)
    ready: list[str] = []

    def now() -> None:
        ready.append(running.ops_url)
        os.kill(os.getpid(), number)

    async with asyncio.timeout(10):
        await running.run_until_signalled(now)
    assert ready[0].startswith("http://127.0.0.1:")
    assert running.service is None
    assert signal.getsignal(number) in {before, signal.SIG_DFL, signal.default_int_handler}


class SlowBus(MemoryBus):
    """A broker that takes its time."""

    async def subscribe(self, *_: Any, **__: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(60)


async def test_a_signal_while_it_starts_is_heard_at_once(tmp_path: Path) -> None:
    async with asyncio.timeout(5):
        await application(tmp_path, bus=SlowBus(SystemClock())).run_until_signalled(
            lambda: pytest.fail("it was never ready")
        )


class BeyondRepair(PulsarLite):
    """A supervisor that gave up."""

    @property
    def failure(self) -> str:
        return "the broker died 11 times within a minute"


async def test_a_broker_beyond_repair_ends_it_with_an_error(tmp_path: Path) -> None:
    running = application(tmp_path)

    def broken() -> None:
        running.broker = BeyondRepair(tmp_path / "broker")

    async with asyncio.timeout(10):
        with pytest.raises(BusFailed, match="11 times"):
            await running.run_until_signalled(broken)
    assert running.service is None


# --- run.json -------------------------------------------------------------------------------------


def test_what_was_written_is_read_while_the_process_lives(tmp_path: Path) -> None:
    write_run_file(tmp_path, broker="pulsar://b", ops="http://o")
    assert read_run_file(tmp_path) == Running(os.getpid(), "pulsar://b", "http://o")
    remove_run_file(tmp_path)
    assert read_run_file(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    remove_run_file(tmp_path)


GOOD = {"pid": os.getpid(), "birth": "1", "broker": "b", "ops": "o"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        json.dumps(GOOD | {"pid": "1"}).encode(),
        json.dumps(GOOD | {"pid": None}).encode(),
        json.dumps(GOOD | {"pid": -1}).encode(),
        json.dumps(GOOD | {"pid": 0}).encode(),
        json.dumps(GOOD | {"pid": 2**31 - 2}).encode(),
        json.dumps(GOOD | {"pid": 2**70}).encode(),
        json.dumps(GOOD | {"broker": None}).encode(),
        json.dumps(GOOD).encode(),
    ],
    ids=range(13),  # the contents hold a process id, and a test has the same name in every process
)
def test_a_file_that_leads_nowhere_is_none(tmp_path: Path, content: bytes) -> None:
    """The last one: the number belongs to a process that began at another time than the one that wrote it."""
    (tmp_path / RUN_FILE).write_bytes(content)
    assert read_run_file(tmp_path) is None


def test_another_process_file_is_not_taken_away(tmp_path: Path) -> None:
    (tmp_path / RUN_FILE).write_text(json.dumps(GOOD | {"pid": os.getppid()}))
    remove_run_file(tmp_path)
    assert (tmp_path / RUN_FILE).exists()
