"""An embedder that remembers: the vector of a text is computed once, whatever document it stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from clew_services.core.chunking import content_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_services.ports import Embedder


class VectorCache(Protocol):
    """The part of the Catalog that remembers vectors. Raises StoreFailed."""

    async def vectors(self, embedder: str, hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """Vectors computed before, by content hash; missing ones are absent."""
        ...

    async def put_vectors(self, embedder: str, vectors: Mapping[str, Sequence[float]]) -> None:
        """Remember vectors by content hash."""
        ...


class CachedEmbedder:
    """``embedder`` with the vectors of its passages kept in ``cache`` under its name and their content hash.

    What was computed is written before it is returned, so an ingest that was killed does not compute it
    again. Questions are not kept: they rarely repeat. Raises what ``embedder`` and ``cache`` raise.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self.name = embedder.name
        self.dimensions = embedder.dimensions

    async def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return await self._embedder.query(text)

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of passages, in order; equal texts are computed once."""
        if not texts:
            return []
        by_hash = {content_hash(text): text for text in texts}
        known = dict(await self._cache.vectors(self.name, list(by_hash)))
        missing = [key for key in by_hash if key not in known]
        if missing:
            made = await self._embedder.passages([by_hash[key] for key in missing])
            fresh = dict(zip(missing, made, strict=True))
            await self._cache.put_vectors(self.name, fresh)
            known |= fresh
        return [known[content_hash(text)] for text in texts]
