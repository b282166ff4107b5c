"""``clew trace list``: which questions were asked, the newest first, page by page."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    emit_json,
    fail,
    load,
    out,
    say,
    start,
    utf8,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_services.ports import TraceFilter, TraceRow
    from clew_services.settings import Settings


class MechanismName(StrEnum):
    """What answers."""

    DOCUMENT_RAG = "document-rag"
    AGENT = "agent"
    GRAPH_RAG = "graph-rag"


class StateName(StrEnum):
    """How far a run is."""

    RUNNING = "running"
    FAILED = "failed"
    NEEDS_INPUT = "needs_input"
    CANCELLED = "cancelled"
    NO_KNOWLEDGE = "no_knowledge"
    ANSWERED = "answered"


LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most so many.")]
MechanismOption = Annotated[
    list[MechanismName] | None, typer.Option("--mechanism", "-m", help="What answered; may be given again.")
]
StateOption = Annotated[
    list[StateName] | None, typer.Option("--state", "-s", help="How it ended; may be given again.")
]
PersonOption = Annotated[
    str, typer.Option("--person", "-p", help="Who asked, or answered a question of the run.")
]
SinceOption = Annotated[
    str, typer.Option("--since", help="Asked then or later: 2026-01-31, or more of an ISO time in UTC.")
]
UntilOption = Annotated[str, typer.Option("--until", help="Asked before then.")]
TextOption = Annotated[
    str, typer.Option("--text", "-t", help="What stands in the question, in capitals or not.")
]
ToolsOption = Annotated[bool, typer.Option("--tools", help="Also what tools asked for agents.")]
AfterOption = Annotated[
    str, typer.Option("--after", help="Go on below this row: the cursor that the page before ended with.")
]

_TIME = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d*)?)?)?Z?)?)?)?")


def list_(
    collection: CollectionOption = "default",
    limit: LimitOption = 50,
    mechanism: MechanismOption = None,
    state: StateOption = None,
    person: PersonOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    text: TextOption = "",
    tools: ToolsOption = False,
    after: AfterOption = "",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """List the newest questions of a collection, the newest first; all that is asked for must hold.

    In JSON each has its `cursor`: `--after` goes on below it, whatever is asked meanwhile.
    """
    from clew_services.cli.trace_view import render_list
    from clew_services.ports import TraceFilter

    where = TraceFilter(
        mechanisms=frozenset(each.value for each in mechanism or ()),
        states=frozenset(each.value for each in state or ()),
        person=utf8(person),
        since=time_of("since", since),
        until=time_of("until", until),
        text=utf8(text),
        tools=tools,
    )
    rows = start(_rows(load(data), utf8(collection), limit, where, utf8(after)))
    if json:
        for row in rows:
            emit_json(asdict(row) | {"cursor": row.cursor})
        return
    if rows:
        out.print(render_list(rows))
    elif after or where != TraceFilter():
        say(out, f"no {'more ' if after else ''}questions of collection {collection!r} are like that")
    else:
        say(out, f"no questions were asked of collection {collection!r} yet")
    if len(rows) == limit:
        # Anybody may have named the run: what is copied into a shell must be one word of it.
        say(out, f"there may be more: --after {shlex.quote(rows[-1].cursor)}", whole=True)


def time_of(name: str, text: str) -> str:
    """``text`` when it is the beginning of a time; else the command fails, naming the option."""
    if text and not _TIME.fullmatch(text):
        fail("bad-request", f"--{name} takes 2026, 2026-01-31 or 2026-01-31T12:00, in UTC, not {text!r}", 2)
    return text.removesuffix("Z")  # so that it is the beginning of all times within it


async def _rows(
    settings: Settings, collection: str, limit: int, where: TraceFilter, after: str
) -> Sequence[TraceRow]:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        return await store.list(collection, limit=limit, where=where, after=after)
