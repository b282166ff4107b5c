"""The collections that documents are taken into: found, compared with what is asked for, made for a first document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clew_services.core import analyzers
from clew_services.errors import EmbedderMismatch
from clew_services.ports import CollectionInfo

if TYPE_CHECKING:
    from clew_services.ports import Catalog, Embedder, VectorStore


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections of a catalog and a vector store, for documents that ``embedder`` embeds.

    ``analyzer`` is that of new ones for which none is asked. Both methods raise EmbedderMismatch for a collection made
    with another embedder, AnalyzerMismatch for one with another analyzer than ``asked``, and RetrievalFailed or
    StoreFailed when a store does not answer.
    """

    catalog: Catalog
    vectors: VectorStore
    embedder: Embedder
    analyzer: str

    async def known(self, name: str, asked: str) -> bool:
        """Whether the collection exists; then it is as asked for, and loaded."""
        info = await self.catalog.collection(name)
        if info is not None:
            await self._ensure(info, asked)
        return info is not None

    async def make(self, name: str, asked: str, text: str) -> None:
        """Make the collection for a first document of ``text``, unless somebody was first; then it is theirs.

        Raises BadRequest, and makes none, for an analyzer that the vector store does not offer.
        """
        store = await self.vectors.capabilities()
        chosen = analyzers.choose(asked or self.analyzer, text, store.analyzers, store.server)
        wanted = CollectionInfo(
            name=name, embedder=self.embedder.name, dimensions=self.embedder.dimensions, analyzer=chosen
        )
        await self._ensure(await self.catalog.create_collection(wanted), asked)

    async def _ensure(self, info: CollectionInfo, asked: str) -> None:
        model = self.embedder
        if (info.embedder, info.dimensions) != (model.name, model.dimensions):
            raise EmbedderMismatch(
                f"collection {info.name!r} was made with {info.embedder} ({info.dimensions} dimensions), this service "
                f"embeds with {model.name} ({model.dimensions}): use the same embedder, or another collection"
            )
        analyzers.check(info.name, info.analyzer, asked)
        # Of a collection of an earlier Clew the catalog knows no analyzer, and the store does.
        await self.vectors.ensure(replace(info, analyzer=info.analyzer or asked))
