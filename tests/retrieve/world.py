"""Documents of three levels in a catalog and a store, and doubles that count, fail or lack a leg."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from clew_schema.evidence import Evidence
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.errors import RetrievalFailed
from clew_services.ports import CollectionInfo, DocumentInfo, Hits, Leaf, Parent, Reranker, VectorStore
from clew_services.retrieve import EvidenceRetriever, Policy

Tree = Sequence[Sequence[Sequence[str]]]
"""Leaves' texts, in their parents of level 2, in theirs of level 1."""

EMBEDDER = HashingEmbedder()


@dataclass(frozen=True)
class Cut:
    """The chunks of one version of a document."""

    leaves: tuple[Evidence, ...]
    parents: tuple[Parent, ...]


def cut(name: str, tree: Tree, version: str = "1") -> Cut:
    """The chunks of a document whose text is its leaves, joined by a blank."""
    text = " ".join(leaf for top in tree for middle in top for leaf in middle)
    leaves: list[Evidence] = []
    parents: list[Parent] = []

    def piece(level: int, ordinal: int, start: int, end: int, parent: str) -> Evidence:
        return Evidence(
            chunk_id=f"{name}-{version}-L{level}-{ordinal}",
            document_id=name,
            version=version,
            filename=f"{name}.txt",
            start=start,
            end=end,
            ordinal=ordinal,
            level=level,
            parent_id=parent,
            text=text[start:end],
        )

    at = middles = 0
    for tops, top in enumerate(tree):
        top_start, top_id = at, f"{name}-{version}-L1-{tops}"
        for middle in top:
            middle_start, middle_id = at, f"{name}-{version}-L2-{middles}"
            for words in middle:
                leaves.append(piece(3, len(leaves), at, at + len(words), middle_id))
                at += len(words) + 1
            parents.append(
                Parent(evidence=piece(2, middles, middle_start, at - 1, top_id), children=len(middle))
            )
            middles += 1
        parents.append(Parent(evidence=piece(1, tops, top_start, at - 1, ""), children=len(top)))
    return Cut(tuple(leaves), tuple(parents))


class CountingCatalog(SqlCatalog):
    """The catalog in SQL, which notes each call that a question makes."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.asked: list[str] = []

    async def collection(self, name: str) -> CollectionInfo | None:
        self.asked.append("collection")
        return await super().collection(name)

    async def documents(self, collection: str) -> Sequence[DocumentInfo]:
        self.asked.append("documents")
        return await super().documents(collection)

    async def serving(self, collection: str, document_ids: Collection[str]) -> Mapping[str, str]:
        self.asked.append("serving")
        return await super().serving(collection, document_ids)

    async def parents(self, collection: str, chunk_ids: Sequence[str]) -> Mapping[str, Parent]:
        self.asked.append("parents")
        return await super().parents(collection, chunk_ids)


class DenseOnly(MemoryVectors):
    """A store that has no words' leg, and says so."""

    async def search(self, collection: str, *, vector: Sequence[float], text: str, limit: int) -> Hits:
        hits = await super().search(collection, vector=vector, text=text, limit=limit)
        return Hits(dense=hits.dense, bm25=None)


class RecordingVectors(MemoryVectors):
    """Keeps the words and the limit of every search."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, int]] = []

    async def search(self, collection: str, *, vector: Sequence[float], text: str, limit: int) -> Hits:
        self.asked.append((text, limit))
        return await super().search(collection, vector=vector, text=text, limit=limit)


class RecordingEmbedder(HashingEmbedder):
    """Keeps what it was asked; with ``down`` it does not answer."""

    def __init__(self, *, down: bool = False) -> None:
        super().__init__()
        self.asked: list[str] = []
        self._down = down

    async def query(self, text: str) -> Sequence[float]:
        if self._down:
            raise RetrievalFailed("the embedder does not answer")
        self.asked.append(text)
        return await super().query(text)


@dataclass(kw_only=True)
class World:
    """A catalog and a store that hold the same documents."""

    catalog: CountingCatalog
    vectors: VectorStore = field(default_factory=MemoryVectors)

    def retriever(
        self, policy: Policy | None = None, reranker: Reranker | None = None, *, down: bool = False
    ) -> EvidenceRetriever:
        return EvidenceRetriever(
            catalog=self.catalog,
            vectors=self.vectors,
            embedder=RecordingEmbedder(down=down),
            reranker=reranker,
            policy=policy or Policy(),
        )

    async def collection(self, name: str) -> None:
        info = CollectionInfo(name=name, embedder=EMBEDDER.name, dimensions=EMBEDDER.dimensions)
        await self.catalog.create_collection(info)
        await self.vectors.ensure(info)

    async def hold(self, collection: str, name: str, tree: Tree, version: str = "1") -> Cut:
        """Take a document in as the version that serves."""
        chunks = await self.build(collection, name, tree, version)
        await self.put(collection, name, version, len(chunks.leaves))
        return chunks

    async def build(self, collection: str, name: str, tree: Tree, version: str = "1") -> Cut:
        """Write the chunks of a version that does not serve."""
        chunks = cut(name, tree, version)
        await self.collection(collection)
        await self.catalog.put_parents(collection, chunks.parents)
        vectors = await EMBEDDER.passages([leaf.text for leaf in chunks.leaves])
        await self.vectors.upsert(
            collection,
            [Leaf(evidence=leaf, vector=vector) for leaf, vector in zip(chunks.leaves, vectors, strict=True)],
        )
        await self.vectors.flush(collection)
        return chunks

    async def put(self, collection: str, name: str, version: str, chunks: int) -> None:
        """Note a version as the one that serves."""
        await self.catalog.put_document(
            DocumentInfo(
                document_id=name,
                collection=collection,
                name=f"{name}.txt",
                version=version,
                media_type="text/plain",
                state="ready",
                chunks=chunks,
                characters=1,
                pages=0,
                ingested_at=1.0,
            )
        )
