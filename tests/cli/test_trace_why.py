"""``clew trace why`` and ``clew trace diff``: what a reader who knows nothing of the code has to be able to say."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from clew_schema.facts import Concluded, Fact, QuestionAsked, ToolChosen, ToolObserved
from clew_schema.rdf import Triples
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.cli.trace_why import DEEPEST
from clew_services.cli.why_view import render_diff, render_why
from clew_translators.explain import question_uri
from clew_translators.namespaces import GRAPH_RETRIEVAL
from clew_translators.trace_diff import diff
from clew_translators.why import why
from tests.cli.shell import Shell
from tests.translators import courses, runs

URI = question_uri(runs.SESSION, "document-rag")
RUN = tuple(fact for step in runs.DOCUMENT_STEPS for fact in step)
REWRITTEN = tuple(fact for step in courses.REWRITTEN_STEPS for fact in step)
RESUMED = tuple(fact for step in courses.RESUMED_STEPS for fact in step)
OTHER = "22222222-2222-4333-8444-555555555555"


def shown(thing: RenderableType, width: int = 150) -> list[str]:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(thing)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_which_sentence_is_not_supported_and_by_what() -> None:
    lines = shown(render_why(why(REWRITTEN, URI)))
    assert "    ├── 1. Within 30 days [1]  supported" in lines
    place = lines.index("    └── 2. For free [2]  WRONG SOURCE")
    assert lines[place + 1].startswith("        └── [2] returns.pdf p.3 120–156")
    assert lines[place + 1].endswith("WRONG SOURCE, but [1] says so")


def test_from_a_sentence_back_to_the_question() -> None:
    lines = [line.lstrip("│├└─ ") for line in shown(render_why(why(REWRITTEN, URI), sentence=1))]
    assert not any("For free" in line for line in lines)
    steps = ["checked", "span", "document", "chunk", "searched", "decided", "question"]
    assert [line.split("  ")[0] for line in lines if line.split("  ")[0] in steps] == steps
    assert "decided  weak, partial → rewrite  by lexical with prompt p1, rule R1" in lines


def test_which_chunk_was_left_out_and_why() -> None:
    lines = shown(render_why(why(RUN, URI)))
    assert lines[-2:] == [
        "└── Found and not cited: 1",
        "    └── returns.pdf  “Shipping is free.”  it was read, and no sentence cites it",
    ]


def test_what_the_person_changed() -> None:
    lines = [line.lstrip("│├└─ ") for line in shown(render_why(why(RESUMED, URI)))]
    place = lines.index("A person was asked  To which country?")
    assert lines[place + 1 : place + 5] == [
        "to choose from  Austria; elsewhere",
        "somebody said  Austria",
        "so this was searched  Who pays for shipping to Austria?",
        "which changed  needs_clarification → answerable; 1 chunks found, 0 of them new",
    ]


def test_what_others_wrote_stays_text() -> None:
    evil = runs.ASKED.model_copy(update={"query": "[red]x[/red]\x1b[2J\u202eoh"})
    line, *_ = shown(render_why(why((evil,), URI)))
    assert line == "[red]x[/red]�[2J�oh"


def test_differences_step_by_step() -> None:
    lines = [line.lstrip("│├└─ ") for line in shown(render_diff(diff(RUN, REWRITTEN)))]
    assert "grade.relevance  strong → weak" in lines
    assert "added  query rewritten, pass 2" in lines


@pytest.fixture
async def shell(tmp_path: Path) -> Shell:
    """A folder with an agent's run, its tool's, and a rewritten one."""
    store = OxigraphTraceStore(tmp_path / "traces")
    for batch in (
        *runs.DOCUMENT_BATCHES,
        *runs.AGENT_BATCHES,
        *runs.told(courses.REWRITTEN_STEPS, session_id=OTHER),
    ):
        await store.add([batch])
    await store.close()
    return Shell(data=tmp_path)


COLLECTION = (runs.DOCUMENT_BATCHES[0].metadata or runs.AGENT_BATCHES[0].metadata).collection  # type: ignore[union-attr]


def test_the_commands_on_a_stored_run(shell: Shell) -> None:
    where = ("--collection", COLLECTION)
    said = shell.run("trace", "why", OTHER, *where)
    assert (said.code, said.err) == (0, "")
    assert "WRONG SOURCE" in said.out
    (told,) = shell.run("trace", "why", OTHER, "--sentence", 2, "--json", *where).lines
    assert [one["verdict"] for one in told["sentences"]] == ["misattributed"]
    agent = shell.run("trace", "why", runs.AGENT_SESSION, *where)
    assert "Step 1: document-query" in agent.out
    assert "it was read, and no sentence cites it" in agent.out, "the tool's own run"


def test_what_cannot_be_said_is_said(shell: Shell) -> None:
    where = ("--collection", COLLECTION)
    unknown = shell.run("trace", "why", "nobody", *where)
    assert (unknown.code, "unknown-run" in unknown.err) == (1, True)
    none = shell.run("trace", "why", OTHER, "--sentence", 9, *where)
    assert (none.code, "numbered 1 to 2" in none.err) == (1, True)


def test_two_runs_of_a_store(shell: Shell) -> None:
    where = ("--collection", COLLECTION)
    unknown = shell.run("trace", "diff", OTHER, "nobody", *where)
    assert (unknown.code, "unknown-run" in unknown.err) == (2, True), "1 says that they differ"
    unknown = shell.run("trace", "replay", "nobody", *where)
    assert (unknown.code, "unknown-run" in unknown.err) == (2, True)
    same = shell.run("trace", "diff", OTHER, OTHER, *where)
    assert (same.code, same.out) == (0, "the runs say the same\n")
    other = shell.run("trace", "diff", runs.SESSION, OTHER, "--json", *where)
    assert other.code == 1
    assert {"step": "query rewritten, pass 2", "how": "added"}.items() <= {
        k: v for line in other.lines for k, v in line.items() if line["step"] == "query rewritten, pass 2"
    }.items()


def _agent(session: str, *asks: str) -> list[Triples]:
    """An agent of which each tool's trace is said to be that of another agent."""
    steps: list[tuple[Fact, ...]] = [(QuestionAsked(mechanism="agent", query=f"I am {session}."),)]
    for number, name in enumerate(asks, start=1):
        seen = ToolObserved(number=number, observation="o", trace_uri=question_uri(name, "agent"))
        steps += [(ToolChosen(number=number, thought="t", action="a"),), (seen,)]
    steps.append((Concluded(answer="so it is", after=len(asks)),))
    return runs.told(tuple(steps), mechanism="agent", session_id=session, collection=COLLECTION)


@pytest.mark.parametrize("command", ["why", "show"])
async def test_runs_that_name_each_other_are_read_once_each(tmp_path: Path, command: str) -> None:
    """Followed along every path, these twelve would be read some hundred million times."""
    store = OxigraphTraceStore(tmp_path / "traces")
    names = [f"web{number}" for number in range(12)]
    chain = [f"chain{number}" for number in range(40)]
    for name in names:
        await store.add(_agent(name, *names))
    for name, following in pairwise([*chain, "none"]):
        await store.add(_agent(name, following))
    await store.close()
    shell, where = Shell(data=tmp_path), ("--collection", COLLECTION)
    web = shell.run("trace", command, "web0", "--json", *where)
    assert (web.code, web.err) == (0, "")
    assert all(web.out.count(f"I am {name}.") == 1 for name in names)
    deep = shell.run("trace", command, "chain0", "--json", *where)
    assert [f"I am {name}." in deep.out for name in chain] == [number <= DEEPEST for number in range(40)]


async def test_a_tool_whose_run_holds_no_facts_costs_no_explanation(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path / "traces")
    half = [
        batch.model_copy(update={"triples": tuple(q for q in batch.triples if q.g == GRAPH_RETRIEVAL)})
        for batch in _agent("half")
    ]
    await store.add([*half, *_agent("top", "half", "nowhere")])
    await store.close()
    said = Shell(data=tmp_path).run("trace", "why", "top", "--collection", COLLECTION)
    assert (said.code, said.err) == (0, "")
    assert "I am top." in said.out
