"""A run of thirty steps fits a screen; what is short is shown whole."""

from __future__ import annotations

from rich.console import Console, RenderableType

from clew_schema.facts import Concluded, Fact, ToolChosen, ToolObserved
from clew_services.cli.trace_compact import LONG, footer, header, render_compact, size
from clew_services.cli.why_view import render_why
from clew_translators.explain import question_uri
from clew_translators.explain.facts import facts_of
from clew_translators.trace import read_trace
from clew_translators.trace_tree import TraceTree, graft
from clew_translators.why import why
from tests.translators import runs

SCREEN = 50


def shown(*things: RenderableType, width: int = 100) -> list[str]:
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(*things, sep="\n")
    return [line.rstrip() for line in capture.get().splitlines()]


def iterations(count: int, thought: str = "Let me look.") -> tuple[tuple[Fact, ...], ...]:
    steps: list[tuple[Fact, ...]] = [(runs.AGENT_RUN[0],)]
    for number in range(1, count):
        chosen = ToolChosen(number=number, thought=f"{thought} {number}", action="document-query")
        steps.append((chosen, ToolObserved(number=number, observation="line\n" * 50)))
    steps.append((Concluded(answer="It is\x1b[2J 42.", after=count - 1),))
    return tuple(steps)


def agent(count: int, thought: str = "Let me look.") -> TraceTree:
    return read_trace(runs.quads_of(runs.told(iterations(count, thought), "agent", runs.AGENT_SESSION)))


def test_thirty_steps_fit_a_screen() -> None:
    tree = agent(30)
    assert size(tree) == 30 > LONG
    lines = shown(header(tree), render_compact(tree), footer(tree))
    assert len(lines) == 2 + 30 + 1 < SCREEN
    assert all(len(line) <= 100 for line in lines[2:])
    assert lines[2].split()[:4] == ["1", "Step", "1:", "document-query"]
    assert lines[2].endswith("Let me look. 1")
    assert lines[31].endswith("It is�[2J 42.")
    assert lines[32].startswith("30 steps; --full")


def test_long_texts_do_not_take_more_lines() -> None:
    tree = agent(30, "very long " * 100)
    assert len(shown(header(tree), render_compact(tree), footer(tree))) == 33


def test_the_run_of_a_tool_is_one_line_under_its_step() -> None:
    document = read_trace(runs.quads_of(runs.DOCUMENT_BATCHES))
    tree = graft(read_trace(runs.quads_of(runs.AGENT_BATCHES)), {document.uri: document})
    assert size(tree) == 6
    lines = shown(render_compact(tree))
    assert "↳ its own run: answered, 3 steps" in lines[1]
    assert lines[1].endswith("Within 30 days [1].")


def test_why_of_thirty_steps_fits_a_screen_too() -> None:
    facts = facts_of(runs.quads_of(runs.told(iterations(30), "agent", runs.AGENT_SESSION)))
    uri = question_uri(runs.AGENT_SESSION, "agent")
    lines = shown(render_why(why(facts, uri)))
    assert len(lines) < SCREEN
    assert all(len(line) <= 100 for line in lines)
    assert [line.split()[2] for line in lines if "Step " in line] == [f"{n}:" for n in range(1, 30)]
    assert any(line.lstrip("│├└─ ").startswith("said") for line in lines), "the conclusion is whole"
