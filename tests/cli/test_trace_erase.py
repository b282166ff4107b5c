"""``clew trace list``, ``erase`` and ``sparql`` as a person runs them, over a folder and over a running stack."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from tests.cli.shell import Shell
from tests.contract.trace_stores import PAUSED, found, resumed, run, uri
from tests.translators import runs
from tests.translators.runs import asked

MANUALS = ("-c", "manuals")


@pytest.fixture
def filled(alone: Shell) -> Shell:
    """Runs of January 2026: five that end in some way, and one of a tool."""

    async def fill() -> None:
        store = OxigraphTraceStore(alone.data / "traces")
        await store.add(found("own", 1, "a text that nobody else has"))
        await store.add(run("asked", 2, runs.ANSWERED, person="Mallory Öz", query="the secret of Mallory"))
        await store.add(
            run("answered", 3, PAUSED, resumed("Mallory Öz"), runs.ANSWERED, query="whose is it?")
        )
        await store.add(run("waits", 4, PAUSED, person="bob", query="what of these?"))
        await store.add([*runs.AGENT_BATCHES, asked("tool", 11, parent=f"{AGENT}/i1")])
        await store.close()

    asyncio.run(fill())
    return alone


AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"


def sessions(shell: Shell, *options: str) -> list[str]:
    """The runs that a list has."""
    said = shell.run("trace", "list", *MANUALS, "--json", *options)
    assert (said.code, said.err) == (0, "")
    return [line["session_uri"].rpartition(":")[2] for line in said.lines]


def bytes_of(folder: Path) -> bytes:
    """All that is in the files of ``folder``."""
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_lists_are_narrowed_and_paged(filled: Shell) -> None:
    whole = [runs.AGENT_SESSION, "waits", "answered", "asked", "own"]
    assert sessions(filled) == whole
    assert sessions(filled, "--mechanism", "agent", "--tools") == [runs.AGENT_SESSION]
    assert sessions(filled, "--state", "needs_input", "--state", "failed") == ["waits"]
    assert sessions(filled, "--person", "Mallory Öz", "--text", "SECRET") == ["asked"]
    assert sessions(filled, "--since", "2026-01-31T12:00:02", "--until", "2026-01-31T12:00:04") == [
        "answered",
        "asked",
    ]
    first = filled.run("trace", "list", *MANUALS, "-n", "2", "--json").lines
    assert sessions(filled, "--after", first[-1]["cursor"]) == whole[2:]
    shown = filled.run("trace", "list", *MANUALS, "-n", "2").out
    assert f"there may be more: --after '{first[-1]['cursor']}'" in shown


@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        (("list", "--since", "yesterday"), 2, "--since takes 2026"),
        (("list", "--after", "nonsense"), 1, "after must be the cursor"),
        (("erase",), 2, "say which runs by one of"),
        (("erase", "--run", "x", "--keep", "1"), 2, "say which runs by one of"),
        (("erase", "--older-than", "a while"), 2, "--older-than takes hours"),
        (("erase", "--run", "nobody-knows", "--yes"), 1, "nobody-knows"),
        (("erase", "--keep", "0"), 2, "say --yes, or --dry-run"),
        (("sparql", "DROP ALL"), 1, "DROP is refused"),
        (("sparql", "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"), 1, "SERVICE is refused"),
    ],
)
def test_what_cannot_be_done_is_said(
    filled: Shell, options: tuple[str, ...], code: int, problem: str
) -> None:
    said = filled.run("trace", *options, *MANUALS)
    assert (said.code, said.out if code == 2 and "erase" not in options else "") == (code, "")
    assert problem in said.err


def test_erasing_a_person_leaves_nothing_of_them_in_the_files(filled: Shell) -> None:
    before = bytes_of(filled.data)
    assert b"the secret of Mallory" in before
    assert b"Mallory%20%C3%96z" in before
    plan = filled.run("trace", "erase", *MANUALS, "--person", "Mallory Öz", "--dry-run", "--json").lines[0]
    assert (plan["dry_run"], plan["erased"], plan["runs"]) == (True, 0, [uri("answered"), uri("asked")])
    assert len(sessions(filled)) == 5
    said = filled.run("trace", "erase", *MANUALS, "--person", "Mallory Öz", "--yes", "--json")
    assert (said.code, said.err) == (0, "")
    (told,) = said.lines
    assert (told["erased"], told["why"], told["collection"]) == (2, {"person": "Mallory Öz"}, "manuals")
    assert sessions(filled) == [runs.AGENT_SESSION, "waits", "own"]
    after = bytes_of(filled.data)
    for trace in ("the secret of Mallory", "Mallory%20%C3%96z", "Mallory Öz", "whose is it?", uri("asked")):
        assert trace.encode() not in after, trace
    kept = filled.run(
        "trace", "sparql", "ASK { ?s ?p ?o FILTER(?o = 'a text that nobody else has') }", *MANUALS
    )
    assert kept.out == "yes\n"


def test_by_run_with_its_tools_by_number_by_age_and_all(filled: Shell) -> None:
    assert (
        filled.run("trace", "erase", *MANUALS, "--run", runs.AGENT_SESSION, "--yes", "--json").lines[0][
            "erased"
        ]
        == 2
    )
    assert sessions(filled, "--tools") == ["waits", "answered", "asked", "own"]
    said = filled.run("trace", "erase", *MANUALS, "--keep", "2", "--yes")
    assert "erased 2 runs of collection 'manuals'" in said.out
    assert sessions(filled) == ["waits", "answered"]
    assert (
        filled.run("trace", "erase", *MANUALS, "--older-than", "5200w", "--yes", "--json").lines[0]["erased"]
        == 0
    )
    assert (
        filled.run("trace", "erase", *MANUALS, "--older-than", "1h", "--yes", "--json").lines[0]["erased"]
        == 2
    )
    assert (
        filled.run("trace", "erase", *MANUALS, "--collection-all", "--yes", "--json").lines[0]["erased"] == 0
    )
    assert sessions(filled, "--tools") == []


def test_a_whole_collection_goes(filled: Shell) -> None:
    said = filled.run("trace", "erase", *MANUALS, "--collection-all", "--yes")
    assert "5 runs of collection 'manuals', and what has no question yet" in said.out
    assert "erased 6 runs" in said.out
    assert b"a text that nobody else has" not in bytes_of(filled.data)


def test_questions_in_sparql(filled: Shell) -> None:
    query = "SELECT DISTINCT ?q WHERE { ?r <https://trustgraph.ai/ns/query> ?q } ORDER BY ?q"
    said = filled.run("trace", "sparql", query, *MANUALS, "--limit", "2", "--json")
    assert "there is more" in said.err
    assert said.lines == [
        {
            "head": {"vars": ["q"]},
            "results": {
                "bindings": [
                    {"q": {"type": "literal", "value": "How long may I wait?"}},
                    {"q": {"type": "literal", "value": "question own"}},
                ]
            },
            "truncated": True,
        }
    ]
    assert "the secret of Mallory" in filled.run("trace", "sparql", query, *MANUALS).out
    assert filled.run("trace", "sparql", "ASK { ?s ?p ?o }", *MANUALS).out == "yes\n"
    construct = f"CONSTRUCT {{ ?r <urn:q> ?q }} WHERE {{ ?r <https://trustgraph.ai/ns/query> ?q FILTER(?r = <{AGENT}>) }}"
    lines = filled.run("trace", "sparql", construct, *MANUALS).out.splitlines()
    assert set(lines) == {f'<{AGENT}> <urn:q> "How long may I wait?" .'}


def test_over_a_running_stack(shell: Shell) -> None:
    """The same commands while ``clew up`` has the datasets open."""
    session = shell.run("ask", "What is a clew?", "--json").lines[-1]["session_id"]
    deadline = 50
    while not any(session in line["session_uri"] for line in shell.run("trace", "list", "--json").lines):
        deadline -= 1
        assert deadline
    assert shell.run("trace", "sparql", "ASK { ?s ?p ?o }", "--json").lines == [{"head": {}, "boolean": True}]
    refused = shell.run("trace", "sparql", "LOAD <http://127.0.0.1:1/>")
    assert (refused.code, "LOAD is refused" in refused.err) == (1, True)
    told = shell.run("trace", "erase", "--run", session, "--yes", "--json").lines[0]
    assert told["erased"] == 1
    assert not any(session in line["session_uri"] for line in shell.run("trace", "list", "--json").lines)
