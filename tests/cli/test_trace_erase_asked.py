"""``clew trace erase`` on a terminal: it asks, and erases what it showed, in the collection that was named."""

from __future__ import annotations

import os
import pty
import subprocess
import time

import pytest

from clew_schema.rdf import Metadata, Triple, Triples, iri, literal
from tests.cli.shell import CLEW, Shell
from tests.cli.test_trace_list import RED, foreign, keep
from tests.contract.trace_stores import PAUSED, run, uri
from tests.translators.runs import asked

MANUALS = ("-c", "manuals")


@pytest.fixture
def filled(alone: Shell) -> Shell:
    keep(alone, asked("old", 1), asked("new", 2), asked("theirs", 3, collection="others"))
    return alone


def sessions(shell: Shell, collection: str = "manuals") -> list[str]:
    lines = shell.run("trace", "list", "-c", collection, "--tools", "--json").lines
    return [line["session_uri"].rpartition(":")[2] for line in lines]


def on_terminal(shell: Shell, typed: str, *options: str) -> tuple[int, str]:
    """What the command shows on a terminal where a person types ``typed`` once it asks, and how it ends."""
    above, below = pty.openpty()
    erasing = subprocess.Popen(
        [CLEW, "trace", "erase", *MANUALS, *options],
        env=shell.environment | {"TERM": "xterm"},
        stdin=below,
        stdout=below,
        stderr=below,
        start_new_session=True,
    )
    os.close(below)
    shown, answered = b"", False
    limit = time.monotonic() + 30
    try:
        while time.monotonic() < limit:
            try:
                piece = os.read(above, 4096)
            except OSError:
                break  # nobody holds the other end any more
            if not piece:
                break
            shown += piece
            if not answered and b"[y/N]" in shown:
                os.write(above, typed.encode())
                answered = True
        return erasing.wait(10), shown.decode()
    finally:
        erasing.kill()
        erasing.wait()
        os.close(above)


def test_a_person_who_says_yes(filled: Shell) -> None:
    code, shown = on_terminal(filled, "y\n", "--keep", "1")
    assert code == 0, shown
    assert "question old" in shown
    assert "Erase 1 runs of collection manuals?" in shown
    assert "erased 1 runs of collection 'manuals'" in shown
    assert sessions(filled) == ["new"]


@pytest.mark.parametrize("typed", ["n\n", "\n", "\x04"], ids=["no", "nothing", "end"])
def test_a_person_who_does_not(filled: Shell, typed: str) -> None:
    code, shown = on_terminal(filled, typed, "--whole-collection")
    assert code == 1, shown
    assert "Erase everything of collection manuals?" in shown
    assert sessions(filled) == ["new", "old"]


def test_nobody_to_ask_and_nothing_to_erase(filled: Shell) -> None:
    refused = filled.run("trace", "erase", *MANUALS, "--whole-collection")
    assert refused.code == 2
    assert "not-confirmed: nobody can be asked whether to erase everything" in refused.err
    for options in (("--keep", "2"), ("--person", "nobody"), ("--older-than", "9999w")):
        said = filled.run("trace", "erase", *MANUALS, *options)
        assert (said.code, said.err) == (0, "")
        assert "erased 0 runs" in said.out
    assert sessions(filled) == ["new", "old"]


def test_another_collection_is_never_reached(filled: Shell) -> None:
    unknown = filled.run("trace", "erase", *MANUALS, "--run", "theirs", "--yes")
    assert (unknown.code, "unknown-run" in unknown.err) == (1, True)
    both = filled.run("trace", "erase", *MANUALS, "--run", "old", "--run", uri("theirs"), "--yes")
    assert both.code == 1, "nothing is erased when one of them is unknown"
    for collection in ("nowhere", "../others", "urn:graph:runs", "shared", "%"):
        said = filled.run("trace", "erase", "-c", collection, "--whole-collection", "--yes", "--json")
        assert (said.code, said.lines[0]["erased"]) == (0, 0)
    assert (sessions(filled), sessions(filled, "others")) == (["new", "old"], ["theirs"])


def test_a_dry_run_of_each_kind_erases_nothing(filled: Shell) -> None:
    keep(filled, *run("waits", 0, PAUSED, person="Ann"))
    plans = {
        ("--run", "old"): ["old"],
        ("--older-than", "1h"): ["new", "old", "waits"],
        ("--keep", "1"): ["old"],  # who waits for a person stays
        ("--person", "Ann"): ["waits"],
        ("--whole-collection",): ["new", "old", "waits"],
    }
    for options, planned in plans.items():
        told = filled.run("trace", "erase", *MANUALS, *options, "--dry-run", "--json").lines[0]
        assert ([name.rpartition(":")[2] for name in told["runs"]], told["erased"]) == (planned, 0), options
    assert sessions(filled) == ["new", "old", "waits"]


def test_what_others_wrote_is_text_and_what_cannot_be_read_is_erased(alone: Shell) -> None:
    odd = "urn:other:run"
    unread = Triples(
        metadata=Metadata(id=odd, root=odd, collection="manuals"),
        triples=(Triple(s=iri(odd), p=iri("urn:p"), o=literal("x"), g="urn:graph:retrieval"),),
    )
    keep(alone, foreign("urn:x:odd", f"2026-{RED}", RED), unread)
    plan = alone.run("trace", "erase", *MANUALS, "--whole-collection", "--dry-run", COLUMNS="300")
    assert not set("\x1b\u202e\r\x07") & set(plan.out)
    assert "[red]x[/red]" in plan.out
    said = alone.run("trace", "erase", *MANUALS, "--run", odd, "--yes", "--json")
    assert (said.code, said.err) == (0, "")
    assert said.lines[0]["erased"] == 1
    assert alone.run("trace", "sparql", f"ASK {{ <{odd}> ?p ?o }}", *MANUALS).out == "no\n"
