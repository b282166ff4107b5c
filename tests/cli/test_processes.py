"""``clew up`` as a process: how it stops, what a kill leaves behind, and two of them on one folder."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.shell import CLEW, Shell, eventually_none_over, processes_over

pytestmark = pytest.mark.slow


def test_sigterm_ends_it_with_0_and_nothing_is_left(alone: Shell) -> None:
    with alone.up() as running:
        assert len(processes_over(alone.data)) >= 1, "the broker runs over the folder"
        began = time.monotonic()
        assert running.stop(signal.SIGTERM) == 0
        assert time.monotonic() - began < 5
        told = running.told
    assert told.endswith("stopped; nothing in hand was lost\n")
    assert "Traceback" not in told
    assert not (alone.data / "run.json").exists()
    assert eventually_none_over(alone.data, 0.5)


@pytest.mark.parametrize("after", [0.3, 1.0])
def test_a_signal_while_it_starts_stops_it_as_well(alone: Shell, after: float) -> None:
    with alone.started() as starting:
        time.sleep(after)
        code = starting.stop(signal.SIGTERM)
        told = starting.told
    assert code == 0 or (code == -signal.SIGTERM and told == ""), (
        "before Python itself is up, the signal is the end"
    )
    assert "Traceback" not in told
    assert "error" not in told
    assert not (alone.data / "run.json").exists()
    assert eventually_none_over(alone.data)


def test_ctrl_c_reaches_the_whole_group_and_the_broker_still_ends_last(alone: Shell) -> None:
    log = alone.data.parent / "log"
    alone.data.parent.mkdir(exist_ok=True)
    with log.open("wb") as file:
        process = subprocess.Popen([CLEW, "up"], env=alone.environment, stderr=file, start_new_session=True)
    limit = time.monotonic() + 60
    while "ready" not in log.read_text() and time.monotonic() < limit:
        assert process.poll() is None, log.read_text()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(10) == 0
    assert "Traceback" not in log.read_text()
    assert eventually_none_over(alone.data)


def test_killed_it_starts_again_and_knows_what_it_knew(alone: Shell, tmp_path: Path) -> None:
    (tmp_path / "clew.md").write_text("A clew is a ball of thread.")
    with alone.up() as first:
        assert alone.run("ingest", tmp_path / "clew.md").code == 0
        broker = first.run_file["broker"]
        first.kill()
    assert eventually_none_over(alone.data), "the broker does not outlive its supervisor"
    assert (alone.data / "run.json").exists(), "nobody took it away"
    said = alone.run("ask", "What is a clew?")
    assert (said.code, "nothing runs over" in said.err) == (1, True)
    with alone.up() as second:
        assert second.run_file["broker"] == broker, "clients find it where it was"
        assert alone.run("ask", "What is a clew?").out.startswith("A clew is a ball of thread. [1]")
        assert "unchanged" in alone.run("ingest", tmp_path / "clew.md").err
        assert second.stop() == 0


def test_a_second_one_on_the_same_folder_names_the_first_and_leaves_it_alone(alone: Shell) -> None:
    with alone.up() as first:
        for command in (
            ("up",),
            ("demo", "--corpus", Path(__file__).parents[2] / "docs" / "data" / "corpus"),
        ):
            said = alone.run(*command, "-d", alone.data)
            assert said.code == 1
            assert f"process {first.process.pid} already runs a broker over {alone.data}" in said.err
            assert "another folder" in said.err
            assert "Traceback" not in said.err
        assert first.run_file["pid"] == first.process.pid, "the file that leads to the first is still there"
        assert alone.run("trace", "list").code == 0
        assert first.stop() == 0


def test_a_taken_port_is_named_and_everything_is_undone(alone: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = alone.run("up", CLEW_OPS_PORT=str(port))
    assert said.code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in said.err
    assert "CLEW_OPS_PORT" in said.err
    assert "Traceback" not in said.err
    assert eventually_none_over(alone.data)


def test_services_in_a_process_of_their_own_join_the_broker(alone: Shell, tmp_path: Path) -> None:
    """``clew run`` beside ``clew up``: the grading service alone, on the other's pulsar-lite and its database."""
    (tmp_path / "clew.md").write_text("A clew is a ball of thread.")
    with alone.up(CLEW_SERVICES="document-rag,ingest,trace-store") as running:
        assert alone.run("ingest", tmp_path / "clew.md").code == 0
        silent = alone.run("ask", "What is a clew?", "--timeout", "1")
        assert "error timeout" in silent.err
        log = tmp_path / "grading.log"
        joined = alone.environment | {
            "CLEW_PULSAR_URL": running.run_file["broker"],
            "CLEW_PULSAR_LITE": "true",
        }
        with log.open("wb") as file:
            grading = subprocess.Popen([CLEW, "run", "grading"], env=joined, stdout=file, stderr=file)
        try:
            assert alone.run("ask", "What is a clew?", "--timeout", "20").out.startswith("A clew is a ball")
            assert running.run_file["pid"] == running.process.pid, "who joins writes no run.json"
        finally:
            grading.send_signal(signal.SIGTERM)
        assert grading.wait(10) == 0
        told = log.read_text()
        assert "stopped; nothing in hand was lost" in told
        events = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        assert {"service_ready", "service_stopped"} <= {event["event"] for event in events}
