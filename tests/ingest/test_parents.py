"""Parents: written before the leaves, verified with them, and gone with their version."""

import pytest

from clew_schema.evidence import Evidence
from clew_services.core.chunking import document_id
from clew_services.errors import StoreFailed
from clew_services.ports import Parent
from tests.ingest.world import FIRST, SECOND, Killed, World

HERE = document_id("c", "a.txt")


async def ancestors(world: World, leaf: Evidence) -> tuple[Parent, Parent]:
    parents = await world.catalog.parents("c", [leaf.parent_id])
    above = parents[leaf.parent_id]
    return above, (await world.catalog.parents("c", [above.evidence.parent_id]))[above.evidence.parent_id]


async def test_each_leaf_has_an_ancestor_on_both_levels_that_holds_it(world: World) -> None:
    version = await world.take(FIRST)
    leaves = await world.evidence()

    assert len(leaves) == 60
    for leaf in leaves:
        second, first = await ancestors(world, leaf)
        assert (leaf.level, second.evidence.level, first.evidence.level) == (3, 2, 1)
        assert leaf.text in second.evidence.text
        assert second.evidence.text in first.evidence.text
        assert first.evidence.text == FIRST.decode()[first.evidence.start : first.evidence.end]
        for each in (second.evidence, first.evidence):
            assert (each.document_id, each.version, each.filename) == (HERE, version, "a.txt")
            assert each.file_type == "text/plain"
        assert first.evidence.parent_id == ""
    by_id = {leaf.parent_id: (await ancestors(world, leaf))[0] for leaf in leaves}
    assert sum(parent.children for parent in by_id.values()) == len(leaves)


@pytest.mark.parametrize("dies_at", [1, 2])
async def test_killed_between_parents_a_repeat_ends_as_an_undisturbed_ingest(
    world: World, dies_at: int
) -> None:
    old = await world.take(FIRST)
    world.catalog.dies_at = world.catalog.writes + dies_at
    with pytest.raises(Killed):
        await world.take(SECOND)
    assert await world.ready_version() == old
    assert world.model.embedded == 60  # no leaf before its parents

    new = await world.take(SECOND)

    assert await world.versions_found() == {new}
    assert await world.catalog.count_parents("c", HERE, old) == 0
    assert await world.catalog.count_parents("c") == await world.catalog.count_parents("c", HERE, new) > 0
    for leaf in await world.evidence():
        await ancestors(world, leaf)


async def test_parents_that_were_lost_are_noticed_and_made_again(world: World) -> None:
    world.catalog.loses = True
    with pytest.raises(StoreFailed, match=r"a\.txt: the catalog holds \d+ of the \d+ parents"):
        await world.take(FIRST)
    assert await world.catalog.documents("c") == []

    world.catalog.loses = False
    await world.take(FIRST)
    whole = await world.catalog.count_parents("c")
    await world.catalog.put_parents("c", [])
    info = await world.catalog.document("c", HERE)
    assert info is not None
    await world.catalog.drop_version("c", HERE, info.version)  # somebody emptied the catalog
    await world.catalog.put_document(info)

    await world.take(FIRST)
    assert world.states[-1] == "ready"
    assert await world.catalog.count_parents("c") == whole


async def test_killed_before_an_old_version_is_dropped_a_repeat_drops_it(world: World) -> None:
    old = await world.take(FIRST)
    await world.take(SECOND, name="b.txt")
    writes = world.catalog.writes
    await world.take(SECOND, name="c.txt")
    world.catalog.dies_at = 2 * world.catalog.writes - writes + 1  # the same writes again, then the drop
    with pytest.raises(Killed):
        await world.take(SECOND)
    assert await world.catalog.count_parents("c", HERE, old) > 0

    await world.take(SECOND)
    assert world.states[-1] == "unchanged"
    assert await world.catalog.count_parents("c", HERE, old) == 0
