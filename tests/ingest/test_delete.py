"""Taking documents out: nothing of them is left anywhere, and nothing else is touched."""

import pytest

from clew_schema import topics
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_services.core.chunking import document_id
from clew_services.errors import BadRequest, DocumentUnreadable, RetrievalFailed
from clew_services.handlers.ingest import LoadDocument
from clew_services.ingest import Document
from clew_services.runtime.outcome import Send
from tests.ingest.world import FIRST, SECOND, Counting, Killed, World

HERE = document_id("c", "a.txt")


async def traces(world: World, document: str = HERE, collection: str = "c") -> tuple[int, int, int]:
    """What is left of a document: leaves, parents, versions."""
    return (
        await world.store.count(collection, document),
        await world.catalog.count_parents(collection, document),
        len(await world.catalog.versions(collection, document)),
    )


async def remembered(world: World, hashes: set[str]) -> set[str]:
    return set(await world.catalog.vectors(world.model.name, sorted(hashes)))


async def test_every_trace_goes_and_other_documents_stay(world: World) -> None:
    await world.take(FIRST, name="kept.txt")
    await world.take(FIRST, collection="other")
    kept = await traces(world, document_id("c", "kept.txt"))
    await world.take(FIRST + SECOND)
    hashes = {leaf.content_hash for leaf in await world.evidence()}
    shared = {leaf.content_hash for leaf in await world.evidence() if leaf.filename == "kept.txt"}
    assert await remembered(world, hashes) == hashes > shared

    await world.take_out()

    assert await traces(world) == (0, 0, 0)
    assert await traces(world, document_id("c", "kept.txt")) == kept
    assert (await traces(world, document_id("other", "a.txt"), "other"))[0] == 60
    assert await remembered(world, hashes) == shared
    await world.take_out(name="kept.txt")
    assert await remembered(world, hashes) == shared  # the other collection's document uses them
    await world.take_out(collection="other")
    assert await remembered(world, hashes) == set()


async def test_versions_that_failed_or_were_never_finished_go_too(world: World) -> None:
    await world.take(FIRST)
    with pytest.raises(DocumentUnreadable, match="binary"):
        await world.take(b"\x00\x01")
    world.store.dies_at = world.store.writes + 2
    with pytest.raises(Killed):
        await world.take(SECOND)
    assert (await traces(world))[2] == 3

    await world.take_out()

    assert await traces(world) == (0, 0, 0)
    assert await world.catalog.documents("c") == []


async def test_it_stops_serving_first_and_a_killed_deletion_can_be_repeated(world: World) -> None:
    await world.take(FIRST)
    world.store.dies_at_delete = True
    with pytest.raises(Killed):
        await world.take_out()
    assert await world.catalog.document("c", HERE) is None
    assert await world.catalog.serving("c", [HERE]) == {}
    world.store.dies_at_delete = False
    world.catalog.dies_at = world.catalog.writes + 1
    with pytest.raises(Killed):
        await world.take_out()

    await world.take_out()
    assert await traces(world) == (0, 0, 0)


async def test_a_deleted_document_may_come_back(world: World) -> None:
    version = await world.take(FIRST)
    await world.take_out()
    assert await world.take(FIRST) == version
    assert world.states[-1] == "ready"
    assert world.model.embedded == 120  # nothing of it was remembered


async def test_leaves_that_do_not_go_are_an_error_and_the_document_is_still_known(world: World) -> None:
    await world.take(FIRST)
    world.store.keeps = True
    with pytest.raises(RetrievalFailed, match=r"a\.txt: 60 chunks are still in the vector store"):
        await world.take_out()
    world.store.keeps = False
    await world.take_out()
    assert await traces(world) == (0, 0, 0)


async def test_a_collection_of_another_embedder_can_be_emptied(world: World) -> None:
    await world.take(FIRST)
    world.model = Counting()
    world.model.name = "other"
    await world.take_out()
    assert await traces(world) == (0, 0, 0)


async def test_what_is_not_there_is_named(world: World) -> None:
    with pytest.raises(BadRequest, match="there is no document 'urn:x' in collection 'c'"):
        await world.ingester.delete("c", "urn:x")
    with pytest.raises(BadRequest, match=r"there is no document 'b\.txt' in collection 'default'"):
        await world.ingester.named("", "b.txt")
    await world.take(FIRST)
    await world.take_out()
    with pytest.raises(BadRequest, match=r"there is no document 'a\.txt'"):
        await world.take_out()
    with pytest.raises(BadRequest, match="there is no document"):
        await world.ingester.delete("c", HERE)


async def test_a_name_that_several_documents_have_is_refused_and_their_ids_are_told(world: World) -> None:
    await world.take(FIRST)
    own = Document(name="a.txt", data=SECOND, document_id="urn:own")
    await world.ingester.ingest(own, "c")
    with pytest.raises(BadRequest, match=f"2 documents .* give the document_id of one, {HERE} or urn:own"):
        await world.ingester.named("c", "a.txt")
    await world.ingester.delete("c", HERE)
    assert await world.ingester.named("c", "a.txt") == "urn:own"


async def test_the_handler_deletes_by_name_and_says_so(world: World) -> None:
    version = await world.take(FIRST)
    handler = LoadDocument(world.ingester)
    outcome = await handler(DocumentLoad(collection="c", name="a.txt", delete=True), world.tell)
    gone = DocumentStatus(
        document_id=HERE, collection="c", name="a.txt", version=version, state="deleted", chunks=0
    )
    assert outcome.send == (Send(topics.DOCUMENT_STATUS, gone),)
    assert await traces(world) == (0, 0, 0)


async def test_the_handler_deletes_by_id(world: World) -> None:
    await world.take(FIRST, collection="default")
    load = DocumentLoad(document_id=document_id("default", "a.txt"), delete=True)
    (sent,) = (await LoadDocument(world.ingester)(load, world.tell)).send
    assert (sent.body.state, sent.body.name, sent.body.collection) == ("deleted", "a.txt", "default")


async def test_a_deletion_of_nothing_is_refused(world: World) -> None:
    with pytest.raises(BadRequest, match="set `document_id` or `name`"):
        await LoadDocument(world.ingester)(DocumentLoad(name=" ", delete=True), world.tell)
