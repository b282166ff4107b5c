"""One ``clew up`` for the tests that only look at it, with two documents about a clew in two collections."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from tests.cli.shell import Shell, Up
from tests.flow.proving import prove_stored

CLEW = "# Clew\n\nA clew is a ball of thread. Theseus used it to find his way out of the labyrinth.\n"


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("stack")
    (folder / "docs").mkdir()
    (folder / "docs" / "clew.md").write_text(CLEW)
    shell = Shell(folder / "data")
    with shell.up() as running:
        for collection in ("default", "other"):
            said = shell.run("ingest", folder / "docs", "-c", collection)
            assert said.code == 0, said.err
        yield running
        running.process.terminate()
        running.process.wait(30)
    asyncio.run(_proven(shell.data))


async def _proven(data: Path) -> None:
    """Whatever the tests were about, every trace that they made, and did not erase, is valid."""
    store = OxigraphTraceStore(data / "traces")
    try:
        await prove_stored(store)
    finally:
        await store.close()


@pytest.fixture(scope="session")
def shell(stack: Up) -> Shell:
    """A shell over the folder that the stack serves."""
    return Shell(stack.data)


@pytest.fixture
def alone(tmp_path: Path) -> Shell:
    """A shell over a folder where nothing runs."""
    return Shell(tmp_path / "data")
