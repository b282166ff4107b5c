"""Taking documents in: what is ready afterwards, whatever went wrong on the way."""

import base64
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew_schema import topics
from clew_schema.base import Message
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.errors import Error
from clew_schema.topics import Topic
from clew_services.adapters.catalog_sql import SqlCatalog
from clew_services.adapters.embedder_cached import CachedEmbedder
from clew_services.adapters.embedder_hashing import HashingEmbedder
from clew_services.adapters.vectors_memory import MemoryVectors
from clew_services.core.chunking import Chunking, document_id
from clew_services.errors import DocumentUnreadable, EmbedderMismatch, RetrievalFailed, Unreadable
from clew_services.handlers.ingest import LoadDocument, load_failed
from clew_services.ingest import BATCH, Document, Ingester
from clew_services.ports import Hits, Leaf
from clew_services.runtime.clock import ManualClock
from clew_services.runtime.outcome import Send

FIRST = "".join(f"Sentence {n} is about penguins. " for n in range(60)).encode()
SECOND = "".join(f"Sentence {n} is about patents. " for n in range(40)).encode()


class Counting(HashingEmbedder):
    """Counts what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__(32)
        self.embedded = 0

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.embedded += len(texts)
        return await super().passages(texts)


class Killed(BaseException):
    """The process ends here: nothing may catch it."""


class Store(MemoryVectors):
    """Dies at the ``dies_at``-th write, or silently loses a leaf of every write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0
        self.dies_at = 0
        self.dies_at_delete = False
        self.loses = False

    async def upsert(self, collection: str, leaves: Sequence[Leaf]) -> None:
        self.writes += 1
        if self.writes == self.dies_at:
            raise Killed
        await super().upsert(collection, leaves[1:] if self.loses else leaves)

    async def delete(self, collection: str, document_id: str, *, version: str = "") -> None:
        if self.dies_at_delete:
            raise Killed
        await super().delete(collection, document_id, version=version)


@dataclass
class World:
    catalog: SqlCatalog
    store: Store = field(default_factory=Store)
    model: Counting = field(default_factory=Counting)
    clock: ManualClock = field(default_factory=ManualClock)
    heard: list[DocumentStatus] = field(default_factory=list)

    @property
    def ingester(self) -> Ingester:
        return Ingester(
            catalog=self.catalog,
            vectors=self.store,
            embedder=CachedEmbedder(self.model, self.catalog),
            clock=self.clock,
            chunking=Chunking(size=50, overlap=0),
        )

    async def take(self, data: bytes, name: str = "a.txt", collection: str = "c") -> str:
        self.heard.clear()
        info = await self.ingester.ingest(Document(name=name, data=data), collection, self.hear)
        return info.version

    async def hear(self, status: DocumentStatus) -> None:
        self.heard.append(status)

    async def tell(self, topic: Topic[Any], body: Message) -> None:
        assert topic is topics.DOCUMENT_STATUS
        assert isinstance(body, DocumentStatus)
        self.heard.append(body)

    @property
    def states(self) -> list[str]:
        return [status.state for status in self.heard]

    async def ready_version(self, name: str = "a.txt") -> str:
        info = await self.catalog.document("c", document_id("c", name))
        assert info is not None
        return info.version

    async def versions_found(self) -> set[str]:
        vector = await self.model.query("sentence penguins patents")
        hits: Hits = await self.store.search("c", vector=vector, text="sentence", limit=1000)
        return {evidence.version for evidence in hits.dense}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    catalog = SqlCatalog("sqlite://")
    await catalog.open()
    yield World(catalog)
    await catalog.close()


async def test_a_new_document_becomes_ready_step_by_step(world: World) -> None:
    version = await world.take(FIRST)

    info = await world.catalog.document("c", document_id("c", "a.txt"))
    assert info is not None
    assert (info.version, info.state, info.media_type, info.characters) == (
        version,
        "ready",
        "text/plain",
        len(FIRST),
    )
    assert info.ingested_at == world.clock.now()
    assert await world.store.count("c", info.document_id, version) == info.chunks
    assert info.chunks == 60  # one sentence each: two do not fit into 50 characters
    assert world.states == ["received", "parsed", *["embedding"] * 4, "ready"]
    assert [status.chunks_done for status in world.heard] == [0, 0, BATCH, 2 * BATCH, 3 * BATCH, 60, 60]
    assert {status.document_id for status in world.heard} == {info.document_id}


async def test_evidence_points_into_the_text(world: World) -> None:
    await world.take(FIRST)
    hits = await world.store.search("c", vector=await world.model.query("x"), text="sentence 7", limit=100)
    for found in hits.dense:
        assert found.text == FIRST.decode()[found.start : found.end]
        assert (found.filename, found.file_type, found.level) == ("a.txt", "text/plain", 3)


async def test_the_same_content_changes_nothing(world: World) -> None:
    version = await world.take(FIRST)
    writes, embedded, ready_at = world.store.writes, world.model.embedded, world.clock.now()
    await world.clock.advance(60)

    assert await world.take(FIRST) == version

    assert (world.store.writes, world.model.embedded) == (writes, embedded)
    assert world.states == ["received", "unchanged"]
    info = await world.catalog.document("c", document_id("c", "a.txt"))
    assert info is not None
    assert info.ingested_at == ready_at


async def test_new_content_replaces_the_old_version_and_nothing_of_it_is_found(world: World) -> None:
    old = await world.take(FIRST)
    await world.take(FIRST, name="other.txt")
    new = await world.take(SECOND)

    assert new != old
    assert await world.ready_version() == new
    assert await world.store.count("c", document_id("c", "a.txt"), old) == 0
    assert await world.store.count("c", document_id("c", "other.txt")) > 0
    assert await world.catalog.retired("c") == []


async def test_a_file_that_cannot_be_read_leaves_the_old_version_serving(world: World) -> None:
    version = await world.take(FIRST)
    with pytest.raises(DocumentUnreadable, match=r"a\.txt"):
        await world.take(b"\x00\x01")

    assert await world.ready_version() == version
    assert await world.versions_found() == {version}
    assert world.states == ["received", "failed"]
    assert world.heard[-1].error is not None
    assert world.heard[-1].error.type == "document-unreadable"
    listed = {info.state: info.error for info in await world.catalog.documents("c")}
    assert listed.keys() == {"ready", "failed"}
    assert "binary" in listed["failed"]

    await world.take(SECOND)  # a good file makes up for the bad one
    assert [info.state for info in await world.catalog.documents("c")] == ["ready"]


@pytest.mark.parametrize("dies_at", [1, 2])
async def test_killed_while_building_the_old_version_serves_and_a_repeat_completes(
    world: World, dies_at: int
) -> None:
    old = await world.take(FIRST)
    world.store.dies_at = world.store.writes + dies_at
    with pytest.raises(Killed):
        await world.take(SECOND)
    assert await world.ready_version() == old

    new = await world.take(SECOND)

    assert await world.ready_version() == new
    assert await world.versions_found() == {new}
    assert world.model.embedded == 60 + 40  # what had been embedded before the kill was not embedded again


async def test_killed_between_switch_and_retirement_a_repeat_cleans_up(world: World) -> None:
    await world.take(FIRST)
    world.store.dies_at_delete = True
    with pytest.raises(Killed):
        await world.take(SECOND)
    world.store.dies_at_delete = False

    new = await world.take(SECOND)

    assert world.states == ["received", "unchanged"]
    assert await world.versions_found() == {new}
    assert await world.catalog.retired("c") == []


async def test_leaves_that_were_lost_are_noticed_and_made_again(world: World) -> None:
    world.store.loses = True
    with pytest.raises(RetrievalFailed, match="does not hold the"):
        await world.take(FIRST)
    assert await world.catalog.documents("c") == []

    world.store.loses = False
    version = await world.take(FIRST)
    await world.store.delete("c", document_id("c", "a.txt"))  # somebody emptied the store
    assert await world.take(FIRST) == version
    assert world.states[-1] == "ready"
    assert await world.versions_found() == {version}


async def test_a_collection_of_another_embedder_is_refused(world: World) -> None:
    await world.take(FIRST)
    world.model = Counting()
    world.model.name = "other"
    with pytest.raises(EmbedderMismatch, match="'c' was made with hashing-32"):
        await world.take(FIRST)


async def test_an_empty_collection_name_is_the_default_one(world: World) -> None:
    await world.take(FIRST, collection="")
    assert [info.name for info in await world.catalog.collections()] == ["default"]
    assert world.heard[-1].collection == "default"


async def test_leaves_of_a_version_that_was_never_finished_are_deleted(world: World) -> None:
    await world.take(FIRST)
    world.store.dies_at = world.store.writes + 2
    with pytest.raises(Killed):
        await world.take(SECOND)  # some of its leaves are in the store ...

    third = await world.take(b"Something else.")  # ... and its content never comes again

    assert await world.versions_found() == {third}


async def test_the_handler_tells_progress_and_says_that_the_document_is_ready(world: World) -> None:
    load = DocumentLoad(collection="c", name="a.txt", content=base64.b64encode(FIRST).decode())
    handler = LoadDocument(world.ingester)

    (sent,) = (await handler(load, world.tell)).send
    assert world.states == ["received", "parsed", *["embedding"] * 4]
    assert sent.topic is topics.DOCUMENT_STATUS
    assert (sent.body.state, sent.body.name, sent.body.chunks_done) == ("ready", "a.txt", 60)
    (again,) = (await handler(load, world.tell)).send
    assert (again.body.state, again.body.version) == ("unchanged", sent.body.version)


async def test_the_senders_own_id_is_kept(world: World) -> None:
    content = base64.b64encode(FIRST).decode()
    load = DocumentLoad(collection="c", name="a.txt", content=content, document_id="urn:x")
    (sent,) = (await LoadDocument(world.ingester)(load, world.tell)).send
    assert sent.body.document_id == "urn:x"
    assert await world.catalog.document("c", "urn:x") is not None


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (DocumentLoad(name="a.txt", content="???"), "a.txt: `content` is not base64"),
        (DocumentLoad(name="a.txt", content="é"), "a.txt: `content` is not base64"),
        (DocumentLoad(name=" ", content=""), "has no name"),
    ],
)
async def test_a_message_without_a_file_is_unreadable(world: World, load: DocumentLoad, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        await LoadDocument(world.ingester)(load, world.tell)


def test_the_news_of_a_failure_names_the_document() -> None:
    error = Error(type="document-unreadable", message="a.txt: empty")
    load = DocumentLoad(name="a.txt")
    assert load_failed(load, error) == Send(
        topics.DOCUMENT_STATUS,
        DocumentStatus(
            document_id=document_id("default", "a.txt"),
            collection="default",
            name="a.txt",
            state="failed",
            error=error,
        ),
    )
    assert load_failed(None, error).body.state == "failed"
