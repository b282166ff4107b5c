"""Documents in: build the new version beside the old one, verify it, switch, then retire the old one. And out.

Killed at any point, a second run ends as an undisturbed one does: ids and versions are functions of the
content, parents and leaves are upserted, vectors are remembered by content hash (by the embedder that is given),
and until the switch the old version serves. A batch is what is held in memory beside the text and its spans.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clew_schema.documents import DocumentState, DocumentStatus
from clew_schema.errors import Error
from clew_schema.limits import DEFAULT_COLLECTION
from clew_services.adapters.formats.extract import Limits, extract
from clew_services.collections import Collections
from clew_services.core import analyzers, chunking
from clew_services.core.chunking import Chunking, Source
from clew_services.deletion import delete, named, retire
from clew_services.errors import DocumentUnreadable, RetrievalFailed, StoreFailed
from clew_services.ports import DocumentInfo, Leaf, Parent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from clew_schema.evidence import Evidence
    from clew_services.adapters.formats.extract import Extracted
    from clew_services.core.chunking import Chunk, Levels
    from clew_services.ports import Catalog, Clock, Embedder, VectorStore

BATCH = 16
"""Leaves embedded and written at a time: what is held in memory, and what progress is told in."""

PARENTS_BATCH = 64
"""Parents written at a time."""


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
    ready goes on serving), EmbedderMismatch for a collection made with another embedder, AnalyzerMismatch for one made
    with another analyzer than is asked for, BadRequest for an analyzer that the store does not offer, and
    RetrievalFailed or StoreFailed when a store or the embedder does not answer: then simply try again.
    """

    catalog: Catalog
    vectors: VectorStore
    embedder: Embedder
    clock: Clock
    chunking: Chunking = field(default_factory=Chunking)
    limits: Limits = field(default_factory=Limits)
    analyzer: str = analyzers.AUTO
    """Of new collections, where the document asks for none."""

    async def ingest(
        self,
        document: Document,
        collection: str = DEFAULT_COLLECTION,
        progress: Callable[[DocumentStatus], Awaitable[None]] = ignore,
        *,
        analyzer: str = "",
    ) -> DocumentInfo:
        """Make ``document`` searchable in ``collection`` ("" is the default one) and return what is ready then.

        ``progress`` hears every state: received, parsed, embedding (after each batch), and at last ready, or
        unchanged when this very version was ready before, or failed. Content, chunking and embedder make the version.
        A new collection gets the ``analyzer`` that is asked for (core.analyzers); of one that exists it must be that.
        """
        collection = collection or DEFAULT_COLLECTION
        collections = Collections(self.catalog, self.vectors, self.embedder, self.analyzer)
        known = await collections.known(collection, analyzer)
        job = _Job(self, collection, document, progress)
        await job.tell("received")
        try:
            extracted = await asyncio.to_thread(
                extract, document.name, document.data, media_type=document.media_type, limits=self.limits
            )
        except DocumentUnreadable as error:
            if not known:
                await collections.make(collection, analyzer, "")
            await job.failed(error)
            raise
        if not known:
            await collections.make(collection, analyzer, extracted.text)
        version = chunking.version_of(extracted.text, self.chunking, self.embedder.name)
        levels = await asyncio.to_thread(chunking.split, extracted.text, self.chunking, extracted.pages)
        current = await self.catalog.document(collection, job.document_id)
        if current and current.version == version and await job.is_complete(current, levels):
            await job.retire()
            await job.tell("unchanged", current, done=current.chunks)
            return current
        return await job.build(extracted, version, levels)

    async def named(self, collection: str, name: str) -> str:
        """The id of the document of that name. Raises BadRequest when there is none, or more than one."""
        return await named(self.catalog, collection or DEFAULT_COLLECTION, name)

    async def delete(self, collection: str, document_id: str) -> DocumentInfo:
        """Remove every trace of a document from all stores, and return what was known of it.

        It stops serving first, and is forgotten last: killed in between, simply delete it again. Raises BadRequest
        for a document that is not there, RetrievalFailed or StoreFailed when a store does not answer.
        """
        return await delete(self.catalog, self.vectors, collection or DEFAULT_COLLECTION, document_id)


@dataclass(frozen=True, slots=True)
class _Job:
    """One document on its way into one collection."""

    to: Ingester
    collection: str
    document: Document
    progress: Callable[[DocumentStatus], Awaitable[None]]

    @property
    def document_id(self) -> str:
        return self.document.document_id or chunking.document_id(self.collection, self.document.name)

    async def build(self, extracted: Extracted, version: str, levels: Levels) -> DocumentInfo:
        """Build, verify, switch, retire."""
        building = replace(
            self._info(version),
            media_type=extracted.media_type,
            chunks=len(levels[-1]),
            characters=len(extracted.text),
            pages=len(extracted.pages),
        )
        await self.to.catalog.put_document(building)
        await self.tell("parsed", building)
        above = await self._write_parents(building, extracted.text, levels[0], [])
        above = await self._write_parents(building, extracted.text, levels[1], above)
        for batch, done in _batches(levels[-1], BATCH):
            await self._write_leaves(building, _evidence(building, extracted.text, batch, above))
            await self.tell("embedding", building, done=done)
        await self.to.vectors.flush(self.collection)
        await self._verify(building, levels)
        ready = replace(building, state="ready", ingested_at=self.to.clock.now())
        await self.to.catalog.put_document(ready)
        await self.retire()
        # Whoever took in other content under this name meanwhile may have retired our chunks before the switch.
        await self._verify(ready, levels)
        await self.tell("ready", ready, done=ready.chunks)
        return ready

    async def retire(self) -> None:
        """Delete the chunks of this document's former versions, those that an earlier run left behind included."""
        await retire(self.to.catalog, self.to.vectors, self.collection, self.document_id)

    async def failed(self, error: DocumentUnreadable) -> None:
        """Note the failure beside whatever is ready. The same bytes fail once, however often they come."""
        version = chunking.content_hash(self.document.data.hex())[:16]
        info = replace(self._info(version), state="failed", error=str(error), ingested_at=self.to.clock.now())
        await self.to.catalog.put_document(info)
        await self.tell("failed", info, error=Error(type=error.type, message=str(error)))

    async def is_complete(self, info: DocumentInfo, levels: Levels) -> bool:
        """Whether the stores hold exactly the chunks of ``info``."""
        leaves, parents = await self._count(info)
        return leaves == len(levels[2]) and parents == len(levels[0]) + len(levels[1])

    async def _count(self, info: DocumentInfo) -> tuple[int, int]:
        which = self.collection, info.document_id, info.version
        return await self.to.vectors.count(*which), await self.to.catalog.count_parents(*which)

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
                collection=self.collection,
                name=self.document.name,
                version=info.version if info else "",
                state=state,
                chunks=info.chunks if info else 0,
                chunks_done=done,
                error=error,
            )
        )

    async def _write_parents(
        self, info: DocumentInfo, text: str, chunks: Sequence[Chunk], above: Sequence[str]
    ) -> list[str]:
        """Write one level; its ids, in order. ``above`` are those of the level above."""
        written: list[str] = []
        for batch, _ in _batches(chunks, PARENTS_BATCH):
            made = _evidence(info, text, batch, above)
            parents = [Parent(evidence=e, children=c.children) for e, c in zip(made, batch, strict=True)]
            await self.to.catalog.put_parents(self.collection, parents)
            written += (evidence.chunk_id for evidence in made)
        return written

    async def _write_leaves(self, info: DocumentInfo, made: Sequence[Evidence]) -> None:
        hashes = [evidence.content_hash for evidence in made]
        await self.to.catalog.use_vectors(
            self.collection, info.document_id, info.version, self.to.embedder.name, hashes
        )
        vectors = await self.to.embedder.passages([evidence.text for evidence in made])
        leaves = [Leaf(evidence=e, vector=vector) for e, vector in zip(made, vectors, strict=True)]
        await self.to.vectors.upsert(self.collection, leaves)

    async def _verify(self, info: DocumentInfo, levels: Levels) -> None:
        leaves, parents = await self._count(info)
        if leaves != len(levels[2]):
            raise RetrievalFailed(
                f"{info.name}: the vector store holds {leaves} of the {len(levels[2])} chunks of version "
                f"{info.version}; take the document in again"
            )
        if parents != len(levels[0]) + len(levels[1]):
            raise StoreFailed(
                f"{info.name}: the catalog holds {parents} of the {len(levels[0]) + len(levels[1])} parents of "
                f"version {info.version}; take the document in again"
            )

    def _info(self, version: str) -> DocumentInfo:
        """The version as it begins."""
        return DocumentInfo(
            document_id=self.document_id,
            collection=self.collection,
            name=self.document.name,
            version=version,
            media_type="",
            state="building",
            chunks=0,
            characters=0,
            pages=0,
            ingested_at=0.0,
        )


def _batches(chunks: Sequence[Chunk], size: int) -> Iterator[tuple[Sequence[Chunk], int]]:
    """``chunks`` in batches, each with how many are done after it."""
    for at in range(0, len(chunks), size):
        yield chunks[at : at + size], min(at + size, len(chunks))


def _evidence(info: DocumentInfo, text: str, chunks: Sequence[Chunk], above: Sequence[str]) -> list[Evidence]:
    """The chunks as evidence; ``above`` are the ids of the level above, if there is one."""
    source = Source(
        document_id=info.document_id, version=info.version, filename=info.name, file_type=info.media_type
    )
    return [
        chunking.evidence(chunk, text, source, above[chunk.parent] if chunk.parent >= 0 else "")
        for chunk in chunks
    ]
