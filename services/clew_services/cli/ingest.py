"""``clew ingest``: documents in, with their progress."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_services.adapters.formats import SUFFIXES
from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    clean,
    emit_json,
    err,
    fail,
    load,
    start,
)
from clew_services.cli.connect import parts_of
from clew_services.client import Client

if TYPE_CHECKING:
    from clew_services.settings import Settings

LARGEST = MAX_MESSAGE_BYTES * 3 // 4 - 4096
"""Bytes of a file that fit into a message as base64."""

AT_ONCE = 2
"""Documents that are on their way at the same time."""


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(exists=True, help="Files, or folders that are searched for files.")
    ],
    collection: CollectionOption = "default",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Take documents in. What is in already and unchanged is left alone; one that fails leaves the others be."""
    files = found(paths)
    if not files:
        fail("no-documents", f"no file here ends in one of: {', '.join(sorted(SUFFIXES))}", 2)
    last = start(_ingest(load(data), files, collection, json=json))
    failed = [status for status in last if status.state == "failed"]
    if not json:
        chunks = sum(status.chunks for status in last)
        err.print(f"{len(last) - len(failed)} documents, {chunks} chunks in collection {clean(collection)}")
        for status in failed:
            message = status.error.message if status.error else ""
            err.print(f"[red]failed[/] {clean(status.name)}: {clean(message)}")
    if failed:
        raise typer.Exit(1)


def found(paths: list[Path]) -> list[tuple[str, Path]]:
    """(name, file) of every document at ``paths``: a file named there whatever its kind, a folder's by their endings.

    The name is the file's path inside of the folder that was named, so that it is the same on every machine.
    """
    files: list[tuple[str, Path]] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in SUFFIXES)
            files += [(p.relative_to(path).as_posix(), p) for p in inside]
        else:
            files.append((path.name, path))
    return files


async def _ingest(
    settings: Settings, files: list[tuple[str, Path]], collection: str, *, json: bool
) -> list[DocumentStatus]:
    async with parts_of(settings) as parts, Client(await parts.bus(), settings.space) as client:
        return await load_all(client, files, collection, json=json)


async def load_all(
    client: Client, files: list[tuple[str, Path]], collection: str, *, json: bool = False
) -> list[DocumentStatus]:
    """Load ``files`` through ``client`` with a progress bar (or JSON lines); the last status of each, in order."""
    slots = asyncio.Semaphore(AT_ONCE)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[dim]{task.fields[state]}[/]"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, disable=json) as bar:

        async def one(name: str, path: Path) -> DocumentStatus:
            async with slots:
                task = bar.add_task(clean(name), total=None, state="waiting")
                return await _load(client, name, path, collection, bar, task, json=json)

        return await asyncio.gather(*(one(name, path) for name, path in files))


async def _load(
    client: Client, name: str, path: Path, collection: str, bar: Progress, task: TaskID, *, json: bool
) -> DocumentStatus:
    content = path.read_bytes()
    if len(content) > LARGEST:
        fail(
            "too-large",
            f"{name} has {len(content)} bytes; a message carries {LARGEST}: split the document",
            2,
        )
    document = DocumentLoad(name=name, collection=collection, content=b64encode(content).decode())
    status = DocumentStatus(name=name)
    async for heard in client.load(document):
        status = heard.body
        if json:
            emit_json(status.model_dump(mode="json"))
        total = status.chunks or None
        done = status.chunks if status.state in {"ready", "unchanged"} else status.chunks_done
        bar.update(task, total=total, completed=done, state=status.state)
    return status
