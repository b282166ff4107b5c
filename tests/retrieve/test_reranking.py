"""Reranking: its order, its failures, which are told and never raised, and the least score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest

from clew_schema.facts import Mode
from clew_services.adapters.models.chat_scripted import ScriptedReranker
from clew_services.adapters.models.rerank_embedded import EmbeddedReranker
from clew_services.core.reranking import coverage_scores
from clew_services.core.retrieving import Reranking
from clew_services.errors import ClewError, ModelBusy, ModelFailed, ModelRefused, ModelReplyInvalid
from clew_services.ports import Search
from clew_services.retrieve import Policy
from tests.retrieve.world import World

LEAVES = ["an owl of the night", "an owl in a tree", "an owl on a coin"]
OWLS = [[[leaf]] for leaf in LEAVES]


@pytest.fixture
async def owls(world: World) -> World:
    await world.hold("birds", "owls", OWLS)
    return world


async def found_by(
    world: World, scores: tuple[float | None, ...] | ClewError, policy: Policy | None = None, limit: int = 0
) -> tuple[list[str], list[float | None], dict[str, object]]:
    """Texts and scores as the reranker that gives ``scores`` to the three owls makes them, and what is told."""

    def script(question: str, passages: Sequence[str]) -> tuple[float | None, ...] | ClewError:
        if isinstance(scores, ClewError):
            return scores
        by_text = dict(zip(LEAVES, scores, strict=False))
        return tuple(by_text[passage] for passage in passages if passage in by_text)

    found = await world.retriever(policy, ScriptedReranker(script)).retrieve(
        "birds", Search.of("owl night"), doc_limit=limit
    )
    told = found.retrieval.rerank.model_dump(exclude={"model", "endpoint", "timeout_seconds"})
    return [e.text for e in found.evidence], [e.rerank_score for e in found.evidence], told


async def test_the_rerankers_order_is_taken(owls: World) -> None:
    texts, scores, told = await found_by(owls, (0.1, 0.9, 0.5))
    assert texts == [LEAVES[1], LEAVES[2], LEAVES[0]]
    assert scores == [0.9, 0.5, 0.1]
    assert told == {
        "enabled": True,
        "attempted": True,
        "succeeded": True,
        "error": None,
        "error_code": "",
        "minimum_score": 0.0,
        "score_kind": "rerank",
        "threshold_applied": False,
        "count": 3,
    }


async def test_evidence_is_numbered_as_it_stands_and_strictly_as_it_stood_before(owls: World) -> None:
    def last_first(question: str, passages: Sequence[str]) -> tuple[float | None, ...]:
        return tuple(float(n) for n in range(len(passages)))

    ranks = {}
    for mode in get_args(Mode):
        found = await owls.retriever(Policy(mode=mode), ScriptedReranker(last_first)).retrieve(
            "birds", Search.of("owl night")
        )
        ranks[mode] = [e.rank for e in found.evidence]
        assert found.evidence[-1].text == LEAVES[0]
    assert ranks == {"improved": [1, 2, 3], "strict": [3, 2, 1]}


async def test_what_the_reranker_left_out_follows_in_its_order(owls: World) -> None:
    texts, scores, told = await found_by(owls, (None, -4.0, None))
    assert (texts[0], scores) == (LEAVES[1], [-4.0, None, None])
    assert texts[1] == LEAVES[0]  # found better than the third
    assert told["succeeded"]


async def test_the_limit_is_kept_after_reranking(owls: World) -> None:
    texts, _, told = await found_by(owls, (0.1, 0.9, 0.5), limit=1)
    assert texts == [LEAVES[1]]
    assert told["count"] == 1


@pytest.mark.parametrize(
    "error",
    [
        ModelFailed("no answer"),
        ModelBusy("later", 3.0),
        ModelRefused("bad key"),
        ModelReplyInvalid("prose"),
    ],
    ids=lambda error: str(error.type),
)
@pytest.mark.parametrize("mode", get_args(Mode))
async def test_a_reranker_that_fails_leaves_the_order_and_is_told(
    owls: World, error: ClewError, mode: Mode
) -> None:
    texts, scores, told = await found_by(owls, error, Policy(mode=mode))
    assert texts[0] == LEAVES[0]
    assert scores == [None, None, None]
    assert (told["attempted"], told["succeeded"]) == (True, False)
    assert (told["error"], told["error_code"]) == (str(error), error.type)
    assert told["score_kind"] == ("rrf" if mode == "strict" else "zscore")


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ((0.1,), "1 scores for 3 passages"),
        ((float("nan"), 0.1, 0.2), "no finite number"),
        ((0.3, float("inf"), 0.2), "no finite number"),
        ((None, None, None), "no score to any"),
    ],
)
async def test_scores_that_cannot_be_used_are_a_failure_of_the_reranker(
    owls: World, scores: tuple[float | None, ...], said: str
) -> None:
    texts, _, told = await found_by(owls, scores)
    assert len(texts) == 3
    assert said in str(told["error"])
    assert told["error_code"] == "model-reply-invalid"


async def test_nothing_found_asks_no_reranker(world: World) -> None:
    await world.hold("birds", "blank", [])
    reranker = ScriptedReranker([])
    found = await world.retriever(reranker=reranker).retrieve("birds", Search.of("owl"))
    assert (found.evidence, reranker.calls) == ((), ())
    assert found.retrieval.rerank.enabled
    assert not found.retrieval.rerank.attempted


async def test_the_reranker_is_asked_in_its_own_words(owls: World) -> None:
    reranker = ScriptedReranker((0.3, 0.2, 0.1))
    search = Search(question="q", dense="owl", sparse="owl", rerank="which bird is wise")
    found = await owls.retriever(reranker=reranker).retrieve("birds", search)
    ((question, passages),) = reranker.calls
    assert (question, sorted(passages)) == ("which bird is wise", sorted(LEAVES))
    assert found.retrieval.rerank_query == "which bird is wise"


# --- the least score ------------------------------------------------------------------------------


def least(minimum: float, *, strict: bool = False) -> Policy:
    return Policy(mode="strict" if strict else "improved", reranking=Reranking(minimum_score=minimum))


async def test_the_least_score_is_of_the_rerankers_scores(owls: World) -> None:
    texts, _, told = await found_by(owls, (0.1, 0.9, None), least(0.5))
    assert texts == [LEAVES[1]]
    assert (told["threshold_applied"], told["minimum_score"], told["count"]) == (True, 0.5, 3)


async def test_a_reranker_that_failed_filters_nothing(owls: World) -> None:
    texts, _, told = await found_by(owls, ModelFailed("down"), least(0.5))
    assert len(texts) == 3
    assert not told["threshold_applied"]


async def test_without_a_least_score_logits_below_zero_are_kept(owls: World) -> None:
    assert (await found_by(owls, (-1.0, -2.0, -3.0)))[0] == LEAVES


async def test_strict_holds_any_kind_of_score_against_it(owls: World) -> None:
    texts, _, told = await found_by(owls, ModelFailed("down"), least(0.3, strict=True))
    assert (texts, told["threshold_applied"], told["count"]) == ([], True, 3)
    texts, _, _ = await found_by(owls, (-1.0, 0.2, 0.4), least(0.0, strict=True))
    assert texts == [LEAVES[2], LEAVES[1]]


# --- strict mode reads the reply itself -----------------------------------------------------------


class RawReranker(ScriptedReranker):
    """A service's reply, odd as it may be."""

    def __init__(self, body: object) -> None:
        super().__init__((0.3, 0.2, 0.1))
        self._body = body
        self.asked: list[int] = []

    async def reply(self, question: str, passages: Sequence[str], limit: int) -> object:
        self.asked.append(limit)
        return self._body


async def test_strict_takes_a_reply_as_it_comes(owls: World) -> None:
    lines = [{"index": 2, "relevance_score": "0.1"}, {"index": 9}, {"index": 0, "relevance_score": 0.8}]
    reranker = RawReranker({"results": [*lines, lines[2]]})
    found = await owls.retriever(Policy(mode="strict"), reranker).retrieve("birds", Search.of("owl night"))
    assert [e.rank for e in found.evidence] == [3, 1, 1]
    assert [e.rerank_score for e in found.evidence] == [0.1, 0.8, 0.8]
    assert reranker.asked == [3]
    improved = await owls.retriever(Policy(), reranker).retrieve("birds", Search.of("owl night"))
    assert [e.rerank_score for e in improved.evidence] == [0.3, 0.2, 0.1]


@pytest.mark.parametrize(
    ("body", "error"),
    [({"results": []}, "empty_rerank_results"), ([1], "the reranker's reply is no object")],
)
async def test_a_reply_without_a_usable_line_leaves_the_order(owls: World, body: object, error: str) -> None:
    found = await owls.retriever(Policy(mode="strict"), RawReranker(body)).retrieve(
        "birds", Search.of("owl night")
    )
    assert found.evidence[0].text == LEAVES[0]
    rerank = found.retrieval.rerank
    assert (rerank.attempted, rerank.succeeded, rerank.error_code) == (True, False, "model-reply-invalid")
    assert (rerank.error or "").startswith(error)


# --- the embedded one -----------------------------------------------------------------------------


def test_coverage_prefers_one_sentence_that_says_all_and_keeps_the_order_of_equals() -> None:
    apart = "The Minotaur was fed every year. Nobody saw the labyrinth."
    together = "The Minotaur lived in the labyrinth. Nobody was fed."
    nothing = "Bees fly to the thyme."
    scores = coverage_scores("the Minotaur's labyrinth", [nothing, apart, together])
    without_place = [score - 1 / place for place, score in enumerate(scores, 1)]
    assert without_place[0] == 0.0
    assert 0 < without_place[1] < without_place[2] <= 1.0
    equal = coverage_scores("labyrinth", [together, together])
    assert equal[0] > equal[1]


def test_coverage_of_nothing() -> None:
    assert coverage_scores("labyrinth", []) == []
    assert coverage_scores("?", ["text", ""]) == [1.0, 0.5]


async def test_the_embedded_reranker_is_a_reranker(owls: World) -> None:
    found = await owls.retriever(reranker=EmbeddedReranker()).retrieve("birds", Search.of("owl coin"))
    assert found.evidence[0].text == LEAVES[2]
    assert found.retrieval.rerank.succeeded
