"""A large document: batches are held, not the document's chunks; and what was embedded is not embedded again."""

import weakref
from collections.abc import AsyncIterator, Sequence

import pytest

from clew_schema.evidence import Evidence
from clew_services.adapters.formats.extract import Limits
from clew_services.adapters.models.embedder_cached import CachedEmbedder
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.ingest import BATCH, PARENTS_BATCH, Document, Ingester
from clew_services.ports import CollectionInfo, Leaf, Parent
from clew_services.runtime.clock import ManualClock
from tests.ingest.world import Killed, Shelf

TEXT = "".join(
    f"Sentence {n} of a long report says that penguin {n} of colony {n % 97} was counted twice this year. "
    for n in range(82_000)
).encode()


class Vector(list[float]):
    """A list that can be watched."""

    __slots__ = ("__weakref__",)


class Watched:
    """An embedder that knows how many of its vectors are alive, and the most there ever were."""

    name = "watched"
    dimensions = 4

    def __init__(self) -> None:
        self.embedded = 0
        self.most = 0
        self._alive: list[weakref.ref[Vector]] = []

    async def query(self, text: str) -> Sequence[float]:
        return Vector([1.0, 0.0, 0.0, float(len(text))])

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.embedded += len(texts)
        made = [Vector([1.0, 0.0, 0.0, float(len(text))]) for text in texts]
        self._alive = [ref for ref in self._alive if ref() is not None] + [weakref.ref(v) for v in made]
        self.most = max(self.most, len(self._alive))
        return made


class Ids(MemoryVectors):
    """A store elsewhere: it keeps ids here, and counts the evidence that is alive at once."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.most = 0
        self.dies_after = 1 << 30
        self._alive: list[weakref.ref[Evidence]] = []

    async def upsert(self, collection: str, leaves: Sequence[Leaf]) -> None:
        if len(self.ids) >= self.dies_after:
            raise Killed
        self.ids |= {leaf.evidence.chunk_id for leaf in leaves}
        self._alive = [ref for ref in self._alive if ref() is not None]
        self._alive += [weakref.ref(leaf.evidence) for leaf in leaves]
        self.most = max(self.most, len(self._alive))

    async def count(self, collection: str, document_id: str = "", version: str = "") -> int:
        return len(self.ids)


class Batches(Shelf):
    """Counts the most parents that came at once."""

    most = 0

    async def put_parents(self, collection: str, parents: Sequence[Parent]) -> None:
        self.most = max(self.most, len(parents))
        await super().put_parents(collection, parents)


@pytest.fixture
async def catalog() -> AsyncIterator[Batches]:
    made = Batches()
    await made.open()
    await made.create_collection(CollectionInfo(name="c", embedder="watched", dimensions=4))
    yield made
    await made.close()


async def test_ten_thousand_chunks_are_taken_in_batch_by_batch_across_a_kill(catalog: Batches) -> None:
    model, store = Watched(), Ids()
    ingester = Ingester(
        catalog=catalog,
        vectors=store,
        embedder=CachedEmbedder(model, catalog),
        clock=ManualClock(),
        limits=Limits(characters=len(TEXT)),
    )
    document = Document(name="long.txt", data=TEXT)
    store.dies_after = 4_000
    with pytest.raises(Killed):
        await ingester.ingest(document, "c")
    assert model.embedded == 4_000 + BATCH  # this batch was embedded, and remembered, and not written

    store.dies_after = 1 << 30
    info = await ingester.ingest(document, "c")

    assert info.chunks == len(store.ids) >= 10_000
    assert model.embedded == info.chunks
    # Of the batch before, some are still on their way out.
    assert 0 < model.most <= 2 * BATCH
    assert 0 < store.most <= 2 * BATCH
    assert catalog.most == PARENTS_BATCH
    assert await catalog.count_parents("c") >= info.chunks / 2
