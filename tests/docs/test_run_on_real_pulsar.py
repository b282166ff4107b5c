"""The page on Apache Pulsar, done: topics made, services joined, a question asked with our commands and without."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.pulsar import Pulsar

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "run-on-real-pulsar.md").read_text()
CLEW = Path(sys.executable).with_name("clew")
APACHE = ROOT / "docs" / "data" / "corpus" / "apache-2.0.txt"
QUESTION = "Does the Apache License grant a patent license?"

pytestmark = [pytest.mark.servers, pytest.mark.slow]


def run(arguments: list[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def running(services: list[str], environment: Mapping[str, str]) -> Iterator[str]:
    """The ops address of a process that runs ``services``; it ends with 0 on SIGTERM."""
    command = [str(CLEW), "run", *services, "--log-level", "warning"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = ""
        for line in process.stderr:
            told += line
            if "ready" in line:
                break
        address = re.search(r"ops\s+(http://\S+)", told)
        assert address is not None, told
        yield address[1]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0


def test_the_page_works_on_a_broker_that_has_nothing_yet(tmp_path: Path) -> None:
    services = re.findall(r"^clew run (.+)$", PAGE, re.MULTILINE)
    with Pulsar() as broker:
        environment = os.environ | {
            "CLEW_PULSAR_URL": broker.service_url,
            "CLEW_PULSAR_ADMIN_URL": broker.admin_url,
            "CLEW_DATA": str(tmp_path),
            "CLEW_EMBEDDER": "hashing",
            "COLUMNS": "200",
            "NO_COLOR": "1",
        }
        made = run([str(CLEW), "topics", "create"], environment)
        listed = [
            json.loads(line)
            for line in run([str(CLEW), "topics", "list", "--json"], environment).splitlines()
        ]
        assert int(made.split()[0]) > len(listed), "topics, and those of delayed copies"
        # One process, because here the stores are files.
        with running(" ".join(services).split(), environment) as ops:
            run([str(CLEW), "ingest", str(APACHE), "-c", "docs"], environment)
            answer = run([str(CLEW), "ask", QUESTION, "-c", "docs"], environment)
            assert re.search(r"\[\d\] apache-2\.0\.txt", answer)
            alone = run(
                [
                    sys.executable,
                    str(ROOT / "docs" / "examples" / "pulsar_client_alone.py"),
                    broker.service_url,
                    "docs",
                    QUESTION,
                ],
                environment,
            )
            assert "answer - " in alone
            rows = run(
                [str(CLEW), "trace", "list", "-c", "docs", "--json"], environment | {"CLEW_TRACES_URL": ops}
            ).splitlines()
            assert [json.loads(row)["state"] for row in rows] == ["answered", "answered"]
