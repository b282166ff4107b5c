"""``clew trace sparql``: questions of one's own; bounded, about one collection, and safe to look at."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from clew_translators.quads import from_nquads
from tests.cli.shell import CLEW, INTERRUPTIBLE, Shell
from tests.cli.test_trace_list import RED, foreign, keep
from tests.contract.trace_stores import found
from tests.translators import runs
from tests.translators.runs import asked

MANUALS = ("-c", "manuals")
QUERIES = "SELECT DISTINCT ?q WHERE { ?r <https://trustgraph.ai/ns/query> ?q } ORDER BY ?q"
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
NASTY = f'{RED}\n\u2028\u0085\x9b\x1c\ttwo \U000e0001 \\ "'


@pytest.fixture
def filled(alone: Shell) -> Shell:
    keep(alone, asked("mine", 1), *found("theirs", 2, "a secret", collection="others"))
    return alone


def test_a_query_from_a_file(filled: Shell) -> None:
    (filled.data / "q.rq").write_text(QUERIES)
    said = filled.sh(f"clew trace sparql - -c manuals --json < {filled.data / 'q.rq'}")
    assert [row["q"]["value"] for row in said.lines[0]["results"]["bindings"]] == ["question mine"]
    none = filled.sh("printf '\\xff' | clew trace sparql - -c manuals")
    assert (none.code, none.out) == (2, "")
    assert "bad-request: what stands on standard input is no UTF-8" in none.err


def test_nothing_of_another_collection_is_found(filled: Shell) -> None:
    everything = "SELECT * { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
    whole = filled.run("trace", "sparql", everything, *MANUALS, "--json").out
    assert "question mine" in whole
    for word in ("secret", "theirs", "urn:graph:runs", "urn:clew:of:"):
        assert word not in whole
    graphs = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"
    mine = filled.run("trace", "sparql", graphs, *MANUALS, "--json").lines[0]["results"]["bindings"]
    assert {row["g"]["value"] for row in mine} == {"urn:graph:retrieval", "urn:graph:provenance"}
    for collection in ("nowhere", "../others", "urn:graph:runs", "shared", "> <urn:x"):
        said = filled.run(
            "trace", "sparql", "ASK { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }", "-c", collection
        )
        assert (said.code, said.out) == (0, "no\n")


def test_an_empty_answer_is_one(filled: Shell) -> None:
    nothing = "{ <urn:nothing> ?p ?o }"
    rows = filled.run("trace", "sparql", f"SELECT ?o {nothing}", *MANUALS, "--json")
    assert rows.lines == [{"head": {"vars": ["o"]}, "results": {"bindings": []}}]
    triples = filled.run("trace", "sparql", f"CONSTRUCT WHERE {nothing}", *MANUALS)
    assert (triples.code, triples.out, triples.err) == (0, "", "")
    table = filled.run("trace", "sparql", f"SELECT ?o {nothing}", *MANUALS)
    assert (table.code, table.out.split()[0]) == (0, "o")


def test_what_others_wrote_is_text_and_triples_lose_nothing(alone: Shell) -> None:
    keep(alone, foreign("urn:x", "2026", NASTY))
    rows = alone.run("trace", "sparql", QUERIES, *MANUALS, COLUMNS="300")
    assert not set("\x1b\u202e\r\x07\x9b") & set(rows.out)
    assert "[red]x[/red]" in rows.out
    made = "CONSTRUCT { <urn:x> <urn:q> ?q } WHERE { ?r <https://trustgraph.ai/ns/query> ?q }"
    lines = alone.run("trace", "sparql", made, *MANUALS).out
    assert all(c.isprintable() or c == "\n" for c in lines)
    (triple,) = set(from_nquads(lines))
    assert triple.o is not None
    assert triple.o.value == NASTY
    told = alone.run("trace", "sparql", made, *MANUALS, "--json").lines[0]["triples"]
    assert told == lines.splitlines()


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("", "begins with SELECT"),
        ("SELECT", "no SPARQL query"),
        ("SELECT * FROM <urn:graph:runs> { ?s ?p ?o }", "FROM is refused"),
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", "INSERT is refused"),
    ],
)
def test_what_is_no_question_is_refused_in_one_line(filled: Shell, query: str, problem: str) -> None:
    said = filled.run("trace", "sparql", query, *MANUALS)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error bad-request: ")
    assert problem in said.err
    assert "Traceback" not in said.err


def queries_over(folder: Path) -> list[int]:
    """The processes that answer queries and were started with ``folder`` for a home."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            asks = b"oxigraph_query_process" in (place / "cmdline").read_bytes()
            if asks and f"CLEW_DATA={folder}\0".encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue  # it ended meanwhile
    return found


def eventually(folder: Path, *, some: bool) -> bool:
    limit = time.monotonic() + 10
    while bool(queries_over(folder)) is not some:
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def test_a_query_without_end_is_cut_and_leaves_no_process(alone: Shell) -> None:
    keep(alone, *(batch for n in range(3) for batch in runs.told(runs.DOCUMENT_STEPS, session_id=str(n))))
    began = time.monotonic()
    said = alone.run("trace", "sparql", ENDLESS, *MANUALS, "--timeout", "1.5")
    assert time.monotonic() - began < 15
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("error deadline-exceeded: the query took longer than 1.5 seconds")
    assert queries_over(alone.data) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_query_ends_with_who_asked_it(alone: Shell, number: int, code: int) -> None:
    keep(alone, *(batch for n in range(3) for batch in runs.told(runs.DOCUMENT_STEPS, session_id=str(n))))
    asking = subprocess.Popen(
        [*INTERRUPTIBLE, "trace", "sparql", ENDLESS, *MANUALS, "--timeout", "60"],
        env=alone.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert eventually(alone.data, some=True)
        os.kill(asking.pid, number)
        assert asking.wait(15) == code
        assert eventually(alone.data, some=False)
    finally:
        asking.kill()
        asking.wait()


def test_a_query_whose_parent_was_killed_ends_soon_after_its_time(alone: Shell) -> None:
    keep(alone, *(batch for n in range(3) for batch in runs.told(runs.DOCUMENT_STEPS, session_id=str(n))))
    asking = subprocess.Popen(
        [CLEW, "trace", "sparql", ENDLESS, *MANUALS, "--timeout", "2"],
        env=alone.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert eventually(alone.data, some=True)
    finally:
        asking.kill()
        asking.wait()
    assert queries_over(alone.data)
    assert eventually(alone.data, some=False)
