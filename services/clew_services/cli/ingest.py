"""``clew ingest``: documents in, with their progress."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
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
    say,
    start,
    utf8,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from clew_schema.documents import DocumentLoad, DocumentStatus
    from clew_services.client import Client
    from clew_services.settings import Settings

AT_ONCE = 2
"""Documents that are on their way at the same time."""

WIDEST = 48
"""Columns kept for names, so that what follows them stands in one column."""

NAMED = 20
"""Files of other kinds that are named; of more only how many there are."""

MARKS = {"ready": ("✓", "green"), "unchanged": ("=", "dim"), "failed": ("✗", "red")}


class Analyzer(StrEnum):
    """How a new collection's texts are split into words."""

    AUTO = "auto"
    STANDARD = "standard"
    JIEBA = "jieba"
    ENGLISH = "english"
    CHINESE = "chinese"


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(exists=True, help="Files, or folders that are searched for files.")
    ],
    collection: CollectionOption = "default",
    analyzer: Annotated[
        Analyzer | None,
        typer.Option(
            help="How a new collection's texts are split into words; auto: by its first document. Default: the setting."
        ),
    ] = None,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Take documents in. What is in already and unchanged is left alone; one that fails leaves the others be.

    Folders are searched for text, Markdown, HTML, CSV, PDF, Word, PowerPoint, Excel and EPUB files; those of other
    kinds are passed over and named at the end, hidden files and folders without a word. Of a file that is named itself
    the content decides. Ends with 1 when a document failed.
    """
    files = found(paths)
    asked = analyzer.value if analyzer else ""
    last = start(_ingest(load(data), files, utf8(collection), asked, json=json))
    failed = sum(status.state == "failed" for status in last)
    if not json:
        chunks = sum(status.chunks for status in last)
        told = f"{len(last) - failed} documents, {chunks} chunks in collection {collection}"
        say(err, told, (f"; {failed} failed" if failed else "", "red"))
    if others := passed_over(paths):
        say(err, (_told(others), "yellow"))
    if failed:
        raise typer.Exit(1)


def found(paths: list[Path]) -> list[tuple[str, Path]]:
    """(name, file) of every document at ``paths``: a file named there whatever its kind, a folder's by their endings.

    The name is the file's path inside of the folder that was named, so that it is the same on every machine. Ends
    the process with 2 when there is none, or when two would have the same name.
    """
    from clew_services.adapters.formats.extract import SUFFIXES, SUPPORTED

    files: dict[Path, str] = {}
    for path in paths:
        if path.is_dir():
            files |= {p: name for p, name in _inside(path) if p.suffix.lower() in SUFFIXES}
        else:
            files[path] = utf8(path.name)
    if not files:
        others = passed_over(paths)
        aside = f"; {_told(others)}" if others else ""
        fail("no-documents", f"nothing here can be read: documents end in {SUPPORTED}{aside}", 2)
    name, times = Counter(files.values()).most_common(1)[0]
    if times > 1:
        fail(
            "same-name",
            f"{times} of these files are named {name!r}, and a document's name is what tells it from others: "
            "name the folder that holds them all",
            2,
        )
    return [(name, path) for path, name in files.items()]


def passed_over(paths: list[Path]) -> list[str]:
    """The names of the files in folders at ``paths`` that are of another kind; hidden ones are left out."""
    from clew_services.adapters.formats.extract import SUFFIXES

    folders = (path for path in paths if path.is_dir())
    others = {p: name for path in folders for p, name in _inside(path) if p.suffix.lower() not in SUFFIXES}
    return list(others.values())


def _inside(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file in ``folder``, and its path from there; nothing hidden."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            yield path, utf8(name.as_posix())


def _told(others: list[str]) -> str:
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    what = "1 file of another kind was" if len(others) == 1 else f"{len(others)} files of other kinds were"
    return f"{what} passed over: {', '.join(others[:NAMED])}{more}"


async def _ingest(
    settings: Settings, files: list[tuple[str, Path]], collection: str, analyzer: str, *, json: bool
) -> list[DocumentStatus]:
    from clew_services.cli.connect import client_of

    async with client_of(settings) as client:
        return await load_all(client, files, collection, analyzer=analyzer, console=err, json=json)


async def load_all(
    client: Client,
    files: list[tuple[str, Path]],
    collection: str,
    *,
    analyzer: str = "",
    console: Console,
    json: bool = False,
) -> list[DocumentStatus]:
    """Load ``files`` through ``client``, told on ``console`` (or as JSON lines); the last status of each, in order.

    On a terminal bars show what is under way; each finished document is one line, there and in a pipe.
    """
    from clew_schema.documents import DocumentLoad

    blank = DocumentLoad.model_validate({"collection": collection, "analyzer": analyzer})
    slots = asyncio.Semaphore(AT_ONCE)
    columns = (
        TextColumn("  {task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[dim]{task.fields[state]}[/]"),
    )
    live = console.is_terminal and not json
    width = min(max(cell_len(name) for name, _ in files), WIDEST)
    with Progress(*columns, console=console, disable=not live, transient=True) as bars:
        whole = bars.add_task("documents", total=len(files), state="")

        async def one(name: str, path: Path) -> DocumentStatus:
            async with slots:
                bar = bars.add_task(clean(name), total=None, state="sent")
                began = time.monotonic()
                status = await _load(client, name, path, blank, _Watch(bars, bar, json=json))
                bars.remove_task(bar)
                bars.advance(whole)
                if not json:
                    console.print(
                        _line(status, time.monotonic() - began, width), soft_wrap=not console.is_terminal
                    )
                return status

        return await asyncio.gather(*(one(name, path) for name, path in files))


def _line(status: DocumentStatus, seconds: float, width: int) -> Text:
    from clew_services.cli.trace_view import one_line

    mark, style = MARKS.get(status.state, ("?", "yellow"))
    name = one_line(status.name)
    text = Text.assemble((f"  {mark} ", style), name, " " * max(0, width - cell_len(name)))
    if status.error is not None:
        return text.append("  " + one_line(f"{status.error.type}: {status.error.message}"), style="red")
    return text.append(f"  {status.state}, {status.chunks} chunks, {seconds:.1f} s", style="dim")


class _Watch:
    """Tells each status of one document."""

    def __init__(self, bars: Progress, bar: TaskID, *, json: bool) -> None:
        self._bars = bars
        self._bar = bar
        self._json = json

    def __call__(self, status: DocumentStatus) -> DocumentStatus:
        if self._json:
            emit_json(status.model_dump(mode="json"))
        self._bars.update(
            self._bar, total=status.chunks or None, completed=status.chunks_done, state=status.state
        )
        return status


async def _load(client: Client, name: str, path: Path, blank: DocumentLoad, tell: _Watch) -> DocumentStatus:
    """Send one document and wait for its end; whatever goes wrong with it is its own failure."""
    from clew_schema.documents import DocumentStatus
    from clew_schema.errors import Error
    from clew_schema.limits import MAX_MESSAGE_BYTES

    def failed(kind: str, message: str) -> DocumentStatus:
        return tell(
            DocumentStatus(
                name=name,
                collection=blank.collection,
                state="failed",
                error=Error(type=kind, message=message),
            )
        )

    largest = MAX_MESSAGE_BYTES * 3 // 4 - 64 * 1024  # as base64, with room for the fields of a dead letter
    try:
        content = path.read_bytes()
    except OSError as error:
        return failed("document-unreadable", f"{path}: {error.strerror}")
    if len(content) > largest:
        return failed("too-large", f"it has {len(content)} bytes; a message carries {largest}: split it")
    document = blank.model_copy(update={"name": name, "content": b64encode(content).decode()})
    status = DocumentStatus(name=name, collection=blank.collection)
    try:
        async for heard in client.load(document):
            status = tell(heard.body)
    except TimeoutError:
        return failed("timeout", "nobody told how far it is: does the ingest service run?")
    return status
