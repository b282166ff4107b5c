"""``clew trace``: which questions were asked, and how each answer came about."""

from __future__ import annotations

from dataclasses import asdict
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
)

if TYPE_CHECKING:
    from clew_services.ports import TraceRow, TraceStore
    from clew_services.settings import Settings
    from clew_translators.trace_tree import TraceTree

app = typer.Typer(help="Look at how answers came about.", no_args_is_help=True)

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most so many.")]


@app.command("list")
def list_(
    collection: CollectionOption = "default",
    limit: LimitOption = 50,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """List the newest questions of a collection, the newest first."""
    from clew_services.cli.trace_view import render_list

    rows = start(_rows(load(data), collection, limit))
    if json:
        for row in rows:
            emit_json(asdict(row))
    elif rows:
        out.print(render_list(rows))
    else:
        say(out, f"no questions were asked of collection {collection!r} yet")


@app.command()
def show(
    run: Annotated[
        str, typer.Argument(metavar="ID", help="A run: its IRI, or its session id or the beginning of it.")
    ],
    collection: CollectionOption = "default",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Show one run as a tree, from the question to the spans of the documents that support its answer."""
    from clew_services.cli.trace_view import render
    from clew_translators.trace_tree import to_json

    tree = start(_tree(load(data), collection, run))
    if tree is None:
        fail("unknown-run", f"collection {collection!r} has no run {run!r}: see `clew trace list`")
    if json:
        emit_json(to_json(tree))
    else:
        out.print(render(tree))


async def _rows(settings: Settings, collection: str, limit: int) -> list[TraceRow]:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        return list(await store.list(collection, limit=limit))


async def _tree(settings: Settings, collection: str, run: str) -> TraceTree | None:
    from clew_services.cli.connect import traces_of
    from clew_services.errors import BadRequest
    from clew_translators.trace import question_candidates

    async with traces_of(settings) as store:
        for uri in question_candidates(run):
            if (tree := await tree_of(store, collection, uri)) is not None:
                return tree
        rows = await store.list(collection, limit=10_000) if len(run) >= 4 else ()
        named = {row.session_uri for row in rows if row.session_uri.rpartition(":")[2].startswith(run)}
        if len(named) > 1:
            raise BadRequest(f"{len(named)} runs begin with {run!r}: write more of the id")
        return await tree_of(store, collection, named.pop()) if named else None


async def tree_of(
    store: TraceStore, collection: str, uri: str, above: frozenset[str] = frozenset()
) -> TraceTree | None:
    """The run ``uri`` with the runs of its tools in their places; null when the collection has none of that name.

    A trace may say anything: a run that names itself, or one ``above`` it, as its tool's is not followed.
    """
    from clew_translators.trace import read_trace
    from clew_translators.trace_tree import graft

    quads = await store.run(collection, uri)
    if not quads:
        return None
    tree = read_trace(quads)
    above |= {uri}
    children = {
        name: child
        for name in tree.traces
        if name not in above and (child := await tree_of(store, collection, name, above)) is not None
    }
    return graft(tree, children)
