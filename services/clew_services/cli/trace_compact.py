"""A long run on one screen: one line a step. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from clew_services.cli.trace_view import clipped, one_line, step_style, took

if TYPE_CHECKING:
    from clew_translators.trace import Step, TraceTree

LONG = 12
"""Steps, those of tools' runs included, from which on a run is shown so."""

_TELLING = ("answer", "message", "asks", "reply", "thought", "query", "text", "reason")
"""The details of which the first one that a step has says most in one line."""


def size(tree: TraceTree) -> int:
    """How many steps a run has, with those of its tools."""
    return len(tree.steps) + sum(size(child) for step in tree.steps for child in step.children)


def render_compact(tree: TraceTree) -> Table:
    """The steps of ``tree`` in their order, each on one line; the runs of tools are a line, indented, under theirs."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True, justify="right", style="dim")
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=2)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=3)
    for number, step in enumerate(tree.steps, start=1):
        label = Text(clipped(step.title, 100), style=step_style(step.kind))
        label.append(f"  {took(step.started_at, step.ended_at)}", style="dim not bold")
        table.add_row(str(number), label, Text(_telling(step)))
        for child in step.children:
            table.add_row(
                "",
                Text(f"  ↳ its own run: {child.state}, {len(child.steps)} steps", style="dim"),
                _run(child),
            )
    return table


def _telling(step: Step) -> str:
    cited = f"{len(step.spans)} spans  " if step.spans else ""
    told = (clipped(text, 200) for name in _TELLING if (text := step.detail(name)))
    return cited + next(told, "")


def _run(child: TraceTree) -> Text:
    return Text(clipped(child.answer or child.question, 200), style="dim")


def footer(tree: TraceTree) -> Text:
    """What to do for more."""
    return Text(
        f"{size(tree)} steps; --full shows everything, `clew trace why` what rests on what", style="dim"
    )


def header(tree: TraceTree) -> Text:
    """The question, in one line, and how it ended."""
    label = Text(clipped(tree.question, 300) or "(question not told yet)", style="bold")
    label.append(f"\n{one_line(tree.uri)} · {tree.state}", style="dim")
    return label
