"""A process to be killed: all services of the product on real stores, with models that write down each call.

``python -m tests.chaos.worker DATA CALLS [BROKER_URL KIND]``: prints ``ready BROKER OPS`` when it serves; ends on SIGTERM.
Without a broker it brings its own pulsar-lite, as ``clew up`` does; KIND is ``lite`` or ``real``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from clew_schema.evidence import Evidence, Grade
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.application import Application
from clew_services.core.answer import Draft
from clew_services.ports import CollectionInfo, DocumentInfo, Emit, Leaf
from clew_services.runtime.observe import configure_logging
from clew_services.settings import Settings

THINKING = 0.003
"""Seconds a model takes, so that a kill finds work in hand."""


class Calls:
    """A file that survives its process: one line a call, written at once."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, kind: str, question: str) -> None:
        os.write(self._file, f"{kind}\t{question}\n".encode())


class NotingGrader:
    name = "noting"
    prompt_version = ""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        self._calls.note("grading.grade", question)
        await asyncio.sleep(THINKING)
        return Grade(relevance="strong", answerability="sufficient", route="answer", confidence=1.0)


class NotingWriter:
    name = "noting"
    prompt_version = ""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        self._calls.note("document-rag.answer", question)
        await asyncio.sleep(THINKING)
        return Draft(text=f"answer to {question} [1]")


async def vectors() -> MemoryVectors:
    store, embedder = MemoryVectors(), HashingEmbedder()
    await store.ensure(CollectionInfo(name="default", embedder=embedder.name, dimensions=embedder.dimensions))
    texts = [f"chunk {number} about question and answer" for number in range(8)]
    leaves = [
        Leaf(
            evidence=Evidence(
                chunk_id=f"urn:chunk:{n}", document_id="urn:document:d", version="v", text=text, end=len(text)
            ),
            vector=vector,
        )
        for n, (text, vector) in enumerate(zip(texts, await embedder.passages(texts), strict=True))
    ]
    await store.upsert("default", leaves)
    return store


async def prepare(url: str) -> None:
    """The catalog knows the one document that the vectors hold."""
    embedder = HashingEmbedder()
    catalog = SqlCatalog(url)
    await catalog.create_collection(
        CollectionInfo(name="default", embedder=embedder.name, dimensions=embedder.dimensions)
    )
    await catalog.put_document(
        DocumentInfo(
            document_id="urn:document:d",
            collection="default",
            name="d",
            version="v",
            media_type="text/plain",
            state="ready",
            chunks=8,
            characters=300,
            pages=0,
            ingested_at=0.0,
        )
    )
    await catalog.close()


async def main(data: Path, calls_file: Path, url: str = "", kind: str = "lite") -> None:
    configure_logging("error")
    data.mkdir(exist_ok=True)
    settings = Settings(data=data, pulsar_url=url, pulsar_lite=kind == "lite", embedder="hashing")
    await prepare(settings.database("catalog"))
    calls = Calls(calls_file)
    application = Application(
        settings,
        ("document-rag", "grading", "trace-store"),
        vectors=await vectors(),
        embedder=HashingEmbedder(),
        grader=NotingGrader(calls),
        writer=NotingWriter(calls),
    )

    def ready() -> None:
        assert application.parts is not None
        print(f"ready {application.parts.broker_url} {application.ops_url}", flush=True)

    await application.run_until_signalled(ready)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:5]))
