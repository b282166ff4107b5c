"""Leaves in Milvus: a server by URL, or milvus-lite by a path that ends in ``.db``.

One Milvus collection per Clew collection, dense and BM25 legs asked separately so that each keeps its own ranks
and scores. A Milvus collection also says which Clew collection and which embedder it is for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from clew_services.adapters.stores.milvus_calls import MilvusCalls
from clew_services.adapters.stores.milvus_connection import MilvusConnection
from clew_services.adapters.stores.milvus_filters import equals
from clew_services.adapters.stores.milvus_schema import Stored, collection_name, row
from clew_services.core.analyzers import check
from clew_services.core.lexical import terms
from clew_services.errors import EmbedderMismatch, UnknownCollection
from clew_services.ports import Capabilities, CollectionInfo, Hits, Leaf

if TYPE_CHECKING:
    from pymilvus import MilvusClient

    from clew_schema.documents import AnalyzerName
    from clew_schema.evidence import Evidence

T = TypeVar("T")

UPSERT_ROWS = 500
MAX_LIMIT = 16_384
"""The most that Milvus returns for one leg."""


class MilvusVectors:
    """A vector store in Milvus or milvus-lite.

    ``analyzer`` splits texts into words, for new collections whose ``CollectionInfo`` names none: ``standard`` or
    ``jieba``, on a server also ``english`` or ``chinese``; ``auto`` is what serves most, ``jieba`` where the engine has
    it. ``timeout`` bounds each call, in seconds. A milvus-lite collection of more than ``hnsw_rows`` rows is indexed by
    IVF_FLAT from its next ``flush`` on.

    Two of these on one milvus-lite path share its server while both are in one process, until one is closed.
    """

    def __init__(
        self,
        uri: str,
        *,
        token: str = "",
        analyzer: AnalyzerName = "auto",
        timeout: float = 30.0,
        hnsw_rows: int = 20_000,
    ) -> None:
        self._connection = MilvusConnection(uri, token=token, timeout=timeout)
        self._analyzer = analyzer
        self._timeout = timeout
        self._hnsw_rows = hnsw_rows
        self._opening = asyncio.Lock()
        self._calls: MilvusCalls | None = None
        self._known: dict[str, Stored] = {}

    async def capabilities(self) -> Capabilities:
        """From the server's version; one that claims BM25 is probed once, with a collection that is dropped again."""
        return (await self._connected()).capabilities

    async def ensure(self, info: CollectionInfo) -> None:
        """Make the collection if it is missing, and load it. Raises EmbedderMismatch, or AnalyzerMismatch."""
        has = (await self._find(info.name, info)).info
        if (has.embedder, has.dimensions) != (info.embedder, info.dimensions):
            raise EmbedderMismatch(
                f"collection {info.name!r} holds vectors of {has.embedder!r} ({has.dimensions} dimensions), not of "
                f"{info.embedder!r} ({info.dimensions})"
            )
        check(info.name, has.analyzer, info.analyzer)

    async def upsert(self, collection: str, leaves: Sequence[Leaf]) -> None:
        """Write leaves by ``chunk_id``; of two with one id in ``leaves`` the last counts."""
        has = await self._find(collection)
        for leaf in leaves:
            _check_dimensions(has, leaf.vector)
        # A server keeps both rows of an id that comes twice in one call.
        rows = [row(leaf) for leaf in {leaf.evidence.chunk_id: leaf for leaf in leaves}.values()]
        name = collection_name(collection)
        batches = [rows[start : start + UPSERT_ROWS] for start in range(0, len(rows), UPSERT_ROWS)]
        async with self._connection.writing:
            for batch in batches:
                await self._connection.call(partial(_upsert, name, batch, self._timeout), loads=name)

    async def flush(self, collection: str) -> None:
        """Return once what was written is found by a search."""
        calls, has = await self._connected(), await self._find(collection)
        async with self._connection.writing:
            await self._connection.call(
                lambda client: calls.flush(client, collection, bm25=has.bm25),
                loads=collection_name(collection),  # milvus-lite looks into it, and may have started anew
            )

    async def search(self, collection: str, *, vector: Sequence[float], text: str, limit: int) -> Hits:
        """The ``limit`` best leaves of each leg. What was written a moment ago counts after ``flush``."""
        calls, has = await self._connected(), await self._find(collection)
        _check_dimensions(has, vector)
        limit = min(limit, MAX_LIMIT)
        if limit < 1:
            return Hits(dense=[], bm25=[] if has.bm25 else None)
        words = text if has.bm25 and terms(text) else ""  # a text without any word matches nothing

        def dense(client: MilvusClient) -> list[Evidence]:
            return calls.dense(client, collection, vector, limit)

        def bm25(client: MilvusClient) -> list[Evidence]:
            return calls.bm25(client, collection, words, limit)

        if calls.lite:
            # Its server shares one interpreter: two threads would only take turns.
            near, alike = await self._ask(collection, lambda client: (dense(client), bm25(client)))
        else:
            near, alike = await asyncio.gather(self._ask(collection, dense), self._ask(collection, bm25))
        return Hits(dense=near, bm25=alike if has.bm25 else None)

    async def count(self, collection: str, document_id: str = "", version: str = "") -> int:
        """How many leaves there are; sees every write that was acknowledged before."""
        calls, _ = await self._connected(), await self._find(collection)
        wanted = {"document_id": document_id, "version": version}
        expression = equals(**{field: value for field, value in wanted.items() if value})
        return await self._ask(collection, lambda client: calls.count(client, collection, expression))

    async def delete(self, collection: str, document_id: str, *, version: str = "") -> None:
        """Delete a document's leaves, or those of one version."""
        await self._find(collection)
        expression = equals(document_id=document_id, **({"version": version} if version else {}))
        name = collection_name(collection)
        async with self._connection.writing:
            await self._connection.call(
                lambda client: client.delete(name, filter=expression, timeout=self._timeout), loads=name
            )

    async def drop(self, collection: str) -> None:
        """Delete the Milvus collection; nothing if it does not exist."""
        name = collection_name(collection)
        async with self._connection.writing:
            self._known.pop(collection, None)
            await self._connection.call(lambda client: client.drop_collection(name, timeout=self._timeout))

    async def close(self) -> None:
        """Disconnect; milvus-lite's directory may be opened by another process from then on."""
        await self._connection.close()

    # --- what is known of a collection ------------------------------------------------------------

    async def _connected(self) -> MilvusCalls:
        async with self._opening:
            if self._calls is None:
                self._calls = await self._connection.call(
                    lambda client: MilvusCalls.connected(
                        client,
                        analyzer=self._analyzer,
                        timeout=self._timeout,
                        hnsw_rows=self._hnsw_rows,
                    )
                )
            return self._calls

    async def _find(self, collection: str, info: CollectionInfo | None = None) -> Stored:
        calls = await self._connected()
        async with self._opening:
            if collection not in self._known:
                self._known[collection] = await self._connection.call(
                    lambda client: calls.open(client, collection, info)
                )
            return self._known[collection]

    async def _ask(self, collection: str, work: Callable[[MilvusClient], T]) -> T:
        try:
            return await self._connection.call(work, loads=collection_name(collection))
        except UnknownCollection as error:
            self._known.pop(collection, None)
            raise UnknownCollection(f"somebody dropped collection {collection!r}") from error


def _check_dimensions(has: Stored, vector: Sequence[float]) -> None:
    if len(vector) != has.info.dimensions:
        raise EmbedderMismatch(
            f"collection {has.info.name!r} holds vectors of {has.info.dimensions} dimensions "
            f"({has.info.embedder!r}), this one has {len(vector)}"
        )


def _upsert(name: str, rows: list[dict[str, Any]], timeout: float, client: MilvusClient) -> None:
    client.upsert(name, rows, timeout=timeout)
