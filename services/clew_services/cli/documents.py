"""``clew documents``: what is in a collection, and out with it.

What there is stands in the catalog, which is read beside whatever runs. What goes is asked of the ingest service.
"""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    clean,
    emit_json,
    err,
    fail,
    load,
    out,
    say,
    start,
    utf8,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from clew_schema.documents import DocumentStatus
    from clew_services.client import Client
    from clew_services.ports import Catalog, DocumentInfo
    from clew_services.settings import Settings

app = typer.Typer(
    help="See which documents are in a collection, and take some out of it.", no_args_is_help=True
)
STATES = {"ready": "green", "failed": "red", "building": "yellow", "retired": "dim"}
PATIENCE = 120.0
"""Seconds without a word after which a deletion counts as failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A document: its versions, the newest first, and how many parents (chunks of level 1 and 2) each of them has."""

    document_id: str
    name: str
    versions: Sequence[DocumentInfo]
    parents: Sequence[int] = ()


@app.command("list")
def list_(
    collection: CollectionOption = "default", json: JsonOption = False, data: DataOption = None
) -> None:
    """List the documents of a collection by name: those that are ready, and versions that failed."""
    found = start(_listed(load(data), utf8(collection)))
    if json:
        for info in found:
            emit_json(asdict(info))
    elif found:
        out.print(_table(found, "name"))
    else:
        say(out, f"no documents in collection {collection}")


@app.command()
def show(
    document: Annotated[
        str, typer.Argument(metavar="NAME", help="A document: its name, its id or its beginning.")
    ],
    collection: CollectionOption = "default",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Show one document with all its versions, the newest first: state, chunks, pages, characters, error."""
    known = start(_shown(load(data), utf8(collection), utf8(document)))
    if json:
        counted = zip(known.versions, known.parents, strict=True)
        versions = [asdict(info) | {"parents": count} for info, count in counted]
        emit_json({"document_id": known.document_id, "name": known.name, "versions": versions})
        return
    say(out, (known.name, "bold"), "  ", (known.document_id, "dim"), whole=True)
    out.print(_table(known.versions, "version", known.parents))


@app.command()
def delete(
    documents: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Documents: names, ids or their beginnings.")
    ],
    collection: CollectionOption = "default",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Delete documents with all their versions from a collection. Ends with 1 when one was not deleted."""
    settings, collection = load(data), utf8(collection)
    known = start(_wanted(settings, collection, list(dict.fromkeys(map(utf8, documents)))))
    if not yes:
        _confirm(known, collection)
    last = start(_deleted(settings, collection, known, json=json))
    if any(status.state != "deleted" for status in last):
        raise typer.Exit(1)


def _confirm(known: Sequence[Known], collection: str) -> None:
    names = ", ".join(clean(each.name) for each in known)
    if not sys.stdin.isatty():
        fail("not-confirmed", f"nobody can be asked whether to delete {names}: say --yes", 2)
    if not typer.confirm(f"Delete {names} from collection {clean(collection)}?", err=True):
        fail("not-confirmed", "nothing was deleted")


@asynccontextmanager
async def catalog_of(settings: Settings) -> AsyncIterator[Catalog]:
    """The catalog, beside whatever runs over it. Raises StoreFailed; nothing is made where there is none."""
    from clew_services.errors import StoreFailed
    from clew_services.wiring import Parts

    if not settings.database_url and not (settings.data / "catalog.sqlite3").exists():
        raise StoreFailed(
            f"there are no documents in {settings.data}: start `clew up` and `clew ingest` some, "
            "or set CLEW_DATABASE_URL to the database of the services"
        )
    parts = Parts(settings, quiet=True)
    try:
        yield await parts.catalog()
    finally:
        await parts.close()


async def find(catalog: Catalog, collection: str, given: str) -> Known:
    """The document of that name, of that id, or whose id begins so (with 4 characters or more).

    One whose ingest or deletion was killed is found too. Ends the process when there is none. Raises BadRequest when
    there are several, and UnknownCollection.
    """
    from clew_services.core.chunking import document_id
    from clew_services.errors import BadRequest

    await _existing(catalog, collection)
    known = (*await catalog.documents(collection), *await catalog.retired(collection))
    for ids in (
        {info.document_id for info in known if info.document_id == given},
        {info.document_id for info in known if info.name == given},
        {info.document_id for info in known if _begins(info.document_id, given)},
        {given},
        {document_id(collection, given)},
    ):
        if len(ids) > 1:
            raise BadRequest(f"{len(ids)} documents are called {given!r}: name one by its id: {_few(ids)}")
        versions = [version for each in ids for version in await catalog.versions(collection, each)]
        if versions:
            break
    else:
        fail(
            "unknown-document",
            f"collection {collection!r} has no document {given!r}: see `clew documents list`",
        )
    versions.sort(key=lambda info: (info.state == "ready", info.ingested_at), reverse=True)
    return Known(document_id=versions[0].document_id, name=versions[0].name, versions=versions)


def _begins(document_id: str, given: str) -> bool:
    """Whether the id, or what is its own in ``urn:document:…``, begins so."""
    return len(given) >= 4 and (
        document_id.startswith(given) or document_id.rpartition(":")[2].startswith(given)
    )


async def _existing(catalog: Catalog, collection: str) -> None:
    from clew_services.errors import UnknownCollection

    if await catalog.collection(collection) is None:
        names = [info.name for info in await catalog.collections()]
        known = f"there are {_few(names)}" if names else "nothing was ingested yet"
        raise UnknownCollection(f"there is no collection {collection!r}: {known}")


def _few(names: Sequence[str] | set[str]) -> str:
    told = sorted(names)
    return ", ".join(told[:8]) + (f" and {len(told) - 8} more" if len(told) > 8 else "")


async def _listed(settings: Settings, collection: str) -> Sequence[DocumentInfo]:
    async with catalog_of(settings) as catalog:
        await _existing(catalog, collection)
        return await catalog.documents(collection)


async def _shown(settings: Settings, collection: str, given: str) -> Known:
    from dataclasses import replace

    async with catalog_of(settings) as catalog:
        known = await find(catalog, collection, given)
        counts = [
            await catalog.count_parents(collection, known.document_id, info.version)
            for info in known.versions
        ]
        return replace(known, parents=counts)


async def _wanted(settings: Settings, collection: str, given: Sequence[str]) -> list[Known]:
    """The documents, each once; all are found before anything is deleted."""
    async with catalog_of(settings) as catalog:
        found = [await find(catalog, collection, each) for each in given]
    return list({known.document_id: known for known in found}.values())


async def _deleted(
    settings: Settings, collection: str, known: Sequence[Known], *, json: bool
) -> list[DocumentStatus]:
    from clew_services.cli.connect import client_of

    async with client_of(settings) as client:
        return [await _delete(client, collection, each, json=json) for each in known]


async def _delete(client: Client, collection: str, known: Known, *, json: bool) -> DocumentStatus:
    """Ask for one deletion and wait for its end, which is told."""
    from clew_schema.documents import DocumentLoad, DocumentStatus
    from clew_schema.errors import Error

    names: Any = {"collection": collection, "name": known.name, "document_id": known.document_id}
    status = DocumentStatus(**names)
    try:
        async for heard in client.load(DocumentLoad(delete=True, **names), timeout=PATIENCE):
            status = heard.body
    except TimeoutError:
        silent = Error(type="timeout", message="nobody told that it is deleted: does the ingest service run?")
        status = DocumentStatus(**names, state="failed", error=silent)
    if json:
        emit_json(status.model_dump(mode="json"))
    elif status.error is not None:
        say(err, ("  ✗ ", "red"), known.name, (f"  {status.error.type}: {status.error.message}", "red"))
    else:
        say(err, ("  ✓ ", "green"), known.name, (f"  {status.state}", "dim"))
    return status


def _table(found: Sequence[DocumentInfo], first: str, parents: Sequence[int] = ()) -> Table:
    from clew_services.cli.trace_view import clipped, one_line

    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    names = ("Name", "State", "Chunks", "Pages", "Version") if first == "name" else (
        "Version", "State", "Chunks", "Parents", "Pages", "Characters"
    )  # fmt: skip
    for name in (*names, "When"):
        number = name in {"Chunks", "Parents", "Pages", "Characters"}
        table.add_column(name, no_wrap=name != "Name", justify="right" if number else "left")
    table.add_column("Error", ratio=1, overflow="fold")
    for at, info in enumerate(found):
        state, version = Text(info.state, style=STATES.get(info.state, "")), Text(one_line(info.version[:8]))
        chunks, pages = str(info.chunks), str(info.pages or "")
        cells = (
            (Text(one_line(info.name)), state, chunks, pages, version)
            if first == "name"
            else (version, state, chunks, str(parents[at]), pages, str(info.characters))
        )
        when = (
            datetime.fromtimestamp(info.ingested_at, UTC).strftime("%Y-%m-%d %H:%M")
            if info.ingested_at
            else ""
        )
        table.add_row(*cells, when, Text(clipped(info.error, 200)))
    return table
