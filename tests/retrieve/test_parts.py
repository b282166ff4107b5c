"""The settings become a retriever and its reranker; and the double that ships with the product."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from clew_schema.evidence import Evidence, Retrieval
from clew_services.adapters.models.chat_scripted import ScriptExhausted
from clew_services.adapters.models.rerank_embedded import EmbeddedReranker
from clew_services.adapters.models.rerank_http import HttpReranker
from clew_services.adapters.models.retriever_scripted import ScriptedRetriever
from clew_services.errors import RetrievalFailed
from clew_services.ports import Found, Reranker, Search
from clew_services.retrieve import EvidenceRetriever, Policy, RepliesRaw
from clew_services.runtime.clock import ManualClock
from clew_services.settings import Settings
from clew_services.wiring import Parts
from clew_services.wiring.retrieval import EMBEDDED, policy, reranker

URL = "http://ranker.test"


def made(**fields: Any) -> tuple[Reranker | None, list[Any]]:
    """The reranker of these settings, and what is to be closed."""
    kept: list[Any] = []

    def keep(part: Any) -> Any:
        kept.append(part)
        return part

    return reranker(Settings(**fields), ManualClock(), keep), kept


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, type(None)),
        ({"rerank_url": URL}, HttpReranker),
        ({"rerank_url": URL, "reranker": "none"}, type(None)),
        ({"rerank_url": URL, "reranker": "embedded"}, EmbeddedReranker),
        ({"rerank_url": "https://your-rerank-host", "rerank_model": "m"}, type(None)),
        ({"rerank_url": URL, "mode": "strict"}, type(None)),  # SuperMew wants model and key, too
        ({"rerank_url": URL, "mode": "strict", "rerank_model": "m", "rerank_key": "your_key"}, type(None)),
        ({"rerank_url": URL, "mode": "strict", "rerank_model": "m", "rerank_key": "k"}, HttpReranker),
    ],
)
def test_which_reranker_the_settings_mean(fields: dict[str, Any], kind: type[object]) -> None:
    assert type(made(**fields)[0]) is kind


@pytest.mark.parametrize("url", [URL, f"{URL}/", f"{URL}/v1/rerank", f"{URL}/v1/rerank/"])
async def test_the_reranker_s_address_is_not_doubled(url: str) -> None:
    _, (client,) = made(rerank_url=url)
    assert client.where == f"{URL}/v1"
    await client.close()


def test_what_strict_mode_reads_raw_is_told_by_its_method() -> None:
    assert isinstance(made(rerank_url=URL)[0], RepliesRaw)
    assert not isinstance(EmbeddedReranker(), RepliesRaw)


def test_the_policy_is_the_settings() -> None:
    fields: dict[str, Any] = {
        "mode": "strict",
        "doc_limit": 5,
        "candidate_k": 20,
        "candidate_multiplier": 4,
        "fusion": "zscore",
        "merge": False,
        "merge_threshold": 3,
    }
    assert policy(Settings(**fields)) == Policy(**fields, reranking=policy(Settings()).reranking)
    told = policy(Settings(rerank_url=URL, rerank_model="m", rerank_min_score=0.5)).reranking
    assert (told.endpoint, told.model_set, told.minimum_score) == (f"{URL}/v1/rerank", "m", 0.5)
    told = policy(Settings(rerank_url=URL, rerank_model="m", reranker="embedded")).reranking
    assert (told.endpoint, told.model_set) == ("", EMBEDDED)
    assert EmbeddedReranker.name == EMBEDDED


async def test_the_parts_have_one_retriever(tmp_path: Path) -> None:
    parts = Parts(Settings(data=tmp_path, embedder="hashing", reranker="embedded"))
    found = await parts.retriever()
    assert isinstance(found, EvidenceRetriever)
    assert isinstance(found.reranker, EmbeddedReranker)
    assert await parts.retriever() is found
    await parts.close()
    given = ScriptedRetriever([])
    assert await Parts(Settings(data=tmp_path), retriever=given).retriever() is given


# --- the double -----------------------------------------------------------------------------------


PIECES = tuple(Evidence(chunk_id=name) for name in "abc")


async def test_the_scripted_retriever_says_what_it_was_told() -> None:
    whole = Found(evidence=PIECES, retrieval=Retrieval(mode="dense_fallback"))
    retriever = ScriptedRetriever([whole, PIECES, RetrievalFailed("down")])
    assert await retriever.retrieve("c", Search.of("q")) is whole
    found = await retriever.retrieve("c", Search.of("r"), doc_limit=2, fetch_limit=7)
    assert [(e.chunk_id, e.rank) for e in found.evidence] == [("a", 1), ("b", 2)]
    assert (found.retrieval.recall_count, found.retrieval.kept_count) == (3, 2)
    with pytest.raises(RetrievalFailed, match="down"):
        await retriever.retrieve("c", Search.of("s"))
    with pytest.raises(ScriptExhausted, match="call 4"):
        await retriever.retrieve("c", Search.of("t"))
    assert [(c, s.question, d, f) for c, s, d, f in retriever.calls[:2]] == [
        ("c", "q", 0, 0),
        ("c", "r", 2, 7),
    ]


async def test_the_scripted_retriever_can_be_a_function_and_take_its_time() -> None:
    clock = ManualClock()
    retriever = ScriptedRetriever(
        lambda search: PIECES if search.question == "q" else (), clock=clock, delay=2
    )
    asking = [asyncio.ensure_future(retriever.retrieve("c", Search.of(question))) for question in ("q", "r")]
    await asyncio.sleep(0)  # both begin
    await clock.advance(1)
    assert not any(each.done() for each in asking)
    await clock.advance(1)
    assert [len(found.evidence) for found in await asyncio.gather(*asking)] == [3, 0]
    with pytest.raises(ValueError, match="needs a clock"):
        ScriptedRetriever([], delay=1)
