"""Traces for a terminal: a tree whose leaves are spans of documents, and a table of runs. No I/O.

Everything shown was written by others: texts become rich ``Text`` (no markup is read in them), on one line or wrapped
by rich, with control characters and marks that reverse the direction of writing replaced by U+FFFD.
"""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from clew_translators.explain.statements import parse_time
from clew_translators.uris import run_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_services.ports import TraceRow
    from clew_translators.trace import Span, Step, TraceTree

TYPES: Mapping[str, str] = MappingProxyType(
    {"agent": "Agent", "document-rag": "DocumentRAG", "graph-rag": "GraphRAG"}
)
"""How the seed's page writes the mechanisms in a list of traces."""

_STATES: Mapping[str, str] = MappingProxyType(
    {
        "running": "yellow",
        "answered": "green",
        "no_knowledge": "blue",
        "needs_input": "magenta",
        "cancelled": "dim",
        "failed": "red",
    }
)
_STEP_STYLES: Mapping[str, str] = MappingProxyType(
    {
        "retrieval": "bold cyan",
        "grade": "bold magenta",
        "plan": "bold blue",
        "rewrite": "bold yellow",
        "join": "bold blue",
        "budget": "bold red",
        "pause": "bold magenta reverse",
        "resume": "bold magenta",
        "cancelled": "bold red",
        "answer": "bold green",
        "conclusion": "bold green",
        "analysis": "bold yellow",
        "failure": "bold red",
    }
)
_VERDICTS: Mapping[str, str] = MappingProxyType(
    {"supported": "green", "unsupported": "red", "misattributed": "yellow"}
)
_SHOWN_IN_TITLE = frozenset(
    {"relevance", "answerability", "action", "suggested route", "error", "by", "part", "complexity", "method"}
    | {"budget", "spent", "ticket", "evidence", "round", "coverage"}
)
_ASIDES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "retrieval": ("mode",),
        "grade": ("status",),
        "join": ("status",),
        "budget": ("status",),
        "answer": ("outcome", "model"),
        "conclusion": ("reason",),
    }
)

SNIPPET = 48
"""Characters of a span's text that a line shows."""

LONG = 600
"""Characters of a detail that are shown; ``--json`` has the rest."""


def render(tree: TraceTree) -> Tree:
    """``tree`` as question → steps → spans."""
    root = Tree(_question(tree), guide_style="dim")
    _grow(root, tree)
    return root


def render_list(rows: Sequence[TraceRow]) -> Table:
    """Runs as a table, in the order given."""
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("Asked", no_wrap=True)
    table.add_column("Type", no_wrap=True)
    table.add_column("State", no_wrap=True)
    table.add_column("Session", no_wrap=True)
    table.add_column("Question", ratio=1)
    for row in rows:
        table.add_row(
            Text(one_line(row.asked_at[5:19].replace("T", " "))),
            Text(TYPES.get(row.mechanism, row.mechanism)),
            Text(row.state, style=_STATES.get(row.state, "")),
            Text(short(one_line(_session(row.session_uri)))),
            # Not the column is unwrapped but the text: a column would claim the whole length of its longest.
            Text(clipped(row.query, 160), no_wrap=True, overflow="ellipsis"),
        )
    return table


def step_style(kind: str) -> str:
    """How the title of a step is shown."""
    return _STEP_STYLES.get(kind, "bold")


def short(session: str) -> str:
    """The beginning of a session id, enough to name it by; `clew trace show` takes it."""
    return session if len(session) <= 12 else session[:8]


def one_line(text: str) -> str:
    """``text`` with runs of white space as one blank, and nothing in it that moves the cursor or the writing."""
    blanks = re.sub(r"\s+", " ", text).strip()
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in blanks)


def clipped(text: str, length: int) -> str:
    """``text`` on one line, at most ``length`` characters; an ellipsis says that there is more."""
    line = one_line(text)
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def _question(tree: TraceTree) -> Text:
    label = Text()
    label.append(clipped(tree.question, LONG) or "(question not told yet)", style="bold")
    label.append(f"\n{TYPES.get(tree.mechanism, tree.mechanism)} · ", style="dim")
    label.append(tree.state, style=_STATES.get(tree.state, ""))
    ends = [step.ended_at for step in tree.steps if step.ended_at]
    aside = [one_line(tree.asked_at), took(tree.asked_at, max(ends, default="")), one_line(tree.uri)]
    label.append("".join(f" · {part}" for part in aside if part), style="dim")
    return label


def _grow(branch: Tree, tree: TraceTree) -> None:
    parts: dict[int, Tree] = {}  # what was found for a part stands below it, until the parts are joined
    for step in tree.steps:
        if step.kind in {"join", "pause"}:
            parts = {}
        of_part = parts.get(step.part)
        named = f"Part {step.part} · " if step.part and of_part is None else ""
        twig = (branch if of_part is None else of_part).add(Text(named, style="bold") + _title(step))
        _tell(twig, step, tree.question)
        if step.kind == "plan":
            texts = [text for name, text in step.details if name == "part"]
            for number, text in enumerate(texts, start=1):
                label = Text.assemble((f"Part {number}  ", "bold"), clipped(text, LONG))
                parts[number] = twig.add(label)


def _tell(twig: Tree, step: Step, question: str) -> None:
    """What is worth reading of a step, the spans it rests on, and the runs of its tools."""
    aside = {*_ASIDES.get(step.kind, ()), *_SHOWN_IN_TITLE, "route", "confidence", "candidates", "rule"}
    for name, text in step.details:
        plain = (name, text) in {("ambiguity", "none"), ("query", question)}
        if name not in aside and text and not plain:
            shown = _readable(text) if name == "arguments" else text
            twig.add(Text.assemble((f"{name}  ", "dim"), clipped(shown, LONG)))
    for span in step.spans:
        twig.add(_leaf(span))
    for child in step.children:
        _grow(twig.add(_question(child)), child)
    for uri in step.traces:
        if uri not in {child.uri for child in step.children}:
            twig.add(Text(f"its own trace  {one_line(uri)}", style="dim"))


def _title(step: Step) -> Text:
    label = Text(clipped(step.title, 160), style=step_style(step.kind))
    aside = [clipped(step.detail(name), 60) for name in _ASIDES.get(step.kind, ())]
    if confidence := step.detail("confidence"):
        aside.append(f"confidence {_number(confidence)}")
    if rule := step.detail("rule"):
        aside.append(f"rule {clipped(rule, 40)}")
    if step.kind == "retrieval" and (candidates := step.detail("candidates")):
        aside.append(f"of {one_line(candidates)} candidates")
    if coverage := step.detail("coverage"):
        aside.append(f"coverage {_number(coverage)}")
    aside.append(took(step.started_at, step.ended_at))
    label.append("".join(f"  {part}" for part in aside if part), style="dim not bold")
    return label


def _leaf(span: Span) -> Text:
    label = Text()
    label.append(f"[{span.number}] " if span.number else "• ", style="bold")
    if span.filename:
        label.append(clipped(span.filename, 60), style="cyan")
        label.append(f" p.{span.page}" if span.page else "")
        label.append(f" {span.start}–{span.end}", style="dim")
    else:
        label.append(one_line(span.chunk), style="cyan")
    if span.text:
        label.append(f"  “{clipped(span.text, SNIPPET)}”")
    legs = [
        _leg("dense", span.dense_rank, span.dense_score),
        _leg("bm25", span.bm25_rank, span.bm25_score),
        f"rerank {span.rerank_score:.3g}" if span.rerank_score is not None else "",
    ]
    if told := " · ".join(leg for leg in legs if leg):
        label.append(f"  {told}", style="dim")
    # One number may be cited by several sentences, and stand for several spans: the same verdict is told once.
    for verdict, better in dict.fromkeys((check.verdict, check.better) for check in span.checks):
        label.append(f"  {one_line(verdict)}", style=_VERDICTS.get(verdict, ""))
        label.append(f", see [{better}]" if better else "")
    return label


def _leg(name: str, rank: int | None, score: float | None) -> str:
    place = f" #{rank}" if rank is not None else ""
    value = f" {score:.3g}" if score is not None else ""
    return f"{name}{place}{value}" if place or value else ""


def _session(uri: str) -> str:
    """What `clew trace show` needs to be told: the session, or the whole URI where it is none of ours."""
    found = run_of(uri)
    return found[1] if found else uri


def _readable(text: str) -> str:
    """JSON as the seed writes it, in ASCII, with its characters as they are meant."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def _number(text: str) -> str:
    try:
        return f"{float(text):.2f}"
    except ValueError:
        return one_line(text)


def took(start: str, end: str) -> str:
    """How long, in the unit that reads best; nothing when a time is missing."""
    began, ended = parse_time(start), parse_time(end)
    if began is None or ended is None or ended < began:
        return ""
    seconds = (ended - began).total_seconds()
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
