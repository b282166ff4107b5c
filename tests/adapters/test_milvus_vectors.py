"""What is particular to Milvus: names, indexes, repairs of connections, milvus-lite as a server of its own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymilvus import MilvusClient

from clew_schema.evidence import Evidence
from clew_services.adapters.stores.milvus_calls import MilvusCalls
from clew_services.adapters.stores.milvus_schema import (
    DENSE_INDEXES,
    PROPERTY,
    analyzer,
    collection_name,
    index_params,
    note,
    schema,
)
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.core.stopwords import STOP_WORDS
from clew_services.errors import EmbedderMismatch, RetrievalFailed, StoreIncompatible, UnknownCollection
from clew_services.ports import Capabilities, CollectionInfo, Leaf

INFO = CollectionInfo(name="my docs", embedder="e", dimensions=2)
PHYSICAL = collection_name("my docs")


def leaves(count: int, word: str = "labyrinth") -> list[Leaf]:
    return [
        Leaf(
            evidence=Evidence(chunk_id=f"c{n}", document_id="d", text=f"{word} w{n}"), vector=[1.0, n / count]
        )
        for n in range(count)
    ]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[MilvusVectors]:
    made = MilvusVectors(str(tmp_path / "v.db"))
    await made.ensure(INFO)
    yield made
    await made.close()


# --- names ----------------------------------------------------------------------------------------


@given(st.text(max_size=300), st.text(max_size=300))
def test_names_are_valid_and_do_not_collide(left: str, right: str) -> None:
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,254}", collection_name(left))
    assert (collection_name(left) == collection_name(right)) is (left == right)


def test_names_that_look_alike_are_told_apart() -> None:
    alike = [
        "a b",
        "a_b",
        "a-b",
        "A b",
        " a b",
        "a b ",
        "a  b",
        "\uff41 b",
        "é",
        "e\u0301",
        "",
        " ",
        "x" * 500,
        "x" * 501,
    ]
    assert len({collection_name(name) for name in alike}) == len(alike)
    assert collection_name("Annual reports (2026)").startswith("clew_annual_reports_2026_")


# --- analyzers and indexes ------------------------------------------------------------------------


def test_the_analyzer_leaves_out_what_every_text_has() -> None:
    words = analyzer("standard")["filter"][1]["stop_words"]
    assert {"the", "of", "的", "，"} <= set(words)
    assert analyzer("english") == {"type": "english"}


def test_stop_words_are_lower_case_words() -> None:
    assert all(word == word.lower() and not re.search(r"\s", word) for word in STOP_WORDS)


async def test_an_index_that_is_off_the_list_is_never_made(store: MilvusVectors) -> None:
    assert set(DENSE_INDEXES) == {"HNSW", "IVF_FLAT"}
    with pytest.raises(KeyError):
        index_params(_client(store), ["dense"], "NONSENSE")


def _client(store: MilvusVectors) -> MilvusClient:
    client = store._connection._client
    assert client is not None
    return client


async def test_a_large_collection_on_milvus_lite_changes_to_ivf_and_stays_loadable(tmp_path: Path) -> None:
    store = MilvusVectors(str(tmp_path / "v.db"), hnsw_rows=50)
    await store.ensure(INFO)
    await store.upsert("my docs", leaves(50))
    await store.flush("my docs")
    assert _client(store).describe_index(PHYSICAL, "dense")["index_type"] == "HNSW"
    await store.upsert("my docs", leaves(60))
    await store.flush("my docs")
    await store.close()
    again = MilvusVectors(str(tmp_path / "v.db"))
    found = await again.search("my docs", vector=[1.0, 0.0], text="w7", limit=3)
    assert _client(again).describe_index(PHYSICAL, "dense")["index_type"] == "IVF_FLAT"
    assert sorted(_client(again).list_indexes(PHYSICAL)) == ["dense", "sparse"]
    assert [e.chunk_id for e in found.dense] == ["c0", "c1", "c2"]
    assert found.bm25 is not None
    assert [e.chunk_id for e in found.bm25] == ["c7"]
    await again.close()


# --- repairs --------------------------------------------------------------------------------------


async def test_a_released_collection_is_loaded_again_by_whoever_asks(store: MilvusVectors) -> None:
    await store.upsert("my docs", leaves(5))
    await store.flush("my docs")
    for _ in range(2):
        _client(store).release_collection(PHYSICAL)
        found = await store.search("my docs", vector=[1.0, 0.0], text="labyrinth", limit=5)
        assert len(found.dense) == 5
        _client(store).release_collection(PHYSICAL)
        assert await store.count("my docs") == 5


async def test_a_closed_client_is_made_anew(store: MilvusVectors) -> None:
    await store.upsert("my docs", leaves(5))
    before = _client(store)
    before.close()
    assert await store.count("my docs") == 5
    assert _client(store) is not before


async def test_an_index_that_a_crash_left_out_is_made_when_the_collection_is_opened(tmp_path: Path) -> None:
    first = MilvusVectors(str(tmp_path / "v.db"))
    await first.ensure(INFO)
    await first.upsert("my docs", leaves(5))
    _client(first).release_collection(PHYSICAL)
    for name in _client(first).list_indexes(PHYSICAL):
        if name in _client(first).list_indexes(PHYSICAL):
            _client(first).drop_index(PHYSICAL, name)
    assert _client(first).list_indexes(PHYSICAL) == []
    await first.close()
    second = MilvusVectors(str(tmp_path / "v.db"))
    found = await second.search("my docs", vector=[1.0, 0.0], text="labyrinth", limit=5)
    assert len(found.dense) == 5
    assert sorted(_client(second).list_indexes(PHYSICAL)) == ["dense", "sparse"]
    await second.close()


async def test_a_collection_that_somebody_else_dropped_is_unknown_and_can_be_made_again(
    store: MilvusVectors,
) -> None:
    _client(store).drop_collection(PHYSICAL)
    with pytest.raises(UnknownCollection, match="my docs"):
        await store.search("my docs", vector=[1.0, 0.0], text="labyrinth", limit=5)
    await store.ensure(INFO)
    assert await store.count("my docs") == 0


async def test_a_collection_of_somebody_else_s_under_our_name_is_refused(tmp_path: Path) -> None:
    store = MilvusVectors(str(tmp_path / "v.db"))
    await store.capabilities()
    _client(store).create_collection(PHYSICAL, dimension=2)
    with pytest.raises(RetrievalFailed, match="not one that Clew made"):
        await store.ensure(INFO)
    await store.close()


async def test_a_collection_of_an_earlier_clew_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    store = MilvusVectors(str(tmp_path / "v.db"))
    await store.capabilities()
    made = _client(store).create_schema(auto_id=False)
    for field in schema(_client(store), INFO, words=None).fields:
        if field.name != "parent_id":
            made.add_field(field.name, field.dtype, is_primary=field.is_primary, **field.params)
    _client(store).create_collection(PHYSICAL, schema=made, properties={PROPERTY: note(INFO)})
    with pytest.raises(StoreIncompatible, match=rf"'my docs'.*no field parent_id.*{PHYSICAL}.*ingest"):
        await store.search("my docs", vector=[1.0, 0.0], text="labyrinth", limit=5)
    await store.close()


class Recorder:
    """A client that finds nothing and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def search(self, *where: object, **how: Any) -> list[list[object]]:
        self.asked.append(how)
        return [[]]


@pytest.mark.parametrize(("limit", "ef"), [(1, 64), (64, 64), (65, 65), (400, 400)])
def test_questions_are_read_bounded_and_hnsw_looks_at_no_fewer_than_are_wanted(limit: int, ef: int) -> None:
    calls = MilvusCalls(Capabilities(server="2.6"), False, "english", 3.0, 20_000)
    client = Recorder()
    calls.dense(cast("MilvusClient", client), "my docs", [1.0, 0.0], limit)
    calls.bm25(cast("MilvusClient", client), "my docs", "words", limit)
    near, alike = client.asked
    assert near["search_params"]["params"]["ef"] == ef
    for how in (near, alike):
        assert (how["limit"], how["consistency_level"], how["timeout"]) == (limit, "Bounded", 3.0)
        assert "parent_id" in how["output_fields"]


async def test_the_server_s_word_on_dimensions_is_a_mismatch(store: MilvusVectors) -> None:
    wrong: list[dict[str, object]] = [{"chunk_id": "x", "dense": [1.0, 2.0, 3.0], "text": "t"}]
    with pytest.raises(EmbedderMismatch, match="dim"):
        await store._connection.call(lambda client: client.upsert(PHYSICAL, [row(wrong[0])]))


def row(fields: dict[str, object]) -> dict[str, object]:
    names = ("document_id", "version", "filename", "file_type", "parent_id", "content_hash")
    texts = dict.fromkeys(names, "")
    numbers = dict.fromkeys(("page", "page_end", "start", "end_", "ordinal", "level"), 0)
    return {**texts, **numbers, **fields}


# --- connections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("uri", ["", "milvus", "folder/x.sqlite", "ftp://host", "127.0.0.1:19530"])
def test_a_uri_that_is_none_is_refused_at_once(uri: str) -> None:
    with pytest.raises(ValueError, match=r"neither the URL of a Milvus server nor"):
        MilvusVectors(uri)


async def test_a_server_that_does_not_answer_is_a_retrieval_that_failed() -> None:
    store = MilvusVectors("http://127.0.0.1:1", timeout=1)
    with pytest.raises(RetrievalFailed, match=r"no answer from Milvus at http://127\.0\.0\.1:1"):
        await store.search("x", vector=[1.0], text="", limit=1)
    await store.close()


async def test_a_path_that_cannot_be_opened_says_which(tmp_path: Path) -> None:
    (tmp_path / "v.db").write_text("a file where a folder is expected")
    store = MilvusVectors(str(tmp_path / "v.db"))
    with pytest.raises(RetrievalFailed, match=r"cannot open .*v\.db"):
        await store.capabilities()
    await store.close()
