"""``clew trace erase``: runs that shall be gone, with a word on what went and when."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    clean,
    emit_json,
    fail,
    load,
    out,
    say,
    start,
    utf8,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from clew_services.ports import TraceFilter, TraceRow, TraceStore
    from clew_services.settings import Settings

PAGE = 200
"""Runs that are erased at once: what is told meanwhile waits no longer than that takes."""

SHOWN = 20
"""Runs that are shown before somebody is asked."""

_PERIOD = re.compile(r"(\d+(?:\.\d+)?)([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which runs shall go: by exactly one of these. ``before`` is a time, ``keep`` how many of the newest stay."""

    runs: tuple[str, ...] = ()
    before: str = ""
    keep: int | None = None
    person: str = ""
    all: bool = False

    def told(self) -> dict[str, Any]:
        """Why they go, as it is written down."""
        if self.runs:
            return {"runs": list(self.runs)}
        if self.before:
            return {"asked_before": self.before}
        if self.keep is not None:
            return {"beyond_newest": self.keep}
        return {"person": self.person} if self.person else {"whole_collection": True}


def erase(
    run: Annotated[
        list[str] | None, typer.Option("--run", metavar="ID", help="This run; may be given again.")
    ] = None,
    older_than: Annotated[
        str, typer.Option("--older-than", help="What was asked longer ago: 12h, 30d, 8w.")
    ] = "",
    keep: Annotated[
        int | None,
        typer.Option("--keep", min=0, help="All but the newest so many, and those that wait for a person."),
    ] = None,
    person: Annotated[
        str, typer.Option("--person", help="Where this person asked, or answered a question.")
    ] = "",
    whole_collection: Annotated[
        bool, typer.Option("--whole-collection", "--collection-all", help="Every run of the collection.")
    ] = False,
    collection: CollectionOption = "default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and erase nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Erase runs from the traces of a collection, and what their tools asked. It cannot be undone.

    Names, questions and texts that no other run holds leave the files within seconds; in a very large collection
    within a day. Nothing of an erased run is taken in again when its messages are delivered once more.
    """
    wanted = Wanted(
        runs=tuple(map(utf8, run or ())),
        before=_before(older_than) if older_than else "",
        keep=keep,
        person=utf8(person),
        all=whole_collection,
    )
    if sum((bool(run), bool(older_than), keep is not None, bool(person), whole_collection)) != 1:
        ways = "--run, --older-than, --keep, --person, --whole-collection"
        fail("bad-request", f"say which runs by one of {ways}", 2)
    settings, collection = load(data), utf8(collection)
    rows = start(_planned(settings, collection, wanted))
    if not json:
        _show(rows, collection, wanted)
    # Nothing is open while a person thinks: the services may start, and Ctrl-C is taken at once.
    if (rows or wanted.all) and not dry_run and not yes:
        _confirm(len(rows), collection, wanted)
    erased = 0 if dry_run else start(_erased(settings, collection, rows, wanted))
    _tell(rows, collection, wanted, erased, dry_run=dry_run, json=json)


def _tell(
    rows: Sequence[TraceRow], collection: str, wanted: Wanted, erased: int, *, dry_run: bool, json: bool
) -> None:
    """What went, how much of it, and when."""
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if json:
        told = {"collection": collection, "why": wanted.told(), "dry_run": dry_run, "at": at}
        emit_json(told | {"runs": [row.session_uri for row in rows], "erased": erased})
    elif dry_run:
        say(out, "nothing was erased: this was a dry run")
    else:
        say(out, f"{at}  erased {erased} runs of collection {collection!r}, those of tools included")


async def _planned(settings: Settings, collection: str, wanted: Wanted) -> list[TraceRow]:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        return [row async for row in doomed(store, collection, wanted)]


async def _erased(settings: Settings, collection: str, rows: Sequence[TraceRow], wanted: Wanted) -> int:
    """Erase these runs and no others, whatever was asked meanwhile; how many, with those of tools."""
    from clew_services.cli.connect import traces_of

    if not rows and not wanted.all:
        return 0
    async with traces_of(settings) as store:
        return await _go(store, collection, rows, wanted)


async def doomed(store: TraceStore, collection: str, wanted: Wanted) -> AsyncIterator[TraceRow]:
    """The runs that are meant, newest first, without the runs of their tools. Ends the process for an unknown one."""
    from clew_services.ports import TraceFilter

    if wanted.runs:
        for row in [await _named(store, collection, run) for run in wanted.runs]:
            yield row
        return
    # A tool's run goes with the run that it belongs to; by age or person it may go alone.
    where = TraceFilter(until=wanted.before, person=wanted.person, tools=bool(wanted.before or wanted.person))
    number = 0
    async for row in _all(store, collection, where):
        number += 1
        if wanted.keep is None or (number > wanted.keep and row.state != "needs_input"):
            yield row


async def _all(store: TraceStore, collection: str, where: TraceFilter) -> AsyncIterator[TraceRow]:
    after = ""
    while page := await store.list(collection, limit=1_000, where=where, after=after):
        for row in page:
            yield row
        after = page[-1].cursor


async def _named(store: TraceStore, collection: str, run: str) -> TraceRow:
    """The run of that name, also one of which the question never came."""
    from clew_services.cli.trace_why import uri_of
    from clew_services.ports import TraceRow
    from clew_translators.trace import TraceUnreadable, read_trace
    from clew_translators.trace_tree import TraceTree

    uri = await uri_of(store, collection, run)
    try:
        tree = read_trace(await store.run(collection, uri))
    except TraceUnreadable:
        tree = TraceTree(uri=uri, mechanism="document-rag")  # what cannot be read can be erased
    return TraceRow(
        session_uri=uri,
        mechanism=tree.mechanism,
        query=tree.question,
        asked_at=tree.asked_at,
        collection=collection,
        state=tree.state,
    )


async def _go(store: TraceStore, collection: str, rows: Sequence[TraceRow], wanted: Wanted) -> int:
    if wanted.all:
        return await store.erase_collection(collection)
    erased = 0
    for first in range(0, len(rows), PAGE):
        erased += await store.erase(collection, [row.session_uri for row in rows[first : first + PAGE]])
    return erased


def _show(rows: Sequence[TraceRow], collection: str, wanted: Wanted) -> None:
    from clew_services.cli.trace_view import render_list

    if rows:
        out.print(render_list(rows[:SHOWN]))
    more = f", {len(rows) - SHOWN} of them not shown" if len(rows) > SHOWN else ""
    rest = ", and what has no question yet" if wanted.all else ""
    say(out, f"{len(rows)} runs of collection {collection!r}{more}{rest}")


def _confirm(count: int, collection: str, wanted: Wanted) -> None:
    what = "everything" if wanted.all else f"{count} runs"
    if not sys.stdin.isatty():
        fail("not-confirmed", f"nobody can be asked whether to erase {what}: say --yes, or --dry-run", 2)
    if not typer.confirm(f"Erase {what} of collection {clean(collection)}?", err=True):
        fail("not-confirmed", "nothing was erased")


def _before(period: str) -> str:
    """The time that was so long ago."""
    found = _PERIOD.fullmatch(period)
    if not found:
        fail(
            "bad-request", f"--older-than takes hours, days or weeks, as in 12h, 30d or 8w, not {period!r}", 2
        )
    try:
        then = datetime.now(UTC) - timedelta(hours=float(found[1]) * _HOURS[found[2]])
    except OverflowError:
        fail("bad-request", f"--older-than {period} is before all calendars", 2)
    return then.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
