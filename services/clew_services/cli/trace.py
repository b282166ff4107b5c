"""``clew trace``: which questions were asked, and how each answer came about."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn, TypeVar

import typer

from clew_services.cli import (
    trace_erase,
    trace_export,
    trace_list,
    trace_replay,
    trace_sparql,
    trace_validate,
    trace_watch,
    trace_why,
)
from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    emit_json,
    fail,
    load,
    out,
    start,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from clew_schema.rdf import Triple
    from clew_services.ports import TraceStore
    from clew_services.settings import Settings
    from clew_translators.trace_tree import TraceTree

app = typer.Typer(help="Look at how answers came about.", no_args_is_help=True)
app.command("list")(trace_list.list_)
app.command()(trace_why.why)
app.command()(trace_why.diff)
app.command()(trace_replay.replay)
app.command()(trace_watch.watch)
app.command()(trace_export.export)
app.command()(trace_validate.validate)
app.command()(trace_sparql.sparql)
app.command()(trace_erase.erase)

T = TypeVar("T")


class Format(StrEnum):
    """How a run is shown."""

    TREE = "tree"
    RAGTRACE = "ragtrace"
    FACTS = "facts"


FormatOption = Annotated[Format, typer.Option("--format", help="How it is shown; all but a tree are JSON.")]
FullOption = Annotated[
    bool, typer.Option("--full", help="Everything about every step, however many there are.")
]


@app.command()
def show(
    run: Annotated[
        str, typer.Argument(metavar="ID", help="A run: its IRI, or its session id or the beginning of it.")
    ],
    collection: CollectionOption = "default",
    format_: FormatOption = Format.TREE,
    full: FullOption = False,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Show one run as a tree, from the question to the spans of the documents that support its answer.

    A long run has one line a step, unless --full.

    As JSON instead: `ragtrace`, its RAGTrace with what that cannot hold beside it, or `facts`, one a line.
    """
    from clew_services.cli.trace_compact import LONG, footer, header, render_compact, size
    from clew_services.cli.trace_view import render
    from clew_translators.trace_tree import to_json

    settings = load(data)
    if format_ is not Format.TREE:
        _show_facts(start(_quads(settings, collection, run)), collection, run, format_)
        return
    tree = start(_tree(settings, collection, run))
    if tree is None:
        _fail_unknown(collection, run)
    if json:
        emit_json(to_json(tree))
    elif full or size(tree) <= LONG:
        out.print(render(tree))
    else:
        out.print(header(tree), render_compact(tree), footer(tree), sep="\n")


def _fail_unknown(collection: str, run: str) -> NoReturn:
    fail("unknown-run", f"collection {collection!r} has no run {run!r}: see `clew trace list`")


def _show_facts(
    found: tuple[str, Sequence[Triple]] | None, collection: str, run: str, format_: Format
) -> None:
    """Print the facts of a run, or the records that are made of them."""
    from clew_translators.explain.facts import FactsUnreadable, facts_of
    from clew_translators.ragtrace_ext import records
    from clew_translators.refusal import NotThisMessage

    if found is None:
        _fail_unknown(collection, run)
    uri, quads = found
    try:
        facts = facts_of(quads)
        if format_ is Format.RAGTRACE:
            told = [records(facts, session_id=uri.rpartition(":")[2], question_uri=uri).envelope()]
        else:
            told = [fact.model_dump(mode="json") for fact in facts]
    except (FactsUnreadable, NotThisMessage) as error:
        fail("unreadable-trace", str(error))
    for each in told:
        emit_json(each)


async def _quads(settings: Settings, collection: str, run: str) -> tuple[str, Sequence[Triple]] | None:
    """The IRI of the run and its quads; null when the collection has none of that name."""
    from clew_services.cli.connect import traces_of

    async def read(uri: str) -> tuple[str, Sequence[Triple]] | None:
        quads = await store.run(collection, uri)
        return (uri, quads) if quads else None

    async with traces_of(settings) as store:
        return await named(store, collection, run, read)


async def _tree(settings: Settings, collection: str, run: str) -> TraceTree | None:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        return await named(store, collection, run, lambda uri: tree_of(store, collection, uri))


async def named(
    store: TraceStore, collection: str, run: str, read: Callable[[str], Awaitable[T | None]]
) -> T | None:
    """What ``read`` makes of the run that ``run`` names: by its IRI, its session id, or the beginning of one alone."""
    from clew_services.errors import BadRequest
    from clew_translators.trace import question_candidates

    for uri in question_candidates(run):
        if (found := await read(uri)) is not None:
            return found
    rows = await store.list(collection, limit=10_000) if len(run) >= 4 else ()
    named = {row.session_uri for row in rows if row.session_uri.rpartition(":")[2].startswith(run)}
    if len(named) > 1:
        raise BadRequest(f"{len(named)} runs begin with {run!r}: write more of the id")
    return await read(named.pop()) if named else None


async def tree_of(
    store: TraceStore, collection: str, uri: str, seen: set[str] | None = None, depth: int = trace_why.DEEPEST
) -> TraceTree | None:
    """The run ``uri`` with the runs of its tools in their places; null when the collection has none of that name.

    A trace may say anything. Each run is read once, where it is mentioned first and as deep as ``depth``: those that
    were ``seen`` are not followed again.
    """
    from clew_translators.trace import read_trace
    from clew_translators.trace_tree import graft

    quads = await store.run(collection, uri)
    if not quads:
        return None
    tree = read_trace(quads)
    seen = {uri} if seen is None else seen
    named = [name for name in dict.fromkeys(tree.traces) if name not in seen] if depth else []
    seen.update(named)
    children = {
        name: child
        for name in named
        if (child := await tree_of(store, collection, name, seen, depth - 1)) is not None
    }
    return graft(tree, children)
