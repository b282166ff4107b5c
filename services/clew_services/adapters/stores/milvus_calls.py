"""What is asked of Milvus, call by call: blocking functions on a client, run in threads by ``vectors_milvus``."""

from __future__ import annotations

import importlib.util
import logging
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clew_services.adapters.stores.milvus_schema import (
    DENSE,
    OUTPUT_FIELDS,
    PROPERTY,
    SPARSE,
    Stored,
    collection_name,
    evidence,
    index_params,
    note,
    schema,
    stored,
)
from clew_services.core.analyzers import choose
from clew_services.errors import RetrievalFailed, StoreIncompatible, UnknownCollection
from clew_services.ports import Capabilities, CollectionInfo

if TYPE_CHECKING:
    from pymilvus import MilvusClient

    from clew_schema.evidence import Evidence

_BM25_SINCE = (2, 5)

LITE_ANALYZERS = ("standard", "jieba")
"""What milvus-lite can split texts with; ``jieba`` where that package is installed."""
SERVER_ANALYZERS = ("standard", "jieba", "english", "chinese")
"""What a Milvus server can split texts with."""


@dataclass(frozen=True, slots=True)
class MilvusCalls:
    """The calls, with what they all need. Use ``connected`` to make one for a server.

    ``lite``: the engine is milvus-lite, in this process or in a ``milvus-lite server``. ``analyzer`` splits the
    texts of new collections that name none. ``timeout`` bounds a call, in seconds. Above ``hnsw_rows`` rows
    milvus-lite gets IVF_FLAT in place of HNSW: as fast to search, and built in seconds where HNSW takes minutes.
    """

    capabilities: Capabilities
    lite: bool
    analyzer: str
    timeout: float
    hnsw_rows: int

    @classmethod
    def connected(cls, client: MilvusClient, *, analyzer: str, timeout: float, hnsw_rows: int) -> MilvusCalls:
        """Find out what the server is and can do.

        The version decides, and where it claims BM25, a probe: a collection that is dropped again.
        """
        server = str(client.get_server_version(timeout=timeout))
        if server.startswith("milvus_lite"):
            offered: tuple[str, ...] = LITE_ANALYZERS
            if importlib.util.find_spec("jieba"):
                import jieba

                jieba.setLogLevel(logging.WARNING)  # or it tells on stderr that it reads its dictionary
            else:
                offered = tuple(name for name in offered if name != "jieba")
            return cls(Capabilities(server=server, analyzers=offered), True, analyzer, timeout, hnsw_rows)
        version = re.match(r"v?(\d+)\.(\d+)", server)
        old = version is not None and (int(version[1]), int(version[2])) < _BM25_SINCE
        bm25 = not old and _keeps_functions(client, timeout)
        capable = Capabilities(bm25=bm25, server=server, analyzers=SERVER_ANALYZERS)
        return cls(capable, False, analyzer, timeout, hnsw_rows)

    def open(self, client: MilvusClient, name: str, info: CollectionInfo | None = None) -> Stored:
        """Find the collection or, given ``info``, make it; make the indexes that it lacks; load it.

        Raises BadRequest for one to be made with an analyzer that the server does not have.
        """
        from pymilvus.exceptions import MilvusException

        physical = collection_name(name)
        if not client.has_collection(physical, timeout=self.timeout):
            if info is None:
                raise UnknownCollection(f"there is no collection {name!r}")
            offers = self.capabilities
            chosen = choose(info.analyzer or self.analyzer, "", offers.analyzers, offers.server)
            info = replace(info, analyzer=chosen)
            # In three steps: pymilvus's single one polls for half a second.
            made = schema(client, info, words=chosen if offers.bm25 else None)
            try:
                client.create_collection(
                    physical,
                    schema=made,
                    properties={PROPERTY: note(info)},
                    consistency_level="Bounded",
                    timeout=self.timeout,
                )
            except MilvusException:
                # Another process may have made it since we looked.
                if not client.has_collection(physical, timeout=self.timeout):
                    raise
        found = stored(client.describe_collection(physical, timeout=self.timeout))
        if found is None or found.info.name != name:
            raise RetrievalFailed(
                f"the Milvus collection {physical!r} is not one that Clew made for {name!r}"
            )
        if found.lacks:
            raise StoreIncompatible(
                f"collection {name!r} was made by an earlier Clew and has no field {', '.join(found.lacks)}: drop the "
                f"Milvus collection {physical} and ingest its documents again, or ingest them into a new collection"
            )
        self._index(client, physical, "HNSW", bm25=found.bm25)
        # milvus-lite forgets what was loaded; a server does no work for what is loaded already.
        client.load_collection(physical, timeout=self.timeout)
        self._warm(client, physical, bm25=found.bm25)
        return found

    def flush(self, client: MilvusClient, collection: str, *, bm25: bool) -> None:
        """Return once a bounded search finds what was written; on milvus-lite, also quickly."""
        physical = collection_name(collection)
        client.flush(physical, timeout=self.timeout)
        if not self.lite:
            # A strong read waits until the server has seen all that was written; bounded ones then see it too.
            self.count(client, collection, "")
            return
        rows = int(client.get_collection_stats(physical, timeout=self.timeout)["row_count"])
        if rows > self.hnsw_rows and self._index_type(client, physical) == "HNSW":
            client.release_collection(physical, timeout=self.timeout)
            client.drop_index(physical, DENSE, timeout=self.timeout)
            self._index(client, physical, "IVF_FLAT", bm25=bm25)
            client.load_collection(physical, timeout=self.timeout)
        self._warm(client, physical, bm25=bm25)

    def _index(self, client: MilvusClient, physical: str, dense: str, *, bm25: bool) -> None:
        """Make the indexes that are missing: all at first, some after a crash or a change."""
        there = client.list_indexes(physical, timeout=self.timeout)
        missing = [field for field in ([DENSE, SPARSE] if bm25 else [DENSE]) if field not in there]
        if missing:
            params = index_params(client, missing, dense)
            client.create_index(physical, params, sync=False, timeout=self.timeout)

    def _warm(self, client: MilvusClient, physical: str, *, bm25: bool) -> None:
        # milvus-lite builds its BM25 index in the first search, up to seconds for 100,000 rows.
        if self.lite and bm25:
            client.search(
                physical,
                ["warm"],
                anns_field=SPARSE,
                limit=1,
                search_params={"metric_type": "BM25"},
                timeout=60,
            )

    def _index_type(self, client: MilvusClient, physical: str) -> str:
        return str(client.describe_index(physical, DENSE, timeout=self.timeout)["index_type"])

    # --- the legs ---------------------------------------------------------------------------------

    def dense(
        self, client: MilvusClient, collection: str, vector: Sequence[float], limit: int
    ) -> list[Evidence]:
        """The leaves whose vectors are nearest by cosine."""
        # Each index reads its own parameter and ignores the other.
        how = {"metric_type": "COSINE", "params": {"ef": max(64, limit), "nprobe": 32}}
        data = np.asarray(vector, np.float32)
        found = self._search(client, collection, data, limit, anns_field=DENSE, search_params=how)
        return [evidence(hit, "dense", rank) for rank, hit in enumerate(found, start=1)]

    def bm25(self, client: MilvusClient, collection: str, text: str, limit: int) -> list[Evidence]:
        """The leaves that share words with ``text``; none for an empty one."""
        if not text:
            return []
        how = {"metric_type": "BM25", "params": {}}
        found = self._search(client, collection, text, limit, anns_field=SPARSE, search_params=how)
        return [evidence(hit, "bm25", rank) for rank, hit in enumerate(found, start=1)]

    def _search(
        self, client: MilvusClient, collection: str, data: Any, limit: int, **leg: Any
    ) -> Sequence[Any]:
        found = client.search(
            collection_name(collection),
            [data],
            limit=limit,
            output_fields=list(OUTPUT_FIELDS),
            consistency_level="Bounded",
            timeout=self.timeout,
            **leg,
        )
        return list(found[0])

    def count(self, client: MilvusClient, collection: str, expression: str) -> int:
        """How many rows ``expression`` holds for, after all writes that were acknowledged."""
        found = client.query(
            collection_name(collection),
            filter=expression,
            output_fields=["count(*)"],
            consistency_level="Strong",
            timeout=self.timeout,
        )
        return int(found[0]["count(*)"])


def _keeps_functions(client: MilvusClient, timeout: float) -> bool:
    name = f"clew_probe_{uuid.uuid4().hex}"
    info = CollectionInfo(name=name, embedder="probe", dimensions=2)
    client.create_collection(name, schema=schema(client, info, words="standard"), timeout=timeout)
    try:
        found = stored(client.describe_collection(name, timeout=timeout))
    finally:
        client.drop_collection(name, timeout=timeout)
    return found is not None and found.bm25
