"""The embedder over HTTP: batches, unit vectors, and the errors of the Embedder port."""

from __future__ import annotations

import math
from typing import Any

import httpx
import pytest

from clew_services.adapters.models.embedder_http import HttpEmbedder
from clew_services.adapters.models.model_http import ModelClient
from clew_services.errors import EmbedderMismatch, ModelRefused, ModelReplyInvalid, RetrievalFailed
from clew_services.runtime.clock import ManualClock
from tests.modelserver import Fault, ModelServer


def embedder(*script: dict[str, Any] | Fault, **options: Any) -> tuple[HttpEmbedder, ModelServer]:
    server = ModelServer(list(script))
    client = ModelClient(
        base_url="http://model.test", clock=ManualClock(), transport=httpx.ASGITransport(server.app())
    )
    return HttpEmbedder(client, model="e", dimensions=2, **options), server


def data(*vectors: Any) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]}


async def test_a_question() -> None:
    adapter, server = embedder(data([3, 4.0]), query_prefix="query: ")
    assert await adapter.query("how?") == pytest.approx([0.6, 0.8])
    assert server.requests == [
        {"path": "/v1/embeddings", "model": "e", "input": ["query: how?"], "encoding_format": "float"}
    ]


async def test_passages_go_in_batches_and_come_back_in_order() -> None:
    second = {"data": list(reversed(data([0, 3], [-4, 0])["data"]))}
    adapter, server = embedder(data([1, 0], [0, 1]), second, batch=2, passage_prefix="passage: ")
    vectors = await adapter.passages(["a", "b", "c", "d"])
    assert [list(vector) for vector in vectors] == [[1, 0], [0, 1], [0, 1], [-1, 0]]
    assert [request["input"] for request in server.requests] == [
        ["passage: a", "passage: b"],
        ["passage: c", "passage: d"],
    ]


async def test_vectors_have_length_one_however_long_they_came() -> None:
    adapter, _ = embedder(data([1e-200, 1e-200], [1e200, -1e200]))
    for vector in await adapter.passages(["a", "b"]):
        assert math.hypot(*vector) == pytest.approx(1)


async def test_no_passages_ask_nobody() -> None:
    adapter, server = embedder()
    assert await adapter.passages([]) == []
    assert server.requests == []


async def test_vectors_of_another_length_are_another_embedder() -> None:
    adapter, _ = embedder(data([1, 2, 3]))
    with pytest.raises(EmbedderMismatch, match="3 dimensions, 2 were expected; correct"):
        await adapter.query("q")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (data(), "one embedding for each of 1"),
        (data([1, 0], [1, 0]), "one embedding"),
        ({"data": [{"index": 1, "embedding": [1, 0]}]}, "one embedding"),
        ({"data": [{"index": [], "embedding": [1, 0]}]}, "one embedding"),
        ({"data": "x"}, "one embedding"),
        ({"data": ["x"]}, "one embedding"),
        ({}, "one embedding"),
        (data("AAAA"), "no list of finite numbers"),
        (data([]), "no list of finite numbers"),
        (data([1, "0"]), "no list of finite numbers"),
        (data([1, None]), "no list of finite numbers"),
        (data([1, 10**400]), "no list of finite numbers"),
        (Fault(body=b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), "no list of finite numbers"),
        (data([0, 0]), r"length 0\.0"),
    ],
)
async def test_replies_that_are_no_vectors(reply: dict[str, Any] | Fault, said: str) -> None:
    adapter, _ = embedder(reply)
    with pytest.raises(ModelReplyInvalid, match=said):
        await adapter.query("q")


async def test_a_service_that_does_not_answer_is_a_failed_retrieval() -> None:
    adapter, _ = embedder(Fault(500), Fault(429, {"retry-after": "3"}), Fault(401))
    with pytest.raises(RetrievalFailed, match="HTTP 500") as caught:
        await adapter.query("q")
    assert caught.value.retry_after is None
    with pytest.raises(RetrievalFailed, match="HTTP 429") as caught:
        await adapter.passages(["p"])
    assert caught.value.retry_after == 3
    with pytest.raises(ModelRefused):
        await adapter.query("q")


@pytest.mark.parametrize("options", [{"batch": 0}, {"dimensions": 0}])
def test_settings_that_make_no_sense(options: dict[str, int]) -> None:
    client = ModelClient(base_url="http://model.test", clock=ManualClock())
    with pytest.raises(ValueError, match="batch >= 1 and dimensions >= 1"):
        HttpEmbedder(client, **({"model": "e", "dimensions": 2} | options))  # type: ignore[arg-type]  # by name
