"""The tutorial's commands, in its order, as a newcomer types them: a process that serves, and a second terminal."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "tutorial" / "first-answer.md").read_text()
COMMANDS = re.findall(r"^\$ (clew .*)$", TUTORIAL, re.MULTILINE)
CLEW = Path(sys.executable).with_name("clew")
# The embedder without a model: the tutorial is about commands, and this one takes no time.
ENVIRONMENT = os.environ | {"CLEW_EMBEDDER": "hashing", "COLUMNS": "200", "NO_COLOR": "1"}

pytestmark = pytest.mark.slow


def argv(line: str) -> list[str]:
    return [str(CLEW), *shlex.split(line)[1:]]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Path]:
    """A folder like a clone, in which the tutorial's ``clew up`` runs."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    up = COMMANDS[0]
    assert up.startswith("clew up ")
    with subprocess.Popen(
        argv(up), cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    ) as serving:
        assert serving.stderr is not None
        deadline = time.monotonic() + 30
        for line in serving.stderr:
            if "ready" in line:
                break
            assert time.monotonic() < deadline, "clew up is not ready after 30 s"
        yield tmp_path
        serving.send_signal(signal.SIGINT)
        _, rest = serving.communicate(timeout=30)
        assert serving.returncode == 0, rest


def typed(line: str, folder: Path) -> str:
    done = subprocess.run(
        argv(line), cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_every_command_of_the_tutorial_does_what_it_says(terminal: Path) -> None:
    ingest, ask, ask_nothing, listing, agent = COMMANDS[1:]
    typed(ingest, terminal)

    answer = typed(ask, terminal)
    assert re.search(r"\[\d\] apache-2\.0\.txt", answer)
    assert "rule I01-supported-answer" in answer, "-x prints the trace"

    assert "hold no reliable information" in typed(ask_nothing, terminal)

    assert "Does the Apache License grant a patent license?" in typed(listing, terminal)
    rows = [json.loads(line) for line in typed(f"{listing} --json", terminal).splitlines()]
    assert [(row["mechanism"], row["state"]) for row in rows] == [
        ("document-rag", "no_knowledge"),
        ("document-rag", "answered"),
    ]

    show = re.search(r"`(clew trace show ID [^`]+)`", TUTORIAL)
    assert show is not None
    tree = typed(show[1].replace("ID", rows[1]["session_uri"]), terminal)
    assert "apache-2.0.txt" in tree
    assert "rule I01-supported-answer" in tree

    assert "must also be made available in Source Code Form" in typed(agent, terminal)
