"""A small world to take documents into: a catalog, a store that can die, a model that counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from clew_schema import topics
from clew_schema.base import Message
from clew_schema.documents import DocumentStatus
from clew_schema.evidence import Evidence
from clew_schema.topics import Topic
from clew_services.adapters.models.embedder_cached import CachedEmbedder
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.core.chunking import Chunking, document_id
from clew_services.ingest import Document, Ingester
from clew_services.ports import Hits, Leaf, Parent
from clew_services.runtime.clock import ManualClock

FIRST = "".join(f"Sentence {n} is about penguins. " for n in range(60)).encode()
SECOND = "".join(f"Sentence {n} is about patents. " for n in range(40)).encode()


class Counting(HashingEmbedder):
    """Counts what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__(32)
        self.embedded = 0

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.embedded += len(texts)
        return await super().passages(texts)


class Killed(BaseException):
    """The process ends here: nothing may catch it."""


class Shelf(SqlCatalog):
    """Dies at the ``dies_at``-th call that writes parents or drops a version, or silently loses parents."""

    def __init__(self) -> None:
        super().__init__("sqlite://")
        self.writes = 0
        self.dies_at = 0
        self.loses = False

    async def put_parents(self, collection: str, parents: Sequence[Parent]) -> None:
        self._write()
        await super().put_parents(collection, parents[1:] if self.loses else parents)

    async def drop_version(self, collection: str, document_id: str, version: str) -> None:
        self._write()
        await super().drop_version(collection, document_id, version)

    def _write(self) -> None:
        self.writes += 1
        if self.writes == self.dies_at:
            raise Killed


class Store(MemoryVectors):
    """Dies at the ``dies_at``-th write, or silently loses a leaf of every write, or keeps what is deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0
        self.dies_at = 0
        self.dies_at_delete = False
        self.loses = False
        self.keeps = False

    async def upsert(self, collection: str, leaves: Sequence[Leaf]) -> None:
        self.writes += 1
        if self.writes == self.dies_at:
            raise Killed
        await super().upsert(collection, leaves[1:] if self.loses else leaves)

    async def delete(self, collection: str, document_id: str, *, version: str = "") -> None:
        if self.dies_at_delete:
            raise Killed
        if not self.keeps:
            await super().delete(collection, document_id, version=version)


@dataclass
class World:
    catalog: Shelf
    store: Store = field(default_factory=Store)
    model: Counting = field(default_factory=Counting)
    clock: ManualClock = field(default_factory=ManualClock)
    heard: list[DocumentStatus] = field(default_factory=list)

    @property
    def ingester(self) -> Ingester:
        return Ingester(
            catalog=self.catalog,
            vectors=self.store,
            embedder=CachedEmbedder(self.model, self.catalog),
            clock=self.clock,
            chunking=Chunking(sizes=(150, 100, 50), overlaps=(0, 0, 0)),
        )

    async def take(self, data: bytes, name: str = "a.txt", collection: str = "c") -> str:
        self.heard.clear()
        info = await self.ingester.ingest(Document(name=name, data=data), collection, self.hear)
        return info.version

    async def hear(self, status: DocumentStatus) -> None:
        self.heard.append(status)

    async def tell(self, topic: Topic[Any], body: Message) -> None:
        assert topic is topics.DOCUMENT_STATUS
        assert isinstance(body, DocumentStatus)
        self.heard.append(body)

    @property
    def states(self) -> list[str]:
        return [status.state for status in self.heard]

    async def ready_version(self, name: str = "a.txt") -> str:
        info = await self.catalog.document("c", document_id("c", name))
        assert info is not None
        return info.version

    async def take_out(self, name: str = "a.txt", collection: str = "c") -> None:
        await self.ingester.delete(collection, await self.ingester.named(collection, name))

    async def evidence(self) -> list[Evidence]:
        """Every leaf of the collection."""
        hits = await self.store.search("c", vector=await self.model.query("x"), text="x", limit=1000)
        return sorted(hits.dense, key=lambda evidence: (evidence.document_id, evidence.ordinal))

    async def versions_found(self) -> set[str]:
        vector = await self.model.query("sentence penguins patents")
        hits: Hits = await self.store.search("c", vector=vector, text="sentence", limit=1000)
        return {evidence.version for evidence in hits.dense}
