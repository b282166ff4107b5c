"""``clew demo``: everything once, from nothing: a broker, documents, a question, its answer and its evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from clew_schema.retrieval import DocumentRagQuery
from clew_services.application import Application
from clew_services.cli.ask import Telling
from clew_services.cli.common import DataOption, clean, err, fail, load, out, start
from clew_services.cli.ingest import found, load_all
from clew_services.cli.trace_view import render
from clew_services.client import Client
from clew_services.runtime.observe import configure_logging
from clew_translators.trace import read_trace

if TYPE_CHECKING:
    from clew_services.settings import Settings

COLLECTION = "demo"
QUESTION = "Does the Apache License grant a patent license?"


def demo(
    corpus: Annotated[Path, typer.Option(exists=True, help="Folder of documents.")] = Path(
        "docs/data/corpus"
    ),
    question: Annotated[str, typer.Option("--question", "-q", help="What to ask.")] = QUESTION,
    data: DataOption = Path(".demo"),
) -> None:
    """Start a broker, take in a small corpus, ask a question, and show where its answer comes from."""
    settings = load(data, log_level="error", log_format="console")
    files = found([corpus])
    if not files:
        fail("no-documents", f"{corpus} holds no document", 2)
    configure_logging(settings.log_level, form=settings.log_format)
    start(_demo(settings, files, question))


async def _demo(settings: Settings, files: list[tuple[str, Path]], question: str) -> None:
    application = Application(settings)
    async with application:
        parts = application.parts
        assert parts is not None
        err.print(
            f"[bold]1[/]  broker [cyan]{parts.broker_url}[/], services {', '.join(application.services)}"
        )
        async with Client(await parts.bus(), settings.space) as client:
            err.print(f"[bold]2[/]  taking in {len(files)} documents")
            await load_all(client, files, COLLECTION)
            err.print(f"[bold]3[/]  asking [bold]{clean(question)}[/]")
            query = DocumentRagQuery(
                query=question, collection=COLLECTION, streaming=True, session_id=str(uuid4())
            )
            told = Telling(err, out)
            await told.follow(client, query)
            err.print("[bold]4[/]  how the answer came about")
            out.print(render(read_trace(told.triples)))
    err.print(
        f"[dim]everything is in {settings.data}: `clew up -d {settings.data}` serves it, "
        f"`clew trace list -c {COLLECTION} -d {settings.data}` lists what was asked[/]"
    )
