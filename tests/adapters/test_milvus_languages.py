"""English and Chinese of real documents, found by their words, with each analyzer that milvus-lite and Milvus have.

The documents are those of the demo; the questions, with their answers, those of ``make eval``.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from pymilvus import CollectionSchema, MilvusClient

from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.milvus_calls import MilvusCalls
from clew_services.adapters.stores.milvus_schema import collection_name, note, schema, stored
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.core.stopwords import STOP_WORDS
from clew_services.ingest import Document, Ingester
from clew_services.ports import CollectionInfo, Hits, Search
from clew_services.retrieve import EvidenceRetriever
from clew_services.runtime.clock import SystemClock

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "docs" / "data" / "corpus"
CASES = [
    case
    for line in (ROOT / "benchmarks" / "data" / "licences.jsonl").read_text(encoding="utf-8").splitlines()
    if (case := json.loads(line)).get("answers")
]
HAN = re.compile("[\u4e00-\u9fff]")
MODEL = HashingEmbedder(32)
ENGLISH = [case for case in CASES if not HAN.search(case["question"])]
CHINESE = [case for case in CASES if HAN.search(case["question"])]


@asynccontextmanager
async def taken_in(
    vectors: MilvusVectors, collection: str, asked: str, *names: str
) -> AsyncIterator[tuple[str, SqlCatalog]]:
    """A collection with these documents of the corpus (none: all): its analyzer, and the catalog that tells."""
    catalog = SqlCatalog("sqlite://")
    ingester = Ingester(catalog=catalog, vectors=vectors, embedder=MODEL, clock=SystemClock())
    for path in sorted(CORPUS.iterdir()):
        if not names or path.name in names:
            await ingester.ingest(
                Document(name=path.name, data=path.read_bytes()), collection, analyzer=asked
            )
    info = await catalog.collection(collection)
    assert info is not None
    yield info.analyzer, catalog
    await vectors.drop(collection)
    await vectors.close()
    await catalog.close()


async def search(vectors: MilvusVectors, collection: str, question: str, limit: int = 5) -> Hits:
    return await vectors.search(collection, vector=await MODEL.query(question), text=question, limit=limit)


def plain(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()


async def found(vectors: MilvusVectors, collection: str, cases: list[dict[str, Any]]) -> float:
    """The share of ``cases`` of which a chunk among the first five has the answer, in the right document."""
    hits = 0
    for case in cases:
        best = (await search(vectors, collection, case["question"])).bm25
        assert best is not None
        hits += any(
            e.filename in case["documents"] and plain(answer) in plain(e.text)
            for e in best
            for answer in case["answers"]
        )
    return hits / len(cases)


def test_there_are_questions_in_both_languages() -> None:
    assert len(ENGLISH) > 40
    assert len(CHINESE) > 10


async def test_jieba_finds_both_languages(tmp_path: Path) -> None:
    vectors = MilvusVectors(str(tmp_path / "v.db"))
    async with taken_in(vectors, "c", "jieba"):
        assert await found(vectors, "c", ENGLISH) > 0.8
        assert await found(vectors, "c", CHINESE) > 0.8


async def test_standard_finds_english_as_well_and_chinese_hardly(tmp_path: Path) -> None:
    vectors = MilvusVectors(str(tmp_path / "v.db"))
    async with taken_in(vectors, "c", "standard"):
        assert await found(vectors, "c", ENGLISH) > 0.8
        assert await found(vectors, "c", CHINESE) < 0.5, "if it does, the choice of jieba wants another look"


@pytest.mark.parametrize("first", ["apache-2.0.txt", "mulan-psl-2.txt"])
async def test_auto_serves_the_other_language_too_whichever_comes_first(first: str, tmp_path: Path) -> None:
    vectors = MilvusVectors(str(tmp_path / "v.db"))
    async with taken_in(vectors, "c", "auto", first) as (chosen, _):
        assert chosen == "jieba"
    vectors = MilvusVectors(str(tmp_path / "w.db"))
    async with taken_in(vectors, "c", "auto", "apache-2.0.txt", "mulan-psl-2.txt"):
        for question, there in (
            ("Does the Apache License grant a patent license?", "patent license"),
            ("中英文版本不一致时以哪个为准？", "以中文版为准"),
        ):
            best = (await search(vectors, "c", question)).bm25
            assert best
            assert plain(there) in plain(best[0].text)


# --- on a server ----------------------------------------------------------------------------------


class Server:
    """Answers as a Milvus 2.5 does where collections are made, and keeps the schemas it was sent."""

    def __init__(self) -> None:
        self.sent: dict[str, CollectionSchema] = {}
        self.properties: dict[str, str] = {}

    create_schema = staticmethod(MilvusClient.create_schema)
    prepare_index_params = staticmethod(MilvusClient.prepare_index_params)

    def get_server_version(self, **_: Any) -> str:
        return "v2.5.4"

    def has_collection(self, name: str, **_: Any) -> bool:
        return name in self.sent

    def create_collection(
        self, name: str, schema: CollectionSchema, properties: dict[str, str] | None = None, **_: Any
    ) -> None:
        self.sent[name] = schema
        self.properties |= properties or {}

    def describe_collection(self, name: str, **_: Any) -> dict[str, Any]:
        described: dict[str, Any] = self.sent[name].to_dict()
        return described | {"properties": self.properties}

    def drop_collection(self, name: str, **_: Any) -> None:
        del self.sent[name]

    def list_indexes(self, *_: Any, **__: Any) -> list[str]:
        return ["dense", "sparse"]

    def load_collection(self, *_: Any, **__: Any) -> None:
        """Nothing to load."""


@pytest.mark.parametrize(
    ("asked", "kept", "sent"),
    [
        ("english", "english", {"type": "english"}),
        ("chinese", "chinese", {"type": "chinese"}),
        ("standard", "standard", "standard"),
        ("jieba", "jieba", "jieba"),
        ("", "jieba", "jieba"),
    ],
)
def test_a_server_with_bm25_is_sent_the_analyzer_that_is_asked_for(asked: str, kept: str, sent: Any) -> None:
    server = Server()
    client = cast("MilvusClient", server)
    calls = MilvusCalls.connected(client, analyzer="auto", timeout=3.0, hnsw_rows=20_000)
    assert calls.capabilities.bm25
    assert not server.sent, "the probe is dropped again"
    info = CollectionInfo(name="c", embedder="e", dimensions=2, analyzer=asked)
    made = calls.open(client, "c", info)
    assert (made.info.analyzer, made.bm25) == (kept, True)
    (text,) = (
        field for field in server.sent[collection_name("c")].to_dict()["fields"] if field["name"] == "text"
    )
    params = json.loads(text["params"]["analyzer_params"])
    if isinstance(sent, str):
        sent = {
            "tokenizer": sent,
            "filter": ["lowercase", {"type": "stop", "stop_words": sorted(STOP_WORDS)}],
        }
    assert text["params"]["enable_analyzer"]
    assert params == sent


@pytest.mark.parametrize("words", ["standard", "jieba", "english", "chinese"])
def test_the_analyzer_of_a_collection_whose_note_does_not_tell_is_read_off_its_field(words: str) -> None:
    info = CollectionInfo(name="c", embedder="e", dimensions=2)
    made = schema(cast("MilvusClient", Server()), info, words=words).to_dict()
    assert json.loads(made["description"])["analyzer"] == ""
    read = stored(made)
    assert read is not None
    assert read.info.analyzer == words
    noted = stored(made | {"description": note(replace(info, analyzer="chinese"))})
    assert noted is not None
    assert noted.info.analyzer == "chinese", "the note goes first"


@pytest.mark.servers
@pytest.mark.parametrize(
    ("asked", "first", "chosen"),
    [
        ("english", "apache-2.0.txt", "english"),
        ("chinese", "mulan-psl-2.txt", "chinese"),
        ("auto", "apache-2.0.txt", "english"),
        ("auto", "mulan-psl-2.txt", "jieba"),  # it is in both languages
    ],
)
async def test_a_server_without_bm25_keeps_the_name_and_says_that_it_asks_by_meaning_alone(
    asked: str, first: str, chosen: str
) -> None:
    vectors = MilvusVectors(os.environ["CLEW_TEST_MILVUS_URI"])
    name = f"test {uuid.uuid4()}"
    async with taken_in(vectors, name, asked, first) as (analyzer_name, catalog):
        assert analyzer_name == chosen
        assert not (await vectors.capabilities()).bm25
        retriever = EvidenceRetriever(catalog=catalog, vectors=vectors, embedder=MODEL)
        answer = await retriever.retrieve(name, Search.of("patent license 专利许可"))
        assert answer.retrieval.mode == "dense_fallback"
        assert answer.evidence
        assert all(e.bm25_rank is None for e in answer.evidence)
