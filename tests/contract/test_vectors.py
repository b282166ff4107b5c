"""The vector store port: what memory, milvus-lite and a real Milvus all promise, and what outlives a process."""

from __future__ import annotations

import asyncio
import math
import os
import random
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from clew_schema.evidence import Evidence
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.errors import (
    AnalyzerMismatch,
    BadRequest,
    EmbedderMismatch,
    RetrievalFailed,
    UnknownCollection,
)
from clew_services.ports import CollectionInfo, Leaf, VectorStore

DIMENSIONS = 8
LITE = "milvus-lite"
SERVER = pytest.param("milvus", marks=pytest.mark.servers)


def milvus_uri() -> str:
    name = "CLEW_TEST_MILVUS_URI"
    assert os.environ.get(name), f"{name} is not set; start the servers with `make servers-up`"
    return os.environ[name]


def axis(n: int) -> list[float]:
    return [1.0 if at == n % DIMENSIONS else 0.0 for at in range(DIMENSIONS)]


def leaf(
    key: str, text: str = "", *, vector: Sequence[float] = axis(0), document: str = "d", version: str = "1"
) -> Leaf:
    evidence = Evidence(
        chunk_id=key,
        document_id=document,
        version=version,
        filename='a "name" \\ 文件.pdf',
        file_type="pdf",
        page=3,
        page_end=4,
        start=17,
        end=17 + len(text),
        ordinal=5,
        level=3,
        parent_id='p "1" \\',
        content_hash="abc",
        text=text,
    )
    return Leaf(evidence=evidence, vector=vector)


def info(
    name: str, *, embedder: str = "e", dimensions: int = DIMENSIONS, analyzer: str = ""
) -> CollectionInfo:
    return CollectionInfo(name=name, embedder=embedder, dimensions=dimensions, analyzer=analyzer)


@pytest.fixture(params=["memory", LITE, SERVER])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def store(kind: str, tmp_path: Path) -> AsyncIterator[VectorStore]:
    made: VectorStore
    if kind == "memory":
        made = MemoryVectors()
    else:
        made = MilvusVectors(str(tmp_path / "v.db") if kind == LITE else milvus_uri())
    yield made
    await made.close()


@pytest.fixture
async def name(store: VectorStore) -> AsyncIterator[str]:
    """A collection of this test's own, gone afterwards."""
    made = f"test {uuid.uuid4()}"
    await store.ensure(info(made))
    yield made
    await store.drop(made)


async def written(store: VectorStore, name: str, *leaves: Leaf) -> None:
    await store.upsert(name, leaves)
    await store.flush(name)


def ids(found: Sequence[Evidence] | None) -> list[str]:
    assert found is not None
    return [e.chunk_id for e in found]


# --- dense ----------------------------------------------------------------------------------------


async def test_capabilities_are_what_the_store_is_known_for(store: VectorStore, kind: str) -> None:
    capable = await store.capabilities()
    assert capable.dense
    # The real server in these tests is a Milvus 2.3, which takes a BM25 function and fills nothing.
    assert capable.bm25 is (kind != "milvus")
    assert capable.server


async def test_a_leaf_comes_back_whole(store: VectorStore, name: str) -> None:
    one = leaf("c1", "The thread leads out of the labyrinth.\n线团\x01")
    await written(store, name, one)
    found = await store.search(name, vector=axis(0), text="?", limit=1)
    assert found.dense == [
        one.evidence.model_copy(update={"dense_rank": 1, "dense_score": pytest.approx(1.0)})
    ]


async def test_dense_hits_are_ranked_by_cosine(store: VectorStore, name: str) -> None:
    angles = {"a": 0, "b": 60, "c": 90, "d": 135, "e": 180}
    vectors = {
        key: [5 * math.cos(math.radians(a)), 5 * math.sin(math.radians(a)), *[0.0] * 6]
        for key, a in angles.items()
    }
    await written(store, name, *(leaf(key, key, vector=vector) for key, vector in vectors.items()))
    found = await store.search(name, vector=axis(0), text="", limit=10)
    assert ids(found.dense) == ["a", "b", "c", "d", "e"]
    assert [e.dense_rank for e in found.dense] == [1, 2, 3, 4, 5]
    scores = [e.dense_score for e in found.dense]
    assert scores == pytest.approx([1.0, 0.5, 0.0, -math.sqrt(0.5), -1.0], abs=1e-5)
    assert all(score is not None and -1.0 <= score <= 1.0 for score in scores)
    assert all(e.bm25_rank is None and e.bm25_score is None for e in found.dense)


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (1, 1), (7, 7), (20, 20), (20_000, 20)])
async def test_the_limit_is_kept(store: VectorStore, name: str, limit: int, expected: int) -> None:
    draw = random.Random(1)
    await written(
        store, name, *(leaf(f"c{n}", "word", vector=[draw.random() for _ in axis(0)]) for n in range(20))
    )
    found = await store.search(name, vector=axis(0), text="word", limit=limit)
    assert len(found.dense) == expected
    assert found.bm25 is None or len(found.bm25) == expected


async def test_an_empty_collection_has_no_hits(store: VectorStore, name: str) -> None:
    found = await store.search(name, vector=axis(0), text="word", limit=5)
    assert list(found.dense) == []
    assert found.bm25 is None or list(found.bm25) == []
    assert await store.count(name) == 0


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["memory", LITE], indirect=True)
async def test_bm25_finds_by_words_and_scores_are_positive(store: VectorStore, name: str) -> None:
    await written(
        store,
        name,
        leaf("ox", "A minotaur lives in the labyrinth of Knossos"),
        leaf("two", "minotaur, minotaur: nothing but minotaur"),
        leaf("sea", "The sea around Crete is blue", vector=axis(1)),
        leaf("sky", "The sky above Crete is blue", vector=axis(1)),
    )
    found = await store.search(name, vector=axis(0), text="Where does the Minotaur live?", limit=5)
    assert found.bm25 is not None
    assert ids(found.bm25) == ["two", "ox"]
    assert [e.bm25_rank for e in found.bm25] == [1, 2]
    scores = [e.bm25_score or 0.0 for e in found.bm25]
    assert scores[0] > scores[1] > 0
    assert all(e.dense_rank is None and e.dense_score is None for e in found.bm25)


@pytest.mark.parametrize("kind", ["memory", LITE], indirect=True)
@pytest.mark.parametrize(
    ("question", "expected"),
    [("量子计算机的原理", "quantum"), ("如何酿造葡萄酒？", "wine"), ("长城有多长", "wall")],
)
async def test_bm25_finds_chinese(store: VectorStore, name: str, question: str, expected: str) -> None:
    await written(
        store,
        name,
        leaf("quantum", "量子计算机利用量子叠加和纠缠进行计算。"),
        leaf("wine", "葡萄酒是由葡萄发酵酿造而成的饮料。"),
        leaf("wall", "万里长城是中国古代的防御工程，全长两万多公里。"),
        leaf("english", "Nothing here but English words"),
    )
    found = await store.search(name, vector=axis(0), text=question, limit=5)
    assert ids(found.bm25)[0] == expected
    assert "english" not in ids(found.bm25)


@pytest.mark.parametrize(
    "text", ["", "   ", "?!", "…", '"', "\\", "\x00", "word" * 3000, "{x} AND (\"' or 1=1 --"]
)
async def test_no_text_of_a_question_breaks_a_search(store: VectorStore, name: str, text: str) -> None:
    await written(store, name, leaf("c1", "some text"))
    found = await store.search(name, vector=axis(0), text=text, limit=5)
    assert ids(found.dense) == ["c1"]
    assert not found.bm25


# --- writing --------------------------------------------------------------------------------------


async def test_a_second_write_of_an_id_replaces_the_first(store: VectorStore, name: str) -> None:
    await written(store, name, leaf("c1", "first", vector=axis(0)))
    await written(store, name, leaf("c1", "second", vector=axis(1)))
    assert await store.count(name) == 1
    found = await store.search(name, vector=axis(1), text="first second", limit=5)
    assert [e.text for e in found.dense] == ["second"]
    assert found.bm25 is None or [e.text for e in found.bm25] == ["second"]
    assert found.dense[0].dense_score == pytest.approx(1.0)


async def test_an_id_twice_in_one_write_is_kept_once_and_the_last_counts(
    store: VectorStore, name: str
) -> None:
    await written(store, name, leaf("c1", "first"), leaf("c2", "other"), leaf("c1", "last"))
    assert await store.count(name) == 2
    found = await store.search(name, vector=axis(0), text="", limit=5)
    assert sorted(e.text for e in found.dense) == ["last", "other"]


async def test_writing_nothing_is_fine(store: VectorStore, name: str) -> None:
    await store.upsert(name, [])
    assert await store.count(name) == 0


async def test_counting_and_deleting_by_document_and_version(store: VectorStore, name: str) -> None:
    leaves = [
        leaf(f"{document}{version}{n}", f"text {n}", document=document, version=version)
        for document in ("a", 'b" or document_id != "')
        for version in ("1", "2")
        for n in range(3)
    ]
    await written(store, name, *leaves)
    evil = 'b" or document_id != "'
    assert [await store.count(name), await store.count(name, "a"), await store.count(name, "a", "2")] == [
        12,
        6,
        3,
    ]
    assert await store.count(name, version="2") == 6
    assert await store.count(name, evil) == 6
    await store.delete(name, evil, version="1")
    assert [await store.count(name, evil), await store.count(name, "a")] == [3, 6]
    await store.delete(name, "a")
    await store.delete(name, "nobody")
    await store.delete(name, "")
    assert await store.count(name) == 3
    await store.flush(name)
    found = await store.search(name, vector=axis(0), text="text", limit=20)
    assert sorted(ids(found.dense)) == [f"{evil}2{n}" for n in range(3)]
    assert found.bm25 is None or sorted(ids(found.bm25)) == sorted(ids(found.dense))


async def test_what_was_flushed_is_found_by_many_searches_at_once(store: VectorStore, name: str) -> None:
    await written(store, name, *(leaf(f"c{n}", f"word{n}", vector=axis(n)) for n in range(DIMENSIONS)))
    searches = (store.search(name, vector=axis(n), text=f"word{n}", limit=1) for n in range(DIMENSIONS))
    for n, found in enumerate(await asyncio.gather(*searches)):
        assert ids(found.dense) == [f"c{n}"]
        assert found.bm25 is None or ids(found.bm25) == [f"c{n}"]


async def test_a_vector_of_another_length_is_refused(store: VectorStore, name: str) -> None:
    with pytest.raises(EmbedderMismatch, match=r"8 dimensions.*has 3"):
        await store.upsert(name, [leaf("ok"), leaf("c1", vector=[1.0, 2.0, 3.0])])
    with pytest.raises(EmbedderMismatch, match=r"8 dimensions.*has 3"):
        await store.search(name, vector=[1.0, 2.0, 3.0], text="", limit=1)
    assert await store.count(name) == 0


# --- collections ----------------------------------------------------------------------------------


async def test_another_collection_is_never_seen(store: VectorStore, name: str) -> None:
    other = f"{name}."
    await store.ensure(info(other))
    await written(store, name, leaf("mine", "secret word"))
    await written(store, other, leaf("theirs", "secret word"), leaf("theirs2", "secret word"))
    found = await store.search(name, vector=axis(0), text="secret", limit=10)
    assert ids(found.dense) == ["mine"]
    assert found.bm25 is None or ids(found.bm25) == ["mine"]
    await store.delete(name, "d")
    assert [await store.count(name), await store.count(other)] == [0, 2]
    await store.drop(other)


@pytest.mark.parametrize(
    "odd",
    ["", " ", '"', "a' or '1'='1", "集合", "ÄÖ ß/\\", "x" * 3000, "clew", "a\nb", "A", "1st", "_default"],
)
@pytest.mark.parametrize(
    "kind", ["memory", LITE], indirect=True
)  # 4 s each on the real server; names are one function
async def test_a_collection_may_have_any_name(store: VectorStore, odd: str) -> None:
    await store.ensure(info(odd))
    await store.ensure(info(f"{odd}x"))
    await written(store, odd, leaf("c1", "text"))
    assert [await store.count(odd), await store.count(f"{odd}x")] == [1, 0]


async def test_ensuring_twice_keeps_what_is_there(store: VectorStore, name: str) -> None:
    await written(store, name, leaf("c1", "text"))
    await asyncio.gather(store.ensure(info(name)), store.ensure(info(name)))
    assert await store.count(name) == 1


@pytest.mark.parametrize("other", [info("x", embedder="f"), info("x", dimensions=4)])
async def test_another_embedder_is_refused(store: VectorStore, name: str, other: CollectionInfo) -> None:
    with pytest.raises(EmbedderMismatch, match=name):
        await store.ensure(CollectionInfo(name=name, embedder=other.embedder, dimensions=other.dimensions))


async def test_a_collection_keeps_the_analyzer_that_it_was_made_with(store: VectorStore) -> None:
    offered = (await store.capabilities()).analyzers
    assert {"standard", "jieba"} <= set(offered)
    for analyzer in offered:
        name = f"test {uuid.uuid4()}"
        await store.ensure(info(name, analyzer=analyzer))
        await store.ensure(info(name, analyzer=analyzer))
        await store.ensure(info(name))
        await store.ensure(info(name, analyzer="auto"))
        for other in {"standard", "jieba", "english", "chinese"} - {analyzer}:
            with pytest.raises(AnalyzerMismatch, match=rf"{name}.* {analyzer}, not {other}"):
                await store.ensure(info(name, analyzer=other))
        await store.drop(name)


async def test_a_collection_that_asks_for_no_analyzer_has_one(store: VectorStore, name: str) -> None:
    refused = 0
    for analyzer in ("standard", "jieba"):
        try:
            await store.ensure(info(name, analyzer=analyzer))
        except AnalyzerMismatch:
            refused += 1
    assert refused == 1


async def test_an_analyzer_that_the_store_does_not_have_makes_no_collection(store: VectorStore) -> None:
    with pytest.raises(BadRequest, match=r"'nonsense'.*it offers .*jieba, standard"):
        await store.ensure(info("refused", analyzer="nonsense"))
    with pytest.raises(UnknownCollection):
        await store.count("refused")


@pytest.mark.parametrize("kind", ["memory", LITE], indirect=True)
@pytest.mark.parametrize("analyzer", ["english", "chinese"])
async def test_what_only_a_server_splits_with_is_refused_in_one_process(
    store: VectorStore, analyzer: str
) -> None:
    with pytest.raises(BadRequest, match=rf"'{analyzer}'.*it offers jieba, standard, or auto"):
        await store.ensure(info("refused", analyzer=analyzer))


async def test_a_collection_that_nobody_made_is_unknown(store: VectorStore) -> None:
    with pytest.raises(UnknownCollection, match="nobody's"):
        await store.search("nobody's", vector=axis(0), text="", limit=1)
    with pytest.raises(UnknownCollection):
        await store.upsert("nobody's", [leaf("c")])
    with pytest.raises(UnknownCollection):
        await store.count("nobody's")
    await store.drop("nobody's")


async def test_a_dropped_collection_is_unknown_and_can_be_made_anew(store: VectorStore) -> None:
    name = f"test {uuid.uuid4()}"
    await store.ensure(info(name))
    await written(store, name, leaf("c1"))
    await store.drop(name)
    with pytest.raises(UnknownCollection):
        await store.count(name)
    await store.ensure(info(name, embedder="f"))
    assert await store.count(name) == 0
    await store.drop(name)


async def test_a_closed_store_says_so_and_closes_twice(kind: str, tmp_path: Path) -> None:
    store = (
        MemoryVectors()
        if kind == "memory"
        else MilvusVectors(str(tmp_path / "v.db") if kind == LITE else milvus_uri())
    )
    await store.capabilities()
    await asyncio.gather(store.close(), store.close())
    with pytest.raises(RetrievalFailed, match="closed"):
        await store.count("x")
    await store.close()


# --- what outlives a process ----------------------------------------------------------------------


@pytest.mark.parametrize("where", [LITE, SERVER])
async def test_a_restart_keeps_everything(where: str, tmp_path: Path) -> None:
    uri = str(tmp_path / "v.db") if where == LITE else milvus_uri()
    name = f"test {uuid.uuid4()}"
    first = MilvusVectors(uri)
    await first.ensure(info(name, analyzer="standard"))
    await first.upsert(name, [leaf(f"c{n}", f"word{n}", vector=axis(n)) for n in range(DIMENSIONS)])
    await first.delete(name, "nobody")
    await first.close()
    second = MilvusVectors(uri)
    assert await second.count(name) == DIMENSIONS
    with pytest.raises(AnalyzerMismatch):
        await second.ensure(info(name, analyzer="jieba"))
    found = await second.search(name, vector=axis(3), text="word3", limit=1)
    assert ids(found.dense) == ["c3"]
    assert found.bm25 is None or ids(found.bm25) == ["c3"]
    await second.drop(name)
    await second.close()


WRITER = """
import asyncio, sys
from clew_schema.evidence import Evidence
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.ports import CollectionInfo, Leaf

async def main(uri):
    store = MilvusVectors(uri)
    await store.ensure(CollectionInfo(name="k", embedder="e", dimensions=2))
    for n in range(100_000):
        evidence = [Evidence(chunk_id=f"{n}-{m}", document_id=str(n), text=f"word{n}") for m in range(10)]
        await store.upsert("k", [Leaf(evidence=e, vector=[1.0, float(n)]) for e in evidence])
        if n % 7 == 6:
            await store.flush("k")
        print(n, flush=True)

asyncio.run(main(sys.argv[1]))
"""


def start_writer(uri: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", WRITER, uri], stdout=-1, text=True, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 40])
async def test_kill_9_loses_no_acknowledged_leaf(tmp_path: Path, after: int) -> None:
    uri = str(tmp_path / "v.db")
    with start_writer(uri) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(after)]
        writer.send_signal(signal.SIGKILL)
    store = MilvusVectors(uri)
    assert [await store.count("k", str(n)) for n in said] == [10] * after
    found = await store.search("k", vector=[1.0, 0.0], text="word0", limit=20)
    assert sorted(ids(found.bm25)) == [f"0-{n}" for n in range(10)]
    await store.upsert("k", [Leaf(evidence=Evidence(chunk_id="0-0", document_id="0"), vector=[1.0, 0.0])])
    assert await store.count("k", "0") == 10
    await store.close()


@pytest.mark.slow
async def test_a_second_process_is_told_why_it_is_refused_and_what_to_do(tmp_path: Path) -> None:
    uri = str(tmp_path / "v.db")
    with start_writer(uri) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        store = MilvusVectors(uri)
        with pytest.raises(RetrievalFailed, match=r"open in another process.*milvus-lite server"):
            await store.capabilities()
        writer.kill()
        writer.wait()
        assert await store.count("k", "0") == 10, "the same store works once the other process is gone"
        await store.close()


async def test_close_lets_another_process_in(tmp_path: Path) -> None:
    uri = str(tmp_path / "v.db")
    store = MilvusVectors(uri)
    await store.ensure(info("x"))
    await store.close()
    with start_writer(uri) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "0\n"
        writer.kill()
