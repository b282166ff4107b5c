"""The reranker over HTTP: replies are checked, not believed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_services.adapters.models.model_http import ModelClient
from clew_services.adapters.models.rerank_http import HttpReranker
from clew_services.core.ranking import by_rerank
from clew_services.errors import ModelBusy, ModelFailed, ModelRefused, ModelReplyInvalid
from clew_services.runtime.clock import ManualClock
from tests.modelserver import Fault, ModelServer


def reranker(*script: dict[str, Any] | Fault) -> tuple[HttpReranker, ModelServer]:
    server = ModelServer(list(script))
    client = ModelClient(
        base_url="http://model.test", clock=ManualClock(), transport=httpx.ASGITransport(server.app())
    )
    return HttpReranker(client, model="ranker"), server


def results(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in pairs]}


async def test_scores_come_in_the_order_of_the_passages() -> None:
    adapter, server = reranker(results((2, 0.9), (0, 0.5), (1, -3)))
    assert await adapter.scores("q", ["a", "b", "c"]) == [0.5, -3.0, 0.9]
    assert server.requests == [
        {"path": "/v1/rerank", "model": "ranker", "query": "q", "documents": ["a", "b", "c"], "top_n": 3}
    ]


async def test_ranks_are_sorted_whatever_the_reply_s_order() -> None:
    adapter, _ = reranker(results((1, 0.2), (0, 0.2), (2, 0.9)))
    assert await adapter.rank("q", ["a", "b", "c"]) == [(2, 0.9), (0, 0.2), (1, 0.2)]


async def test_what_was_left_out_follows_in_its_order_without_a_score() -> None:
    reply = results((3, 0.1), (1, 0.4))
    adapter, _ = reranker(reply, reply)
    passages = ["a", "b", "c", "d", "e"]
    assert await adapter.rank("q", passages) == [(1, 0.4), (3, 0.1), (0, None), (2, None), (4, None)]
    assert await adapter.scores("q", passages) == [None, 0.4, None, 0.1, None]


@given(st.dictionaries(st.integers(0, 5), st.floats(-1e300, 1e300), min_size=1))
async def test_sorting_by_score_is_the_ranking(given: dict[int, float]) -> None:
    adapter, _ = reranker(results(*given.items()), results(*given.items()))
    passages = ["p"] * 6
    lines = by_rerank(await adapter.scores("q", passages), 6)
    assert [(line.index, line.score) for line in lines] == await adapter.rank("q", passages)


async def test_a_raw_reply_is_asked_for_and_given_as_it_is() -> None:
    odd = results((1, "0.2"), (1, 0.3), (7, 1))
    adapter, server = reranker(odd)
    assert await adapter.reply("q", ["a", "b"], 1) == odd
    assert server.requests == [
        {
            "path": "/v1/rerank",
            "model": "ranker",
            "query": "q",
            "documents": ["a", "b"],
            "top_n": 1,
            "return_documents": False,
        }
    ]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (results((0, 0.1), (0, 0.2)), "passage 0 was scored twice"),
        (results((2, 0.1)), r"index 2 .* not in 0\.\.1"),
        (results((-1, 0.1)), "index -1"),
        (results((True, 0.1)), "index True"),
        (results(("0", 0.1)), "index 0"),
        (results((0.0, 0.1)), r"index 0\.0"),
        (results(([], 0.1)), r"index \[\]"),
        (results((0, None)), "no finite number"),
        (results((0, "0.1")), "no finite number"),
        (results((0, True)), "no finite number"),
        (results((0, 10**400)), "no finite number"),
        (Fault(body=b'{"results": [{"index": 0, "relevance_score": NaN}]}'), "no finite number"),
        (Fault(body=b'{"results": [{"index": 0, "relevance_score": Infinity}]}'), "no finite number"),
        ({"results": ["x"]}, "index None"),
        ({"results": []}, "without results"),
        ({"results": {"0": 0.1}}, "without results"),
        ({}, "without results"),
        (Fault(body=b"prose"), "expected a JSON object"),
    ],
)
async def test_replies_that_are_not_believed(reply: dict[str, Any] | Fault, said: str) -> None:
    adapter, _ = reranker(reply)
    with pytest.raises(ModelReplyInvalid, match=said):
        await adapter.scores("q", ["a", "b"])


async def test_nothing_to_rank_asks_nobody() -> None:
    adapter, server = reranker()
    assert await adapter.scores("q", []) == []
    assert server.requests == []


async def test_failures_are_the_clients() -> None:
    adapter, _ = reranker(Fault(429, {"retry-after": "3"}), Fault(500), Fault(401))
    for error in (ModelBusy, ModelFailed, ModelRefused):
        with pytest.raises(error):
            await adapter.scores("q", ["a"])
