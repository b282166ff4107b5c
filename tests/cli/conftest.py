"""One ``clew up`` for the tests that only look at it, with two documents about a clew in two collections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Shell, Up

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


@pytest.fixture(scope="session")
def shell(stack: Up) -> Shell:
    """A shell over the folder that the stack serves."""
    return Shell(stack.data)


@pytest.fixture
def alone(tmp_path: Path) -> Shell:
    """A shell over a folder where nothing runs."""
    return Shell(tmp_path / "data")
