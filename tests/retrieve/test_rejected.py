"""What a retrieval found and did not return: each chunk once, with the reason, its scores, and what stands for it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from clew_schema.evidence import Rejected
from clew_schema.facts import Mode
from clew_services.adapters.models.chat_scripted import ScriptedReranker
from clew_services.adapters.models.retriever_scripted import ScriptedRetriever
from clew_services.core.retrieving import Reranking
from clew_services.ports import Found, Search
from clew_services.retrieve import Policy
from tests.retrieve.test_parents import MAZE
from tests.retrieve.test_parts import PIECES
from tests.retrieve.world import World

LEAVES = ["an owl of the night", "an owl in a tree", "an owl on a coin"]


def told(found: Found) -> list[tuple[str, str, int, str]]:
    return [(each.chunk_id, each.reason, each.rank, each.into) for each in found.rejected]


def scores(*given: float | None) -> ScriptedReranker:
    def script(question: str, passages: Sequence[str]) -> tuple[float | None, ...]:
        del question
        return tuple(dict(zip(LEAVES, given, strict=True))[passage] for passage in passages)

    return ScriptedReranker(script)


async def test_what_ranked_below_the_limit_is_told_with_its_place_and_scores(world: World) -> None:
    await world.hold("birds", "owls", [[[leaf]] for leaf in LEAVES])
    retriever = world.retriever(reranker=scores(0.1, 0.9, 0.5))
    found = await retriever.retrieve("birds", Search.of("owl night"), doc_limit=1)
    assert [each.text for each in found.evidence] == [LEAVES[1]]
    assert told(found) == [
        ("owls-1-L3-2", "beyond-limit", 2, ""),
        ("owls-1-L3-0", "beyond-limit", 3, ""),
    ]
    whole = await retriever.retrieve("birds", Search.of("owl night"), doc_limit=3)
    last = whole.evidence[-1]
    assert found.rejected[-1] == Rejected(
        chunk_id=last.chunk_id,
        reason="beyond-limit",
        document_id="owls",
        rank=3,
        dense_score=last.dense_score,
        bm25_score=last.bm25_score,
        fused_score=last.fused_score,
        rerank_score=0.1,
    )
    assert not whole.rejected


@pytest.mark.parametrize("mode", ["strict", "improved"])
async def test_what_scores_too_little_is_below_the_threshold(world: World, mode: Mode) -> None:
    await world.hold("birds", "owls", [[[leaf]] for leaf in LEAVES])
    policy = Policy(mode=mode, reranking=Reranking(minimum_score=0.4), merge=False)
    retriever = world.retriever(policy, scores(0.1, 0.9, 0.5))
    found = await retriever.retrieve("birds", Search.of("owl night"), doc_limit=3)
    assert [(each.chunk_id, each.reason, each.rerank_score) for each in found.rejected] == [
        ("owls-1-L3-0", "below-threshold", 0.1)
    ]


async def test_children_name_the_parent_that_took_their_place(world: World) -> None:
    await world.hold("myths", "maze", MAZE)
    found = await world.retriever().retrieve(
        "myths", Search.of("labyrinth Daedalus Knossos"), fetch_limit=2, doc_limit=2
    )
    assert [(name, reason, into) for name, reason, _, into in told(found)] == [
        (name, "merged-into-parent", "maze-1-L2-0") for name in ("maze-1-L3-0", "maze-1-L3-1")
    ]
    assert None not in [found.rejected[0].dense_score, found.rejected[0].fused_score]


async def test_of_two_merges_the_outermost_parent_is_named_and_none_is_told_that_nobody_found(
    world: World,
) -> None:
    await world.hold("myths", "maze", MAZE)
    found = await world.retriever().retrieve("myths", Search.of("labyrinth"))
    merged = [(name, into) for name, reason, _, into in told(found) if reason == "merged-into-parent"]
    assert sorted(merged) == [(f"maze-1-L3-{n}", "maze-1-L1-0") for n in range(4)]
    assert not {name for name, _ in merged} & {each.chunk_id for each in found.evidence}


async def test_a_parent_that_is_left_out_itself_is_told_beside_its_children(world: World) -> None:
    await world.hold("myths", "maze", MAZE)
    owl = Search.of("an owl sees at night")
    found = await world.retriever().retrieve("myths", owl, doc_limit=1, fetch_limit=8)
    assert [each.chunk_id for each in found.evidence] == ["maze-1-L3-4"]
    reasons = {name: (reason, into) for name, reason, _, into in told(found)}
    assert reasons == {
        "maze-1-L3-5": ("beyond-limit", ""),
        "maze-1-L1-0": ("beyond-limit", ""),
        **{f"maze-1-L3-{n}": ("merged-into-parent", "maze-1-L1-0") for n in range(4)},
    }
    assert {rank for _, reason, rank, _ in told(found) if reason == "beyond-limit"} == {2, 3}


@pytest.mark.parametrize("limit", [1, 2])
async def test_there_are_never_more_than_candidates_of_one_leg(world: World, limit: int) -> None:
    await world.hold("birds", "many", [[[f"an owl number {n}"]] for n in range(20)])
    retriever = world.retriever(Policy(mode="strict"))
    found = await retriever.retrieve("birds", Search.of("owl number"), doc_limit=limit)
    assert len(found.rejected) == 3 * limit
    names = {each.chunk_id for each in found.rejected} | {each.chunk_id for each in found.evidence}
    assert len(names) == 4 * limit


async def test_the_scripted_retriever_rejects_what_it_cuts_off() -> None:
    found = await ScriptedRetriever([PIECES]).retrieve("c", Search.of("q"), doc_limit=2)
    assert found.rejected == (Rejected(chunk_id="c", reason="beyond-limit", rank=3),)
