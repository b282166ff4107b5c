"""milvus-lite as a server of its own: shared by two, and away for a while."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from clew_schema.evidence import Evidence
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.errors import RetrievalFailed
from clew_services.ports import CollectionInfo, Leaf
from tests.servers.milvus_lite import LiteServer

INFO = CollectionInfo(name="my docs", embedder="e", dimensions=2)
LEAVES = [
    Leaf(evidence=Evidence(chunk_id=f"c{n}", document_id="d", text=f"labyrinth w{n}"), vector=[1.0, n / 5])
    for n in range(5)
]


@pytest.mark.slow
async def test_two_stores_share_a_milvus_lite_server(tmp_path: Path) -> None:
    with LiteServer(tmp_path / "d") as server:
        await sharing(MilvusVectors(server.uri), MilvusVectors(server.uri))


async def sharing(one: MilvusVectors, two: MilvusVectors) -> None:
    assert (await one.capabilities()).bm25, "milvus-lite is milvus-lite, wherever it runs"
    await one.ensure(INFO)
    await one.upsert("my docs", LEAVES)
    await one.flush("my docs")
    found = await two.search("my docs", vector=[1.0, 0.0], text="w3", limit=5)
    assert [e.chunk_id for e in found.bm25 or ()] == ["c3"]
    await one.close()
    assert await two.count("my docs") == 5
    await two.close()


@pytest.mark.slow
async def test_a_server_that_was_away_for_long_is_found_back_soon(tmp_path: Path) -> None:
    with LiteServer(tmp_path / "d") as server:
        store = MilvusVectors(server.uri, timeout=2)
        await store.ensure(INFO)
        await store.upsert("my docs", LEAVES)
        server.kill()
        for _ in range(40):  # whoever asks meanwhile makes gRPC more and more reluctant
            with pytest.raises(RetrievalFailed):
                await store.count("my docs")
            await asyncio.sleep(0.25)
        server.start()
        back = time.monotonic()
        while await failing(store):
            assert time.monotonic() < back + 8  # gRPC alone may wait for two minutes by now
            await asyncio.sleep(0.05)
        assert await store.count("my docs") == 5
        await store.close()


async def failing(store: MilvusVectors) -> bool:
    try:
        await store.search("my docs", vector=[1.0, 0.0], text="w3", limit=1)
    except RetrievalFailed:
        return True
    return False
