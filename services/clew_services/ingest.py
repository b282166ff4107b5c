"""Documents in: build the new version beside the old one, verify it, switch, then retire the old one.

Killed at any point, a second run ends as an undisturbed one does: ids and versions are functions of the
content, leaves are upserted, vectors are remembered by content hash (by the embedder that is given), and
until the switch the old version serves.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clew_schema.documents import DocumentState, DocumentStatus
from clew_schema.errors import Error
from clew_schema.limits import DEFAULT_COLLECTION
from clew_services.adapters.formats.extract import Limits, extract
from clew_services.core import chunking
from clew_services.core.chunking import Chunking
from clew_services.errors import DocumentUnreadable, EmbedderMismatch, RetrievalFailed
from clew_services.ports import CollectionInfo, DocumentInfo, Leaf

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from clew_services.adapters.formats.extract import Extracted
    from clew_services.core.chunking import Chunk
    from clew_services.ports import Catalog, Clock, Embedder, VectorStore

BATCH = 16
"""Leaves embedded and written at a time: what is held in memory, and what progress is told in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file: its name, never a path that is opened, its bytes, and optionally its type and the sender's id."""

    name: str
    data: bytes
    media_type: str = ""
    document_id: str = ""


async def ignore(status: DocumentStatus) -> None:
    """For who does not want to know how far it is."""
    del status


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingester:
    """Takes documents into collections. Documents may be taken in concurrently.

    Raises DocumentUnreadable for a file that cannot be read (recorded in the catalog; the version that was
    ready goes on serving), EmbedderMismatch for a collection made with another embedder, and RetrievalFailed
    or StoreFailed when a store or the embedder does not answer: then simply try again.
    """

    catalog: Catalog
    vectors: VectorStore
    embedder: Embedder
    clock: Clock
    chunking: Chunking = field(default_factory=Chunking)
    limits: Limits = field(default_factory=Limits)

    async def ingest(
        self,
        document: Document,
        collection: str = DEFAULT_COLLECTION,
        progress: Callable[[DocumentStatus], Awaitable[None]] = ignore,
    ) -> DocumentInfo:
        """Make ``document`` searchable in ``collection`` ("" is the default one) and return what is ready then.

        ``progress`` hears every state: received, parsed, embedding (after each batch), and at last ready, or
        unchanged when this very version was ready before, or failed. Content, chunking and embedder make the version.
        """
        collection = collection or DEFAULT_COLLECTION
        job = _Job(self, await self._collection(collection), document, progress)
        await job.tell("received")
        try:
            extracted = await asyncio.to_thread(
                extract, document.name, document.data, media_type=document.media_type, limits=self.limits
            )
        except DocumentUnreadable as error:
            await job.failed(error)
            raise
        version = chunking.version_of(extracted.text, self.chunking, self.embedder.name)
        current = await self.catalog.document(collection, job.document_id)
        if current and current.version == version and await job.is_complete(current):
            await job.retire()
            await job.tell("unchanged", current, done=current.chunks)
            return current
        chunks = await asyncio.to_thread(chunking.split, extracted.text, self.chunking, extracted.pages)
        return await job.build(extracted, version, chunks)

    async def _collection(self, name: str) -> CollectionInfo:
        wanted = CollectionInfo(name=name, embedder=self.embedder.name, dimensions=self.embedder.dimensions)
        info = await self.catalog.create_collection(wanted)
        if info != wanted:
            raise EmbedderMismatch(
                f"collection {name!r} was made with {info.embedder} ({info.dimensions} dimensions), this service "
                f"embeds with {wanted.embedder} ({wanted.dimensions}): use the same embedder, or another collection"
            )
        await self.vectors.ensure(info)
        return info


@dataclass(frozen=True, slots=True)
class _Job:
    """One document on its way into one collection."""

    to: Ingester
    collection: CollectionInfo
    document: Document
    progress: Callable[[DocumentStatus], Awaitable[None]]

    @property
    def document_id(self) -> str:
        return self.document.document_id or chunking.document_id(self.collection.name, self.document.name)

    async def build(self, extracted: Extracted, version: str, chunks: Sequence[Chunk]) -> DocumentInfo:
        """Build, verify, switch, retire."""
        building = replace(
            self._info(version),
            media_type=extracted.media_type,
            chunks=len(chunks),
            characters=len(extracted.text),
            pages=len(extracted.pages),
        )
        await self.to.catalog.put_document(building)
        await self.tell("parsed", building)
        for at in range(0, len(chunks), BATCH):
            await self._write(building, chunks[at : at + BATCH])
            await self.tell("embedding", building, done=min(at + BATCH, len(chunks)))
        await self.to.vectors.flush(self.collection.name)
        await self._verify(building)
        ready = replace(building, state="ready", ingested_at=self.to.clock.now())
        await self.to.catalog.put_document(ready)
        await self.retire()
        # Whoever took in other content under this name meanwhile may have retired our leaves before the switch.
        await self._verify(ready)
        await self.tell("ready", ready, done=ready.chunks)
        return ready

    async def retire(self) -> None:
        """Delete the leaves of this document's former versions, those that an earlier run left behind included."""
        for old in await self.to.catalog.retired(self.collection.name):
            if old.document_id == self.document_id:
                await self.to.vectors.delete(self.collection.name, old.document_id, version=old.version)
                await self.to.catalog.drop_version(self.collection.name, old.document_id, old.version)

    async def failed(self, error: DocumentUnreadable) -> None:
        """Note the failure beside whatever is ready. The same bytes fail once, however often they come."""
        version = chunking.content_hash(self.document.data.hex())[:16]
        info = replace(self._info(version), state="failed", error=str(error), ingested_at=self.to.clock.now())
        await self.to.catalog.put_document(info)
        await self.tell("failed", info, error=Error(type=error.type, message=str(error)))

    async def is_complete(self, info: DocumentInfo) -> bool:
        """Whether the vector store holds exactly the leaves of ``info``."""
        return info.chunks == await self.to.vectors.count(
            self.collection.name, info.document_id, info.version
        )

    async def tell(
        self,
        state: DocumentState,
        info: DocumentInfo | None = None,
        *,
        done: int = 0,
        error: Error | None = None,
    ) -> None:
        """Say how far it is."""
        await self.progress(
            DocumentStatus(
                document_id=self.document_id,
                collection=self.collection.name,
                name=self.document.name,
                version=info.version if info else "",
                state=state,
                chunks=info.chunks if info else 0,
                chunks_done=done,
                error=error,
            )
        )

    async def _write(self, info: DocumentInfo, chunks: Sequence[Chunk]) -> None:
        vectors = await self.to.embedder.passages([chunk.text for chunk in chunks])
        leaves = [
            Leaf(
                evidence=chunking.leaf(
                    chunk,
                    document=info.document_id,
                    version=info.version,
                    filename=info.name,
                    file_type=info.media_type,
                ),
                vector=vector,
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        await self.to.vectors.upsert(self.collection.name, leaves)

    async def _verify(self, info: DocumentInfo) -> None:
        if not await self.is_complete(info):
            raise RetrievalFailed(
                f"{info.name}: the vector store does not hold the {info.chunks} chunks of version {info.version}"
            )

    def _info(self, version: str) -> DocumentInfo:
        """The version as it begins."""
        return DocumentInfo(
            document_id=self.document_id,
            collection=self.collection.name,
            name=self.document.name,
            version=version,
            media_type="",
            state="building",
            chunks=0,
            characters=0,
            pages=0,
            ingested_at=0.0,
        )
