"""``clew trace list``: names and texts of others are neither markup nor commands, and times are times."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest
import typer

from clew_schema.facts import Mechanism
from clew_schema.rdf import Metadata, Triple, Triples, iri, literal
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.cli.trace_list import MechanismName, StateName, time_of
from clew_translators import namespaces as ns
from clew_translators.trace_tree import RunState
from tests.cli.shell import Shell
from tests.translators.runs import asked

RED = "\x1b[31m[red]x[/red]\u202egnp\r\x07 [link=http://x]y"


def keep(shell: Shell, *batches: Triples) -> None:
    """Write batches into the folder, where nothing runs."""

    async def write() -> None:
        store = OxigraphTraceStore(shell.data / "traces")
        await store.add(batches)
        await store.close()

    asyncio.run(write())


def foreign(run: str, asked_at: str, query: str) -> Triples:
    """The beginning of a run as anybody on the bus may tell it."""
    told = (
        (ns.RDF_TYPE, iri(ns.TG_QUESTION)),
        (ns.TG_QUERY, literal(query)),
        (ns.PROV_STARTED_AT_TIME, literal(asked_at)),
    )
    return Triples(
        metadata=Metadata(id=run, root=run, collection="manuals"),
        triples=tuple(Triple(s=iri(run), p=iri(p), o=o, g="urn:graph:retrieval") for p, o in told),
    )


def test_all_mechanisms_and_states_can_be_asked_for() -> None:
    assert {each.value for each in MechanismName} == set(get_args(Mechanism))
    assert {each.value for each in StateName} == set(get_args(RunState))


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("", ""),
        ("2026", "2026"),
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T12:00Z", "2026-01-31T12:00"),
        ("2026-01-31T12:00:02.5Z", "2026-01-31T12:00:02.5"),
    ],
)
def test_a_time_is_the_beginning_of_all_times_in_it(text: str, begins: str) -> None:
    assert time_of("since", text) == begins


@pytest.mark.parametrize(
    "text", ["yesterday", "31.1.2026", "2026-1-1", "2026-01-31 12", "2026-01-31T12+02:00", "²026"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(typer.Exit) as ended:
        time_of("since", text)
    assert ended.value.exit_code == 2


def test_an_empty_collection_and_an_empty_answer_say_so(alone: Shell) -> None:
    keep(alone, asked("mine", 1), asked("theirs", 2, collection="others"))
    for collection in ("nowhere", "../others", "urn:graph:runs", "[red]x"):
        said = alone.run("trace", "list", "-c", collection)
        assert (said.code, said.out) == (0, f"no questions were asked of collection {collection!r} yet\n")
        assert alone.run("trace", "list", "-c", collection, "--json").out == ""
    none = alone.run("trace", "list", "-c", "manuals", "--person", "nobody")
    assert (none.code, none.out) == (0, "no questions of collection 'manuals' are like that\n")
    assert "theirs" not in alone.run("trace", "list", "-c", "manuals", "--tools", "--json").out


def test_rows_in_json_end_with_their_cursor_and_pages_end(alone: Shell) -> None:
    keep(alone, *(asked(str(number), number) for number in range(5)))
    seen, after = [], ""
    while page := alone.run("trace", "list", "-c", "manuals", "-n", "2", "--after", after, "--json").lines:
        assert [list(row)[-1] for row in page] == ["cursor"] * len(page)
        seen += [row["session_uri"][-1] for row in page]
        after = page[-1]["cursor"]
    assert seen == ["4", "3", "2", "1", "0"]
    last = alone.run("trace", "list", "-c", "manuals", "--after", after)
    assert last.out == "no more questions of collection 'manuals' are like that\n"


def test_what_others_wrote_is_text(alone: Shell) -> None:
    keep(alone, asked("s", 1), foreign("urn:x:odd", f"2026-02{RED}", RED))
    said = alone.run("trace", "list", "-c", "manuals", "-n", "1", COLUMNS="300")
    assert said.code == 0
    assert not set("\x1b\u202e\r\x07") & set(said.out)
    assert "[red]x[/red]" in said.out


def test_a_cursor_that_is_copied_into_a_shell_is_one_word(alone: Shell) -> None:
    """Whoever names a run with a quote in it gets no command run by who lists it."""
    keep(alone, asked("s", 1), foreign("urn:x:'$(touch$IFS$9pwned)", "2026-02", "?"))
    said = alone.run("trace", "list", "-c", "manuals", "-n", "1")
    _, _, rest = said.out.partition("there may be more: ")
    assert rest.startswith("--after ")
    again = alone.sh(f"cd {alone.data} && clew trace list -c manuals --json {rest.strip()}")
    assert (again.code, [row["session_uri"] for row in again.lines]) == (0, ["urn:trustgraph:docrag:s"])
    assert not (alone.data / "pwned").exists()


@pytest.mark.parametrize("option", [("--mechanism", "x"), ("--state", "dead"), ("-n", "0"), ("-n", "10001")])
def test_what_cannot_be_asked_for_is_refused(alone: Shell, option: tuple[str, str]) -> None:
    said = alone.run("trace", "list", *option)
    assert (said.code, said.out) == (2, "")
