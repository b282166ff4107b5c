"""A vector store in memory: exact cosine similarity by numpy, BM25 by our own index. Its state dies with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from clew_services.core import analyzers
from clew_services.core.lexical import Bm25Index
from clew_services.errors import EmbedderMismatch, RetrievalFailed, UnknownCollection
from clew_services.ports import Capabilities, CollectionInfo, Hits, Leaf

if TYPE_CHECKING:
    import numpy.typing as npt

    from clew_schema.evidence import Evidence


ANALYZERS = ("standard", "jieba")
"""Names of analyzers that a collection may be made with."""


@dataclass(slots=True)
class _Collection:
    info: CollectionInfo
    leaves: dict[str, Leaf] = field(default_factory=dict)
    words: Bm25Index = field(default_factory=Bm25Index)
    order: list[Leaf] = field(default_factory=list)
    matrix: npt.NDArray[np.float32] | None = None
    """The unit vectors of ``order``, which is ``leaves`` in a row; null after a change."""

    def unit_vectors(self) -> npt.NDArray[np.float32]:
        if self.matrix is None:
            self.order = list(self.leaves.values())
            vectors = [leaf.vector for leaf in self.order]
            self.matrix = _unit(np.array(vectors, np.float32).reshape(-1, self.info.dimensions))
        return self.matrix


class MemoryVectors:
    """Both legs, exact. What was written is found at once.

    It offers the analyzers of the embedded Milvus; whichever a collection has, our own index splits its texts, Chinese
    or not.
    """

    def __init__(self) -> None:
        self._collections: dict[str, _Collection] = {}
        self._closed = False

    async def capabilities(self) -> Capabilities:
        """Both legs."""
        return Capabilities(server="memory", analyzers=ANALYZERS)

    async def ensure(self, info: CollectionInfo) -> None:
        """Make the collection if it is missing. Raises EmbedderMismatch or AnalyzerMismatch for another one."""
        self._check()
        found = self._collections.get(info.name)
        if found is None:
            chosen = analyzers.choose(info.analyzer or analyzers.AUTO, "", ANALYZERS, "the store in memory")
            found = self._collections[info.name] = _Collection(replace(info, analyzer=chosen))
        if (found.info.embedder, found.info.dimensions) != (info.embedder, info.dimensions):
            raise EmbedderMismatch(
                f"collection {info.name!r} holds vectors of {found.info.embedder!r} ({found.info.dimensions} "
                f"dimensions), not of {info.embedder!r} ({info.dimensions})"
            )
        analyzers.check(info.name, found.info.analyzer, info.analyzer)

    async def upsert(self, collection: str, leaves: Sequence[Leaf]) -> None:
        """Write leaves; a second write of an id replaces the first."""
        found = self._find(collection)
        for leaf in leaves:
            _check_dimensions(found.info, leaf.vector)
        for leaf in leaves:
            found.leaves[leaf.evidence.chunk_id] = leaf
            found.words.add(leaf.evidence.chunk_id, leaf.evidence.text)
        found.matrix = None

    async def flush(self, collection: str) -> None:
        """Nothing waits here."""
        self._find(collection)

    async def search(self, collection: str, *, vector: Sequence[float], text: str, limit: int) -> Hits:
        """The ``limit`` best leaves of each leg; ties by the order of writing, and by id."""
        found = self._find(collection)
        _check_dimensions(found.info, vector)
        # A view may not change while its answer is put together: nothing awaits from here on.
        similarities = found.unit_vectors() @ _unit(np.asarray([vector], np.float32))[0]
        leaves = found.order
        dense = [
            _hit(leaves[at].evidence, "dense", rank, float(np.clip(similarities[at], -1.0, 1.0)))
            for rank, at in enumerate(_best(similarities, max(limit, 0)), start=1)
        ]
        words = found.words.search(text, max(limit, 0))
        bm25 = [
            _hit(found.leaves[key].evidence, "bm25", rank, score)
            for rank, (key, score) in enumerate(words, start=1)
        ]
        return Hits(dense=dense, bm25=bm25)

    async def count(self, collection: str, document_id: str = "", version: str = "") -> int:
        """How many leaves the collection, a document or one version of it has."""
        return len(_matching(self._find(collection), document_id, version))

    async def delete(self, collection: str, document_id: str, *, version: str = "") -> None:
        """Delete a document's leaves, or those of one version."""
        found = self._find(collection)
        doomed = _matching(found, document_id, version) if document_id else []
        for key in doomed:
            del found.leaves[key]
            found.words.remove(key)
        found.matrix = None

    async def drop(self, collection: str) -> None:
        """Delete the collection; nothing if it does not exist."""
        self._check()
        self._collections.pop(collection, None)

    async def close(self) -> None:
        """No further call is answered."""
        self._closed = True

    def _find(self, collection: str) -> _Collection:
        self._check()
        found = self._collections.get(collection)
        if found is None:
            raise UnknownCollection(f"there is no collection {collection!r}")
        return found

    def _check(self) -> None:
        if self._closed:
            raise RetrievalFailed("the vector store is closed")


def _unit(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # A vector without length is similar to nothing: its similarity is 0, not a division by zero.
    unit = np.zeros_like(vectors)
    np.divide(vectors, lengths, out=unit, where=lengths > 0)
    return unit


def _best(similarities: npt.NDArray[np.float32], limit: int) -> Sequence[int]:
    """Where the ``limit`` largest are, largest first; of equals the first."""
    if 0 < limit < len(similarities):
        # Everything that is at least as good as the last one wanted, equals included; then few are sorted.
        least = -np.partition(-similarities, limit - 1)[limit - 1]
        candidates = np.flatnonzero(similarities >= least)
    else:
        candidates = np.arange(len(similarities))
    best: list[int] = candidates[np.argsort(-similarities[candidates], kind="stable")][:limit].tolist()
    return best


def _check_dimensions(info: CollectionInfo, vector: Sequence[float]) -> None:
    if len(vector) != info.dimensions:
        raise EmbedderMismatch(
            f"collection {info.name!r} holds vectors of {info.dimensions} dimensions ({info.embedder!r}), "
            f"this one has {len(vector)}"
        )


def _hit(evidence: Evidence, leg: str, rank: int, score: float) -> Evidence:
    return evidence.model_copy(update={f"{leg}_rank": rank, f"{leg}_score": score})


def _matching(collection: _Collection, document_id: str, version: str) -> list[str]:
    return [
        key
        for key, leaf in collection.leaves.items()
        if document_id in ("", leaf.evidence.document_id) and version in ("", leaf.evidence.version)
    ]
