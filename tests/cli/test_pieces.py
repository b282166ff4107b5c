"""Parts of the command line by themselves: text in pieces, consoles, letters of files, what is safe to print."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from clew_services.cli.common import clean, console, say, utf8
from clew_services.cli.ingest import found
from clew_services.cli.telling import Line


def written(pieces: list[str], *, width: int = 20, terminal: bool = True) -> str:
    paper = io.StringIO()
    line = Line(Console(file=paper, width=width, force_terminal=terminal, color_system=None, highlight=False))
    for piece in pieces:
        line.write(piece)
    line.end()
    return paper.getvalue()


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([], ""),
        ([""], ""),
        (["one"], "one\n"),
        (["on", "e tw", "o"], "one two\n"),
        (["a word that goes beyond the edge"], "a word that goes \nbeyond the edge\n"),
        (["a word that goes be", "yond the edge"], "a word that goes \nbeyond the edge\n"),
        (["first\n", "second"], "first\nsecond\n"),
        (["first\n\nsecond"], "first\n\nsecond\n"),
        (["ends with a break\n"], "ends with a break\n"),
        (["[bold]kept[/] [1]"], "[bold]kept[/] [1]\n"),
        (["exactly twenty chars"], "exactly twenty chars\n"),
    ],
)
def test_text_in_pieces_is_broken_between_words(pieces: list[str], expected: str) -> None:
    assert written(pieces) == expected


def test_a_language_without_blanks_does_not_wait_for_one() -> None:
    paper = io.StringIO()
    line = Line(Console(file=paper, width=20, force_terminal=True, color_system=None))
    line.write("线团是忒修斯走出迷宫时用的东西")
    assert paper.getvalue() == "线团是忒修斯走出迷宫时用的东西"
    line.end()


@given(st.lists(st.text(alphabet="ab 线\n", max_size=30), max_size=8), st.integers(5, 40))
def test_no_word_is_lost_and_none_is_cut(pieces: list[str], width: int) -> None:
    whole = "".join(pieces)
    assert written(pieces, width=width).split() == whole.split()


@given(st.lists(st.text(alphabet="abc \n", max_size=30), max_size=8), st.integers(8, 40))
def test_no_line_of_short_words_is_wider_than_the_terminal(pieces: list[str], width: int) -> None:
    short = [" ".join(word[:3] for word in piece.split(" ")) + " " for piece in pieces]
    assert all(len(line.rstrip()) <= width for line in written(short, width=width).split("\n"))


@given(st.lists(st.text(alphabet="ab 线\n[/]", max_size=30), max_size=8))
def test_a_pipe_gets_the_text_as_it_is(pieces: list[str]) -> None:
    whole = "".join(pieces)
    assert written(pieces, terminal=False) == (f"{whole}\n" if whole else "")


def test_a_pipe_that_is_no_terminal_is_100_wide_and_plain() -> None:
    plain = console(io.StringIO())
    width = int(os.environ.get("COLUMNS", "100"))  # who sets it, as a test runner may, wants that width
    assert (plain.width, plain.is_terminal, plain.color_system) == (width, False, None)


@given(st.text() | st.text(alphabet="\\[]/:a ab\x1b\n"))
@example(":fire: [bold]b[/bold] \\ [/] \\[x]")
@example("ends in \\")
@example("\t\u1a55")
def test_what_is_said_is_said_as_it_is_and_moves_no_cursor(text: str) -> None:
    paper = io.StringIO()
    plain = Console(file=paper, width=10_000, color_system=None, highlight=False)
    say(plain, text, (text, "bold"), end="|")
    safe = clean(text)
    assert all(c.isprintable() or c in "\n\t" for c in safe)
    said, meant = paper.getvalue(), f"{safe}{safe}|"
    if "\t" in safe:  # blanks for tabs, counted by what a terminal shows: a combining mark takes no place
        assert said.split() == meant.split()
    else:
        assert said == meant
    assert len(safe) == len(text)


@pytest.mark.parametrize(("whole", "expected"), [(False, "aaa bbb \nccc\n"), (True, "aaa bbb ccc\n")])
def test_on_a_terminal_lines_break_between_words_unless_they_are_to_be_copied(
    whole: bool, expected: str
) -> None:
    paper = io.StringIO()
    say(Console(file=paper, width=8, force_terminal=True, color_system=None), "aaa bbb ccc", whole=whole)
    assert paper.getvalue() == expected


@given(st.binary())
def test_what_comes_from_the_command_line_can_be_sent(raw: bytes) -> None:
    text = utf8(raw.decode(errors="surrogateescape"))
    assert text.encode().decode() == text


def test_files_are_found_with_names_that_are_the_same_on_every_machine(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".cache").mkdir()
    for name in ("b.MD", "a.txt", "sub/c.pdf", "README", "d.png", ".e.txt", ".cache/f.txt"):
        (tmp_path / name).write_text("x")
    assert [name for name, _ in found([tmp_path])] == ["README", "a.txt", "b.MD", "sub/c.pdf"]
    assert [name for name, _ in found([tmp_path / "d.png"])] == ["d.png"], "what is named is tried"
    assert [name for name, _ in found([tmp_path / ".cache"])] == ["f.txt"], (
        "a folder that is named is searched"
    )
    assert len(found([tmp_path, tmp_path / "a.txt"])) == 4, "the same file twice is one"


def test_a_link_in_a_circle_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "broken.txt").symlink_to(tmp_path / "nowhere")
    assert [name for name, _ in found([tmp_path])] == ["a.txt"]


def test_names_that_would_be_mixed_up_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text("x")
    with pytest.raises(typer.Exit) as ended:
        found([tmp_path / "a", tmp_path / "b"])
    assert ended.value.exit_code == 2


def test_json_is_whole_also_where_the_output_takes_a_part_at_a_time() -> None:
    """Unbuffered (PYTHONUNBUFFERED) and not blocking, a full pipe takes what fits; the rest was lost without a word."""
    script = "import os\nos.set_blocking(1, False)\nfrom clew_services.cli.common import emit_json\nfor n in range(8): emit_json({'n': n, 'x': 'y' * 300_000})"
    with subprocess.Popen([sys.executable, "-u", "-c", script], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        time.sleep(1.0)  # the pipe is full by now
        lines = writer.stdout.read().splitlines()
    assert [json.loads(line)["n"] for line in lines] == list(range(8))
