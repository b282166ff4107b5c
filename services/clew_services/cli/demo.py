"""``clew demo``: everything once, from nothing: a broker, documents, a question, its answer and its evidence."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer
from rich.rule import Rule
from rich.text import Text

from clew_services.cli.common import err, fail, load, out, say, start

if TYPE_CHECKING:
    from clew_services.settings import Settings

COLLECTION = "demo"
QUESTION = "Does the Apache License grant a patent license?"
CORPUS = Path("docs/data/corpus")
STAGES = 4


def demo(
    corpus: Annotated[
        Path,
        typer.Option(file_okay=False, help="Folder of documents: those of Clew's source tree, or your own."),
    ] = CORPUS,
    question: Annotated[str, typer.Option("--question", "-q", help="What to ask.")] = QUESTION,
    data: Annotated[Path, typer.Option("--data", "-d", help="Folder for everything that is made.")] = Path(
        ".clew/demo"
    ),
) -> None:
    """Start a broker, take in a small corpus, ask a question, and show where its answer comes from."""
    from clew_services.cli.ingest import found
    from clew_services.runtime.observe import configure_logging

    settings = load(data, log_level="error", log_format="console")
    if not corpus.is_dir():
        fail("no-documents", f"there is no folder {corpus} here: name one with documents, --corpus FOLDER", 2)
    files = found([corpus])
    configure_logging(settings.log_level, form=settings.log_format)
    start(_demo(settings, files, question))


async def _demo(settings: Settings, files: list[tuple[str, Path]], question: str) -> None:
    """Four stages, all of them on standard output so that a file of it reads like the terminal."""
    from clew_schema.retrieval import DocumentRagQuery
    from clew_services.application import Application
    from clew_services.cli.ingest import load_all
    from clew_services.cli.telling import Telling
    from clew_services.cli.trace_view import render
    from clew_services.client import Client
    from clew_translators.trace import read_trace

    began = time.monotonic()
    application = Application(settings)
    _stage(1, "Start a broker and the services")
    async with application:
        assert application.parts is not None
        _row("broker", application.parts.broker_url)
        _row("services", ", ".join(application.services))
        _row("data", str(settings.data))
        async with Client(await application.parts.bus(), settings.space) as client:
            _stage(2, f"Take in {len(files)} documents")
            states = await load_all(client, files, COLLECTION, console=out)
            if all(state.state == "failed" for state in states):
                fail("no-documents", "none of the documents could be taken in")
            _stage(3, "Ask")
            say(out, (question, "bold"))
            told = Telling(out, out)
            query = DocumentRagQuery(
                query=question, collection=COLLECTION, streaming=True, session_id=str(uuid4())
            )
            answer = await told.follow(client, query)
        if answer.error is not None:
            fail(answer.error.type, answer.error.message)
        _stage(4, "How the answer came about")
        out.print(render(read_trace(told.triples)))
    out.print()
    folder = shlex.quote(str(settings.data))
    _row("again", f"clew up -d {folder}   serves what was made here; meanwhile")
    _row("", f'clew ask -d {folder} -c {COLLECTION} -x "Your question"')
    _row("", f"clew trace list -d {folder} -c {COLLECTION}")
    say(err, (f"done in {time.monotonic() - began:.1f} s", "dim"))


def _stage(number: int, title: str) -> None:
    out.print()
    out.print(Rule(Text(f"{number}/{STAGES}  {title}", style="bold"), align="left", style="cyan"))


def _row(name: str, value: str) -> None:
    say(out, (f"  {name:<9} ", "dim"), value, whole=True)
