"""Runs a vector's retrieval through the pure functions, with its scripted stores and reranker."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from clew_schema import evidence
from clew_schema.evidence import Evidence, RetrievalMode, ScoreKind
from clew_services.core import candidates, merging, ranking, retrieving
from clew_services.core.merging import Merging
from clew_services.core.retrieving import EMPTY_REPLY, Attempt, Plan, Reranking
from clew_services.errors import ModelFailed, ModelReplyInvalid
from tests.core import supermew

TEXTS = {"l3": "leaf", "l2": "mid", "l1": "top"}
PARENTS = {"l2-1": "l1-1", "l2-2": "l1-1"}
"""What the vectors' parent store knows of the parents' own parents."""


def candidate(doc: dict[str, Any]) -> Evidence:
    level, _, number = doc["chunk_id"].partition("-")
    found = supermew.evidence({"text": f"{TEXTS[level]}{number}"} | doc)
    return found.model_copy(update={"parent_id": doc.get("parent_chunk_id") or ""})


def parent(chunk_id: str) -> Evidence:
    return candidate({"chunk_id": chunk_id, "parent_chunk_id": PARENTS.get(chunk_id)})


def plan(env: dict[str, str], top_k: int) -> Plan:
    reranking = Reranking(
        model=env.get("RERANK_MODEL", ""),
        host=env.get("RERANK_BINDING_HOST", ""),
        key=env.get("RERANK_API_KEY", ""),
        timeout_seconds=float(env.get("RERANK_TIMEOUT_SECONDS", "5")),
        minimum_score=float(env.get("RERANK_MIN_SCORE", "0")),
    )
    return Plan(
        top_k=top_k,
        pool=candidates.pool(
            top_k,
            configured=env.get("RETRIEVAL_CANDIDATE_K"),
            multiplier=env.get("RETRIEVAL_CANDIDATE_MULTIPLIER"),
        ),
        reranking=reranking,
        reranks=reranking.enabled,
        merge_enabled=merging.is_enabled(env.get("AUTO_MERGE_ENABLED", "true")),
        merge_threshold=int(env.get("AUTO_MERGE_THRESHOLD", "2")),
    )


def merge(
    found: list[dict[str, Any]], how: Plan, store: list[str] | None = None
) -> tuple[Merging, list[list[str]]]:
    """The merged candidates, and which parents were looked up; without `store` every parent "l..." exists."""
    state = Merging(candidates=tuple(map(candidate, found)))
    lookups: list[list[str]] = []
    for _ in range(merging.PASSES if how.merge_enabled else 0):
        needed = merging.needed_parents(state.candidates, how.merge_threshold)
        if needed:
            lookups.append(list(needed))
        known = {each: parent(each) for each in needed if each in (needed if store is None else store)}
        state = merging.merge(state, known, how.merge_threshold)
    return state, lookups


@dataclass
class Retrieval:
    """One vector's retrieval, and what it asked of the outside."""

    given: dict[str, Any]
    store_calls: list[list[Any]] = field(default_factory=list)
    rerank_posts: list[dict[str, Any]] = field(default_factory=list)

    def run(self) -> tuple[tuple[Evidence, ...], evidence.Retrieval]:
        how = plan(self.given["env"], self.given["top_k"])
        if self.given["embedding"] != "ok":
            return (), retrieving.failed(how, "embedding_failed")
        legs: tuple[tuple[str, RetrievalMode, ScoreKind], ...] = (
            ("hybrid", "hybrid", "rrf"),
            ("dense", "dense_fallback", "cosine"),
        )
        for leg, mode, fusion in legs:
            self.store_calls.append([leg, how.pool.candidate_k, f"chunk_level == {how.leaf_level}"])
            if self.given[leg] == "raise":
                continue
            try:
                return self.ranked(self.given[leg], replace(how, fusion=fusion), mode)
            except ModelReplyInvalid:
                continue
        return (), retrieving.failed(how, "retrieve_failed")

    def ranked(
        self, found: list[dict[str, Any]], how: Plan, mode: RetrievalMode
    ) -> tuple[tuple[Evidence, ...], evidence.Retrieval]:
        merged, _ = merge(found, how)
        attempt = None
        if how.reranks and merged.candidates:
            try:
                lines = ranking.read_rerank(self.post(merged.candidates, how), len(merged.candidates))
                attempt = Attempt(lines=lines, error=None if lines else EMPTY_REPLY)
            except ModelFailed as failure:
                attempt = Attempt(error=str(failure))
        ranked = retrieving.rank(how, merged.candidates, attempt)
        told = retrieving.succeeded(
            how, mode, recalled=len(found), merging=merged, given=len(merged.candidates), ranked=ranked
        )
        return ranked.evidence, told

    def post(self, pieces: tuple[Evidence, ...], how: Plan) -> object:
        self.rerank_posts.append(
            {
                "url": how.reranking.endpoint,
                "json": {
                    "model": how.reranking.model,
                    "query": self.given["query"],
                    "documents": [each.text for each in pieces],
                    "top_n": min(how.top_k, len(pieces)),
                    "return_documents": False,
                },
                "timeout": how.reranking.patience,
                "auth": f"Bearer {how.reranking.key}",
            }
        )
        response = self.given["rerank_response"]
        if isinstance(response, str):
            raise ModelFailed(response.removeprefix("raise:"))
        if response["status"] >= 400:
            raise ModelFailed(f"HTTP {response['status']}: {response['text']}")
        body: object = response["body"]
        return body
