"""Taking documents in: what is ready afterwards, whatever went wrong on the way."""

import pytest

from clew_services.core.chunking import document_id
from clew_services.errors import DocumentUnreadable, EmbedderMismatch, RetrievalFailed
from clew_services.ingest import BATCH
from tests.ingest.world import FIRST, SECOND, Counting, Killed, World


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
    with pytest.raises(RetrievalFailed, match="holds 56 of the 60 chunks"):
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
