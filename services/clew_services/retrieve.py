"""Retrieval: a question in, ranked evidence out. Used by every step that looks something up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_schema.evidence import Retrieval
from clew_schema.facts import EvidenceRetrieved
from clew_schema.limits import CANDIDATE_MULTIPLIER, DOCUMENT_LIMIT
from clew_services.core.fusion import fuse
from clew_services.errors import EmbedderMismatch, EmptyCollection, UnknownCollection

if TYPE_CHECKING:
    from clew_schema.evidence import Evidence
    from clew_services.ports import Catalog, CollectionInfo, Embedder, VectorStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Retriever:
    """Looks questions up in one collection at a time. Raises RetrievalFailed, UnknownCollection, EmptyCollection.

    ``fetch_limit`` of a query, when given, is the number of candidates taken from each leg.
    """

    catalog: Catalog
    vectors: VectorStore
    embedder: Embedder
    default_limit: int = DOCUMENT_LIMIT
    multiplier: int = CANDIDATE_MULTIPLIER
    _known: dict[str, CollectionInfo] = field(default_factory=dict)

    async def retrieve(
        self, collection: str, question: str, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> EvidenceRetrieved:
        """The ``doc_limit`` best pieces of evidence for ``question``, fused from both legs, best first."""
        info = await self._collection(collection)
        limit = doc_limit or self.default_limit
        candidates = max(limit, fetch_limit or limit * self.multiplier)
        vector = await self.embedder.query(question)
        hits = await self.vectors.search(collection, vector=vector, text=question, limit=candidates)
        fused = await self._serving(collection, fuse(hits.dense, hits.bm25))
        if not fused and not any(d.state == "ready" for d in await self.catalog.documents(collection)):
            raise EmptyCollection(f"collection {collection!r} holds no document: ingest one first")
        return EvidenceRetrieved(
            query=question,
            evidence=fused[:limit],
            retrieval=Retrieval(
                mode="hybrid" if hits.bm25 is not None else "dense_fallback",
                candidate_k=candidates,
                candidate_multiplier=self.multiplier,
                top_k=limit,
                recall_count=len(fused),
                candidate_count=len(fused),
                embedder=info.embedder,
                legs=("dense", "bm25") if hits.bm25 is not None else ("dense",),
            ),
        )

    async def _serving(self, collection: str, found: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        """``found`` without versions that are being built or were replaced: their leaves may be in the store.

        Asked after the search, because a version is noted as building before its first leaf is written.
        """
        if not found:
            return found
        ready = await self.catalog.serving(collection, {evidence.document_id for evidence in found})
        kept = [evidence for evidence in found if ready.get(evidence.document_id) == evidence.version]
        if len(kept) == len(found):
            return found
        return tuple(e.model_copy(update={"rank": rank}) for rank, e in enumerate(kept, 1))

    async def _collection(self, name: str) -> CollectionInfo:
        """The collection; known ones are remembered, unknown ones are asked for every time."""
        info = self._known.get(name)
        if info is None:
            info = await self.catalog.collection(name)
            if info is None:
                raise UnknownCollection(f"there is no collection {name!r}: ingest documents into it first")
            await self.vectors.ensure(info)
            self._known[name] = info
        if info.embedder != self.embedder.name:
            raise EmbedderMismatch(
                f"collection {name!r} was made with {info.embedder}, this service embeds with "
                f"{self.embedder.name}: use the same embedder, or ingest into another collection"
            )
        return info
