"""What a question finds: the legs, versions, tenants, limits; and an outage, which is never an empty result."""

from __future__ import annotations

import pytest

from clew_schema.facts import Mode
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.errors import (
    EmbedderMismatch,
    EmptyCollection,
    RetrievalFailed,
    StoreFailed,
    UnknownCollection,
)
from clew_services.ports import CollectionInfo, Search
from clew_services.retrieve import EvidenceRetriever, Policy
from tests.retrieve.world import CountingCatalog, DenseOnly, RecordingEmbedder, RecordingVectors, World

MODES: tuple[Mode, ...] = ("strict", "improved")
ANIMALS = [
    [["the minotaur lives in the labyrinth"], ["a dolphin swims in the sea"]],
    [["bees fly to the thyme"], ["an owl sees at night"]],
]


async def test_one_question_costs_one_call_of_the_catalog(world: World) -> None:
    await world.hold("myths", "animals", ANIMALS)
    retriever = world.retriever()
    found = await retriever.retrieve("myths", Search.of("where does the minotaur live"), doc_limit=2)
    assert [(e.chunk_id, e.rank, e.level, e.parent_id) for e in found.evidence] == [
        ("animals-1-L3-0", 1, 3, "animals-1-L2-0"),
        (found.evidence[1].chunk_id, 2, 3, found.evidence[1].parent_id),
    ]
    best = found.evidence[0]
    assert (best.dense_rank, best.bm25_rank) == (1, 1)
    assert None not in (best.dense_score, best.bm25_score, best.fused_score)
    assert best.rerank_score is None
    world.catalog.asked.clear()
    await retriever.retrieve("myths", Search.of("minotaur"))
    assert world.catalog.asked == ["serving"]


async def test_the_figures_of_a_retrieval(world: World) -> None:
    await world.hold("myths", "animals", ANIMALS)
    told = (await world.retriever().retrieve("myths", Search.of("minotaur"), doc_limit=2)).retrieval
    assert told.model_dump(exclude={"merge", "rerank"}) == {
        "pipeline": "recall_merge_rerank",
        "mode": "hybrid",
        "candidate_k": 6,
        "candidate_k_source": "multiplier",
        "candidate_k_config_error": None,
        "candidate_multiplier": 3,
        "top_k": 2,
        "recall_count": 4,
        "merged_count": 4,
        "candidate_count": 4,
        "kept_count": 2,
        "leaf_level": 3,
        "fusion": "zscore",
        "embedder": "hashing-256",
        "legs": ("dense", "bm25"),
        "dense_query": "",
        "sparse_query": "",
        "rerank_query": "",
    }
    assert (told.merge.enabled, told.merge.applied, told.merge.threshold) == (True, False, 2)
    assert (told.rerank.enabled, told.rerank.attempted, told.rerank.score_kind) == (False, False, "zscore")
    assert not told.rerank.threshold_applied


async def test_each_leg_is_asked_in_its_own_words(catalog: CountingCatalog) -> None:
    vectors = RecordingVectors()
    world = World(catalog=catalog, vectors=vectors)
    await world.hold("myths", "animals", ANIMALS)
    retriever = world.retriever()
    search = Search(question="q", dense="a supposed answer", sparse="owl", rerank="q")
    found = await retriever.retrieve("myths", search, fetch_limit=10)
    assert isinstance(retriever.embedder, RecordingEmbedder)
    assert retriever.embedder.asked == ["a supposed answer"]
    assert vectors.asked == [("owl", 10)]
    told = found.retrieval
    assert (told.dense_query, told.sparse_query, told.rerank_query) == ("a supposed answer", "owl", "")


@pytest.mark.parametrize(
    ("policy", "limits", "expected"),
    [  # limits: doc_limit, fetch_limit; expected: candidate_k, its source, what each leg is asked for
        (Policy(), (0, 0), (24, "multiplier", 24)),
        (Policy(doc_limit=5, candidate_multiplier=2), (0, 0), (10, "multiplier", 10)),
        (Policy(candidate_k=30), (0, 0), (30, "env", 30)),
        (Policy(candidate_k=30), (40, 0), (40, "env", 40)),
        (Policy(candidate_k=30), (0, 50), (50, "env", 50)),
        (Policy(), (10, 3), (10, "env", 10)),
        (Policy(mode="strict"), (0, 0), (24, "multiplier", 48)),  # SuperMew asks for twice as many
    ],
)
async def test_how_many_candidates_are_taken(
    catalog: CountingCatalog, policy: Policy, limits: tuple[int, int], expected: tuple[int, str, int]
) -> None:
    vectors = RecordingVectors()
    world = World(catalog=catalog, vectors=vectors)
    await world.hold("many", "many", [[[f"word number{n}"]] for n in range(60)])
    found = await world.retriever(policy).retrieve(
        "many", Search.of("word"), doc_limit=limits[0], fetch_limit=limits[1]
    )
    ((words, asked),) = vectors.asked
    told = found.retrieval
    assert (told.candidate_k, told.candidate_k_source, asked) == expected
    assert words == "word"
    assert len(found.evidence) == told.kept_count == (limits[0] or policy.doc_limit)
    if policy.mode == "strict":
        assert told.recall_count == expected[0]


@pytest.mark.parametrize("mode", MODES)
async def test_a_store_without_a_words_leg_is_asked_by_meaning_and_says_so(
    catalog: CountingCatalog, mode: Mode
) -> None:
    world = World(catalog=catalog, vectors=DenseOnly())
    await world.hold("myths", "animals", ANIMALS)
    found = await world.retriever(Policy(mode=mode)).retrieve("myths", Search.of("the owl at night"))
    assert found.evidence[0].chunk_id == "animals-1-L3-3"
    assert all(e.fused_score is None and e.bm25_rank is None for e in found.evidence)
    assert [e.dense_rank for e in found.evidence] == [1, 2, 3, 4]
    told = found.retrieval
    assert (told.mode, told.fusion, told.legs) == ("dense_fallback", "cosine", ("dense",))
    assert told.rerank.score_kind == "cosine"


async def test_strict_fuses_by_rank_and_the_setting_can_choose(world: World) -> None:
    await world.hold("myths", "animals", ANIMALS)
    by_rank = await world.retriever(Policy(mode="strict")).retrieve("myths", Search.of("minotaur"))
    assert by_rank.evidence[0].fused_score == pytest.approx(2 / 61)
    chosen = await world.retriever(Policy(fusion="rrf")).retrieve("myths", Search.of("minotaur"))
    assert chosen.evidence[0].fused_score == pytest.approx(2 / 61)
    assert by_rank.retrieval.fusion == chosen.retrieval.fusion == "rrf"


# --- versions and tenants -------------------------------------------------------------------------


async def test_only_the_version_that_serves_is_found(world: World) -> None:
    await world.hold("myths", "animals", [[["the old labyrinth"]]], version="1")
    await world.build("myths", "animals", [[["the new labyrinth"]]], version="2")
    retriever = world.retriever()
    before = await retriever.retrieve("myths", Search.of("labyrinth"))
    assert [e.text for e in before.evidence] == ["the old labyrinth"]
    await world.put("myths", "animals", "2", 1)
    after = await retriever.retrieve("myths", Search.of("labyrinth"))
    assert [e.text for e in after.evidence] == ["the new labyrinth"]
    assert after.retrieval.recall_count == 1


async def test_another_tenants_documents_are_never_found(world: World) -> None:
    await world.hold("mine", "animals", [[["the owl of mine"]]])
    await world.hold("theirs", "animals", [[["the owl of theirs", "the owl of theirs too"]]])
    found = await world.retriever().retrieve("mine", Search.of("owl of theirs"))
    assert [e.text for e in found.evidence] == ["the owl of mine"]


async def test_a_collection_that_nobody_made_is_unknown(world: World) -> None:
    with pytest.raises(UnknownCollection, match="'nobody'"):
        await world.retriever().retrieve("nobody", Search.of("q"))


@pytest.mark.parametrize("mode", MODES)
async def test_a_collection_without_documents_is_empty(world: World, mode: Mode) -> None:
    await world.collection("new")
    with pytest.raises(EmptyCollection, match="'new'"):
        await world.retriever(Policy(mode=mode)).retrieve("new", Search.of("q"))
    await world.build("new", "half", ANIMALS)  # not ready yet
    with pytest.raises(EmptyCollection, match="'new'"):
        await world.retriever(Policy(mode=mode)).retrieve("new", Search.of("minotaur"))


async def test_another_embedder_is_refused(world: World) -> None:
    await world.hold("myths", "animals", ANIMALS)
    other = EvidenceRetriever(catalog=world.catalog, vectors=world.vectors, embedder=HashingEmbedder(8))
    with pytest.raises(EmbedderMismatch, match=r"hashing-256.*hashing-8"):
        await other.retrieve("myths", Search.of("q"))


# --- outages --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
async def test_a_store_that_does_not_answer_is_a_failure(world: World, mode: Mode) -> None:
    await world.hold("myths", "animals", ANIMALS)
    retriever = world.retriever(Policy(mode=mode))
    await retriever.retrieve("myths", Search.of("minotaur"))
    await world.vectors.close()
    with pytest.raises(RetrievalFailed, match="closed"):
        await retriever.retrieve("myths", Search.of("minotaur"))


@pytest.mark.parametrize("mode", MODES)
async def test_an_embedder_that_does_not_answer_is_a_failure(world: World, mode: Mode) -> None:
    await world.hold("myths", "animals", ANIMALS)
    with pytest.raises(RetrievalFailed, match="embedder"):
        await world.retriever(Policy(mode=mode), down=True).retrieve("myths", Search.of("minotaur"))


async def test_a_catalog_that_does_not_answer_is_a_failure(world: World) -> None:
    await world.hold("myths", "animals", ANIMALS)
    retriever = world.retriever()
    await retriever.retrieve("myths", Search.of("minotaur"))
    await world.catalog.close()
    with pytest.raises(StoreFailed):
        await retriever.retrieve("myths", Search.of("minotaur"))


@pytest.mark.parametrize("mode", MODES)
async def test_a_store_that_lost_its_chunks_is_a_failure_and_not_nothing_known(
    world: World, mode: Mode
) -> None:
    await world.hold("myths", "animals", ANIMALS)
    retriever = world.retriever(Policy(mode=mode))
    await world.vectors.delete("myths", "animals")
    with pytest.raises(RetrievalFailed, match=r"no chunk of the 1 documents of collection 'myths'.*again"):
        await retriever.retrieve("myths", Search.of("minotaur"))


async def test_a_collection_that_was_dropped_under_us_is_found_again_once_it_is_back(world: World) -> None:
    await world.hold("myths", "animals", ANIMALS)
    retriever = world.retriever()
    await retriever.retrieve("myths", Search.of("minotaur"))
    await world.vectors.drop("myths")
    with pytest.raises(RetrievalFailed, match="ingest again"):
        await retriever.retrieve("myths", Search.of("minotaur"))
    await world.hold("myths", "animals", ANIMALS)
    assert (await retriever.retrieve("myths", Search.of("minotaur"))).evidence


async def test_a_collection_that_is_known_is_not_asked_for_again(world: World) -> None:
    await world.hold("myths", "animals", ANIMALS)
    assert isinstance(await world.catalog.collection("myths"), CollectionInfo)
    retriever = world.retriever()
    for _ in range(3):
        await retriever.retrieve("myths", Search.of("minotaur"))
    assert world.catalog.asked.count("collection") == 2
