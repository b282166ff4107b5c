"""``clew run`` as a cluster runs it: several processes on a real Pulsar, a real Milvus and a real PostgreSQL."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy.engine import make_url

from tests.cli.shell import CLEW, Shell, Up

pytestmark = pytest.mark.servers
DOCUMENT = "A clew is a ball of thread. Theseus used it to find his way out of the labyrinth.\n"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A namespace, a database and collection names of this test's own."""
    name = f"clew_{uuid4().hex[:12]}"
    url = make_url(os.environ["CLEW_TEST_POSTGRES_URL"])
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        try:
            yield {
                "CLEW_PULSAR_URL": os.environ["CLEW_TEST_PULSAR_URL"],
                "CLEW_PULSAR_ADMIN_URL": os.environ["CLEW_TEST_PULSAR_ADMIN_URL"],
                "CLEW_MILVUS_URI": os.environ["CLEW_TEST_MILVUS_URI"],
                "CLEW_DATABASE_URL": url.set(database=name).render_as_string(hide_password=False),
                "CLEW_NAMESPACE": name,
            }
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def service(shell: Shell, *services: str) -> Iterator[Up]:
    """``clew run SERVICES``, ready."""
    shell.data.mkdir()
    log = shell.data / "run.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [CLEW, "run", *services],
            env=shell.environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    running = Up(process, log, shell.data)
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.kill()


def test_four_processes_share_the_work_and_a_killed_one_loses_nothing(
    tmp_path: Path, cluster: dict[str, str]
) -> None:
    document = tmp_path / "clew.md"
    document.write_text(DOCUMENT)
    collection = cluster["CLEW_NAMESPACE"]
    person = Shell(tmp_path / "person", cluster)
    made = person.run("topics", "create")
    assert made.code == 0, made.err

    with ExitStack() as stack:

        def start(name: str, *services: str) -> Up:
            return stack.enter_context(service(Shell(tmp_path / name, cluster), *services))

        first = start("one", "document-rag", "grading")
        start("two", "document-rag", "grading", "agent")
        ingest = start("three", "ingest")
        traces = start("four", "trace-store")
        ops = re.search(r"http://127\.0\.0\.1:\d+", traces.told)
        assert ops is not None, traces.told

        taken = person.run("ingest", document, "-c", collection, patience=120)
        assert taken.code == 0, taken.err
        for _ in range(4):
            said = person.run("ask", "What is a clew?", "-c", collection)
            assert said.code == 0, said.err + first.told
            assert "[1]" in said.out
        first.kill()
        for _ in range(3):
            said = person.run(
                "ask", "What did Theseus use to find his way out of the labyrinth?", "-c", collection
            )
            assert said.code == 0, said.err
        answered = person.run("agent", "What is a clew?", "-c", collection)
        assert answered.code == 0, answered.err
        listed = person.run("trace", "list", "-c", collection, "--json", CLEW_TRACES_URL=ops.group())
        assert listed.code == 0, listed.err
        assert len(listed.lines) == 8
        assert {row["state"] for row in listed.lines} == {"answered"}
        assert person.run("dead", "list", "--json").out == ""
        assert ingest.stop() == 0
        assert traces.stop() == 0
