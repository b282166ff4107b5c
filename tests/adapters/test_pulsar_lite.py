"""The supervised broker: starts, is watched, comes back, ends with us, and says what is wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clew_services.adapters.bus.pulsar_child import PORTS, answers, free_port
from clew_services.adapters.bus.pulsar_lite import PulsarLite
from clew_services.errors import BusFailed

ROOT = Path(__file__).parents[2]
RUN = """
import asyncio, sys
from pathlib import Path
from clew_services.adapters.bus.pulsar_lite import PulsarLite

async def main():
    broker = PulsarLite(Path(sys.argv[1]))
    await broker.start()
    print(broker.pid, broker.url, flush=True)
    await asyncio.sleep(float(sys.argv[2]))

asyncio.run(main())
"""


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[PulsarLite]:
    broker = PulsarLite(tmp_path / "a folder" / "with ünicode")
    await broker.start()
    yield broker
    await broker.stop()


def port_of(broker: PulsarLite) -> int:
    return int(broker.url.rpartition(":")[2])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(condition: object, seconds: float = 10) -> None:
    assert callable(condition)
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        await asyncio.sleep(0.01)


async def test_it_serves_on_the_loopback_only(broker: PulsarLite) -> None:
    await broker.start()
    port = port_of(broker)
    assert answers(port)
    assert port in PORTS
    listening = [line.split() for line in Path(f"/proc/{broker.pid}/net/tcp").read_text().splitlines()[1:]]
    open_files = {
        str(link.readlink()) for link in Path(f"/proc/{broker.pid}/fd").iterdir() if link.is_symlink()
    }
    ours = [fields[1] for fields in listening if fields[3] == "0A" and f"socket:[{fields[9]}]" in open_files]
    assert ours == [f"0100007F:{port:04X}"]


async def test_a_killed_broker_comes_back_on_its_port(broker: PulsarLite) -> None:
    url, first = broker.url, broker.pid
    broker.kill()
    await until(lambda: broker.restarts == 1 and broker.pid != first)
    await broker.ready()
    assert broker.url == url
    assert broker.failure == ""


async def test_the_folder_keeps_its_port(broker: PulsarLite, tmp_path: Path) -> None:
    url = broker.url
    await broker.stop()
    await broker.stop()
    again = PulsarLite(tmp_path / "a folder" / "with ünicode")
    await again.start()
    assert again.url == url
    await again.stop()
    assert not alive(again.pid)


async def test_a_second_broker_on_the_folder_names_the_first_process(
    broker: PulsarLite, tmp_path: Path
) -> None:
    second = PulsarLite(tmp_path / "a folder" / "with ünicode")
    with pytest.raises(BusFailed, match=f"process {os.getpid()} already runs a broker over"):
        await second.start()
    assert answers(port_of(broker))


async def test_a_taken_port_is_named(tmp_path: Path) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        with pytest.raises(BusFailed, match=f"port {port} on 127.0.0.1 is taken"):
            await PulsarLite(tmp_path, port).start()
        remembered = tmp_path / "port"
        remembered.write_text(str(port))
        broker = PulsarLite(tmp_path)
        await broker.start()
        assert port_of(broker) != port
        await broker.stop()


async def test_an_open_port_is_no_broker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not await asyncio.to_thread(answers, server.getsockname()[1])
    assert not answers(1)


async def test_a_folder_that_cannot_be_used_is_an_error_with_the_log(tmp_path: Path) -> None:
    (tmp_path / "topics.metadata.json").mkdir()
    broker = PulsarLite(tmp_path)
    with pytest.raises(BusFailed, match=r"ended at once with code \d+; the end of its log:\n.*\w"):
        await broker.start()
    (tmp_path / "topics.metadata.json").rmdir()
    await broker.start()
    await broker.stop()


async def test_it_gives_up_on_a_broker_that_keeps_dying_and_says_why(tmp_path: Path) -> None:
    told: list[str] = []
    broker = PulsarLite(tmp_path, max_restarts=2, on_failed=told.append)
    await broker.start()
    for death in range(3):
        await until(lambda expected=death: broker.restarts == expected)
        pid = broker.pid
        broker.kill()
        await until(lambda dead=pid: broker.pid != dead or bool(broker.failure))
    await until(lambda: bool(told))
    assert broker.failure == told[0]
    assert "died 3 times within a minute (last exit code -9)" in told[0]
    with pytest.raises(BusFailed, match="died 3 times"):
        await broker.ready()
    with pytest.raises(BusFailed, match="stop it before"):
        await broker.start()
    await broker.stop()
    await broker.start()
    await broker.ready()
    await broker.stop()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
async def test_the_broker_ends_with_its_parent(tmp_path: Path, how: signal.Signals | None) -> None:
    seconds = "60" if how else "0"
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUN, str(tmp_path), seconds, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int((await parent.stdout.readline()).split()[0])
    if how:
        assert alive(pid)
        parent.send_signal(how)
    await parent.wait()
    await until(lambda: not alive(pid))
    broker = PulsarLite(tmp_path)
    await broker.start()
    await broker.stop()


async def test_what_was_not_started_has_no_address(tmp_path: Path) -> None:
    broker = PulsarLite(tmp_path)
    with pytest.raises(BusFailed, match="not started yet"):
        _ = broker.url
    assert broker.pid == 0
    await broker.stop()
