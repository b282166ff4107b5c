"""Parents take the place of children that were found together: in memory, and in milvus-lite from end to end."""

from __future__ import annotations

from pathlib import Path

from clew_schema.evidence import Evidence
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.core import merging
from clew_services.core.merging import Merging
from clew_services.ports import Parent, Search
from clew_services.retrieve import Policy
from tests.retrieve.world import CountingCatalog, World

# Two middles of two leaves under one top; the question's word is in three of the leaves.
MAZE = [
    [
        ["the labyrinth was built by Daedalus", "the labyrinth stands in Knossos"],
        ["a labyrinth has one way in", "bees and honey on the hill"],
    ],
    [["an owl sees at night"], ["a dolphin swims"]],
]
FAN = [[[f"the labyrinth part{n}" if n < 2 else f"honey and bees {n}" for n in range(5)]]]


def ids(found: tuple[Evidence, ...]) -> list[str]:
    return [e.chunk_id for e in found]


async def test_two_leaves_give_way_to_their_parent(world: World) -> None:
    chunks = await world.hold("myths", "maze", MAZE)
    found = await world.retriever().retrieve(
        "myths", Search.of("labyrinth Daedalus Knossos"), fetch_limit=2, doc_limit=2
    )
    assert ids(found.evidence) == ["maze-1-L2-0"]
    parent = found.evidence[0]
    assert parent.text == f"{chunks.leaves[0].text} {chunks.leaves[1].text}"
    assert (parent.level, parent.parent_id, parent.merged_children, parent.rank) == (2, "maze-1-L1-0", 2, 1)
    assert (parent.dense_rank, parent.bm25_rank) == (1, 1)
    assert None not in (parent.dense_score, parent.bm25_score, parent.fused_score)
    told = found.retrieval
    assert told.merge.model_dump() == {
        "enabled": True,
        "applied": True,
        "threshold": 2,
        "replaced": 2,
        "steps": 1,
    }
    assert (told.recall_count, told.merged_count, told.candidate_count, told.kept_count) == (2, 1, 1, 1)


async def test_both_passes_cost_two_more_calls_of_the_catalog(world: World) -> None:
    await world.hold("myths", "maze", MAZE)
    retriever = world.retriever()
    await retriever.retrieve("myths", Search.of("x"))
    world.catalog.asked.clear()
    # All leaves are found: four of them become two middles, those one top; the others have one child each.
    found = await retriever.retrieve("myths", Search.of("labyrinth"))
    assert world.catalog.asked == ["serving", "parents", "parents"]
    assert set(ids(found.evidence)) >= {"maze-1-L1-0"}
    top = next(e for e in found.evidence if e.chunk_id == "maze-1-L1-0")
    assert (top.merged_children, top.level) == (2, 1)
    assert (found.retrieval.merge.replaced, found.retrieval.merge.steps) == (
        6,
        2,
    )  # four leaves, then two middles


async def test_fewer_than_half_of_its_children_are_no_parent_but_in_strict(world: World) -> None:
    await world.hold("myths", "fan", FAN)
    search = Search.of("labyrinth part0 part1")
    improved = await world.retriever().retrieve("myths", search, doc_limit=2, fetch_limit=2)
    assert sorted(ids(improved.evidence)) == ["fan-1-L3-0", "fan-1-L3-1"]
    assert not improved.retrieval.merge.applied
    strict = await world.retriever(Policy(mode="strict", candidate_k=2, doc_limit=2)).retrieve(
        "myths", search
    )
    assert ids(strict.evidence) == ["fan-1-L2-0"]


async def test_the_settings_turn_merging_off_and_raise_its_threshold(world: World) -> None:
    await world.hold("myths", "maze", MAZE)
    search = Search.of("labyrinth Daedalus Knossos")
    for policy in (Policy(merge=False), Policy(merge_threshold=3)):
        found = await world.retriever(policy).retrieve("myths", search, doc_limit=2, fetch_limit=2)
        assert sorted(ids(found.evidence)) == ["maze-1-L3-0", "maze-1-L3-1"]
        assert (found.retrieval.merge.enabled, found.retrieval.merge.threshold) == (
            policy.merge,
            policy.merge_threshold,
        )


async def test_a_parent_that_is_missing_or_of_another_version_is_not_taken(world: World) -> None:
    chunks = await world.hold("myths", "maze", MAZE)
    search = Search.of("labyrinth Daedalus Knossos")
    stale = chunks.parents[0].evidence.model_copy(update={"version": "0"})
    await world.catalog.put_parents("myths", [Parent(evidence=stale, children=2)])
    found = await world.retriever().retrieve("myths", search, doc_limit=2, fetch_limit=2)
    assert sorted(ids(found.evidence)) == ["maze-1-L3-0", "maze-1-L3-1"]


async def test_another_tenants_parent_is_not_taken(world: World) -> None:
    await world.hold("theirs", "maze", MAZE)
    chunks = await world.hold("mine", "maze", MAZE)
    await world.catalog.drop_version("mine", "maze", "1")
    await world.put("mine", "maze", "1", len(chunks.leaves))
    found = await world.retriever().retrieve(
        "mine", Search.of("labyrinth Daedalus Knossos"), doc_limit=2, fetch_limit=2
    )
    assert {e.level for e in found.evidence} == {3}


async def test_milvus_lite_keeps_parents_from_end_to_end(catalog: CountingCatalog, tmp_path: Path) -> None:
    world = World(catalog=catalog, vectors=MilvusVectors(str(tmp_path / "v.db"), analyzer="standard"))
    await world.hold("myths", "maze", MAZE)
    await world.build("myths", "maze", MAZE, version="2")  # its leaves are in the store, and do not serve
    await world.hold("other", "maze", MAZE)
    found = await world.retriever().retrieve("myths", Search.of("labyrinth Daedalus"), doc_limit=3)
    best = found.evidence[0]
    assert (best.chunk_id, best.level, best.version) == ("maze-1-L1-0", 1, "1")
    assert best.text == " ".join(leaf for middle in MAZE[0] for leaf in middle)
    assert {e.version for e in found.evidence} == {"1"}
    assert found.retrieval.mode == "hybrid"
    await world.vectors.close()


# --- what lies inside a parent --------------------------------------------------------------------


def span(name: str, level: int, start: int, end: int, score: float) -> Evidence:
    return Evidence(
        chunk_id=name,
        document_id="d",
        version="1",
        level=level,
        start=start,
        end=end,
        fused_score=score,
        dense_score=score,
    )


def test_what_lies_inside_a_parent_adds_nothing_and_gives_it_its_place() -> None:
    found = (
        span("other", 3, 0, 50, 0.9).model_copy(update={"document_id": "e"}),
        span("leaf", 3, 10, 20, 0.8),
        span("beside", 3, 90, 120, 0.7),
        span("top", 1, 0, 100, 0.6),
        span("middle", 2, 50, 100, 0.5),
        span("deep", 3, 60, 70, 0.4),
    )
    left = merging.without_contained(found)
    assert [(e.chunk_id, e.fused_score, e.dense_score) for e in left] == [
        ("other", 0.9, 0.9),
        ("top", 0.8, 0.8),
        ("beside", 0.7, 0.7),
    ]


def test_leaves_alone_are_left_alone() -> None:
    found = (span("a", 3, 0, 50, 0.9), span("b", 3, 0, 50, 0.8), span("c", 3, 40, 90, 0.7))
    assert merging.without_contained(found) == found


async def test_a_leaf_inside_a_parent_is_left_out_in_improved_alone(world: World) -> None:
    # The third middle has one leaf, which nothing merges; its top is taken for the sake of the other two.
    tree = [[["labyrinth a", "labyrinth b"], ["labyrinth c", "labyrinth d"], ["labyrinth e"]]]
    await world.hold("myths", "maze", tree)
    search = Search.of("labyrinth")
    improved = await world.retriever().retrieve("myths", search)
    assert ids(improved.evidence) == ["maze-1-L1-0"]
    assert (improved.retrieval.merged_count, improved.retrieval.candidate_count) == (2, 1)
    strict = await world.retriever(Policy(mode="strict")).retrieve("myths", search)
    assert sorted(ids(strict.evidence)) == ["maze-1-L1-0", "maze-1-L3-4"]


def test_a_parent_has_the_best_of_each_leg_of_its_children() -> None:
    children = (
        Evidence(chunk_id="a", parent_id="p", dense_rank=3, dense_score=0.5, fused_score=0.1),
        Evidence(chunk_id="b", parent_id="p", dense_rank=1, dense_score=0.7, bm25_rank=2, bm25_score=4.0),
    )
    (parent,) = merging.merge(Merging(candidates=children), {"p": Evidence(chunk_id="p", level=2)}).candidates
    assert (parent.dense_rank, parent.dense_score, parent.bm25_rank, parent.bm25_score) == (1, 0.7, 2, 4.0)
    assert parent.fused_score == 0.7
    assert parent.merged_children == 2
