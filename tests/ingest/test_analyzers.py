"""Which analyzer a collection gets when documents come: by its first text, by setting, or as a message asks."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from clew_schema.documents import AnalyzerName, DocumentLoad
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.cli.ingest import Analyzer
from clew_services.errors import AnalyzerMismatch, BadRequest, NoText
from clew_services.handlers.ingest import LoadDocument
from clew_services.ingest import Document, Ingester
from clew_services.ports import Capabilities, CollectionInfo
from tests.ingest.world import FIRST, SECOND, Store, World

RUSSIAN = "Жил-был серенький козлик. ".encode()
CHINESE = "线团是忒修斯走出迷宫时用的东西。".encode()


def test_the_command_line_offers_what_a_message_may_ask_for() -> None:
    assert tuple(Analyzer) == get_args(AnalyzerName)


async def analyzer_of(world: World, collection: str = "c") -> str:
    info = await world.catalog.collection(collection)
    assert info is not None
    return info.analyzer


@pytest.mark.parametrize(("data", "expected"), [(FIRST, "jieba"), (CHINESE, "jieba"), (RUSSIAN, "standard")])
async def test_the_first_document_decides_and_later_ones_do_not(
    world: World, data: bytes, expected: str
) -> None:
    await world.take(data)
    assert await analyzer_of(world) == expected
    for n, later in enumerate((FIRST, CHINESE, RUSSIAN)):
        await world.take(later, f"{n}.txt")
    assert await analyzer_of(world) == expected


class Server(Store):
    """Offers what a Milvus server does, and takes every name."""

    async def capabilities(self) -> Capabilities:
        return Capabilities(server="2.6", analyzers=("standard", "jieba", "english", "chinese"))

    async def ensure(self, info: CollectionInfo) -> None:
        await super().ensure(replace(info, analyzer=""))


@pytest.mark.parametrize(("data", "expected"), [(FIRST, "english"), (CHINESE, "chinese")])
async def test_on_a_server_a_language_has_its_own(world: World, data: bytes, expected: str) -> None:
    world.store = Server()
    await world.take(data)
    assert await analyzer_of(world) == expected


async def test_the_setting_is_for_new_collections_and_a_message_goes_before_it(world: World) -> None:
    ingester = replace(world.ingester, analyzer="standard")
    await ingester.ingest(Document(name="a.txt", data=CHINESE), "c")
    await ingester.ingest(Document(name="a.txt", data=CHINESE), "asked", analyzer="jieba")
    await ingester.ingest(Document(name="a.txt", data=CHINESE), "auto", analyzer="auto")
    assert [await analyzer_of(world, name) for name in ("c", "asked", "auto")] == [
        "standard",
        "jieba",
        "jieba",
    ]
    await replace(ingester, analyzer="jieba").ingest(Document(name="b.txt", data=FIRST), "c")
    assert await analyzer_of(world) == "standard"


def load(name: str, analyzer: AnalyzerName) -> DocumentLoad:
    return DocumentLoad(
        collection="c", name=name, content=base64.b64encode(FIRST).decode(), analyzer=analyzer
    )


async def test_a_message_that_asks_for_another_is_refused_and_nothing_of_it_is_taken_in(world: World) -> None:
    handler = LoadDocument(world.ingester)
    await handler(load("a.txt", "standard"), world.tell)
    await handler(load("b.txt", "standard"), world.tell)
    with pytest.raises(AnalyzerMismatch, match=r"'c'.*standard, not jieba"):
        await handler(load("new.txt", "jieba"), world.tell)
    assert [info.name for info in await world.catalog.documents("c")] == ["a.txt", "b.txt"]
    assert await analyzer_of(world) == "standard"


async def test_an_analyzer_that_is_not_there_leaves_no_collection_behind(world: World) -> None:
    with pytest.raises(BadRequest, match="offers jieba, standard, or auto"):
        await LoadDocument(world.ingester)(load("a.txt", "english"), world.tell)
    assert await world.catalog.collection("c") is None
    await LoadDocument(world.ingester)(load("a.txt", "jieba"), world.tell)
    assert await analyzer_of(world) == "jieba"


async def test_a_first_document_without_text_makes_a_collection_for_any(world: World) -> None:
    with pytest.raises(NoText):
        await world.take(b" ")
    assert [info.state for info in await world.catalog.documents("c")] == ["failed"]
    assert await analyzer_of(world) == "jieba"
    await world.take(SECOND)
    assert world.states[-1] == "ready"


async def test_of_first_documents_that_come_at_once_one_decides(world: World) -> None:
    documents = [Document(name=f"{n}", data=(RUSSIAN, FIRST)[n % 2]) for n in range(6)]
    await asyncio.gather(*(world.ingester.ingest(document, "c") for document in documents))
    assert await analyzer_of(world) in {"standard", "jieba"}
    assert len(await world.catalog.documents("c")) == 6


async def test_of_a_collection_of_an_earlier_clew_the_store_knows(world: World, tmp_path: Path) -> None:
    model = HashingEmbedder(32)
    old = CollectionInfo(name="c", embedder=model.name, dimensions=32)
    vectors = MilvusVectors(str(tmp_path / "v.db"), analyzer="standard")
    await world.catalog.create_collection(old)
    await vectors.ensure(old)
    ingester = Ingester(catalog=world.catalog, vectors=vectors, embedder=model, clock=world.clock)
    await ingester.ingest(Document(name="a.txt", data=CHINESE), "c", analyzer="standard")
    await ingester.ingest(Document(name="b.txt", data=CHINESE), "c", analyzer="auto")
    with pytest.raises(AnalyzerMismatch, match="standard, not jieba"):
        await ingester.ingest(Document(name="c.txt", data=CHINESE), "c", analyzer="jieba")
    await vectors.close()
