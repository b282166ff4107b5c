"""Runs a vector's retrieval through the pure functions, with its scripted stores and reranker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clew_schema.evidence import Evidence, RetrievalMode
from clew_services.core import candidates, merging, ranking, retrieving
from clew_services.core.merging import Candidate, Merging
from clew_services.core.retrieving import Asked, Counts, Report, Reranking
from clew_services.errors import ModelFailed, ModelReplyInvalid
from tests.core import supermew

TEXTS = {"l3": "leaf", "l2": "mid", "l1": "top"}
PARENTS = {"l2-1": "l1-1", "l2-2": "l1-1"}
"""What the vectors' parent store knows of the parents' own parents."""


def candidate(doc: dict[str, Any]) -> Candidate:
    level, _, number = doc["chunk_id"].partition("-")
    found = supermew.evidence({"text": f"{TEXTS[level]}{number}"} | doc)
    return Candidate(evidence=found, parent_id=doc.get("parent_chunk_id") or "")


def parent(chunk_id: str) -> Candidate:
    return candidate({"chunk_id": chunk_id, "parent_chunk_id": PARENTS.get(chunk_id)})


def asked(env: dict[str, str], top_k: int) -> Asked:
    return Asked(
        top_k=top_k,
        pool=candidates.pool(
            top_k,
            configured=env.get("RETRIEVAL_CANDIDATE_K"),
            multiplier=env.get("RETRIEVAL_CANDIDATE_MULTIPLIER"),
        ),
        reranking=Reranking(
            model=env.get("RERANK_MODEL", ""),
            host=env.get("RERANK_BINDING_HOST", ""),
            key=env.get("RERANK_API_KEY", ""),
            timeout_seconds=float(env.get("RERANK_TIMEOUT_SECONDS", "5")),
            minimum_score=float(env.get("RERANK_MIN_SCORE", "0")),
        ),
        merge_enabled=merging.is_enabled(env.get("AUTO_MERGE_ENABLED", "true")),
        merge_threshold=int(env.get("AUTO_MERGE_THRESHOLD", "2")),
    )


def merge(
    found: list[dict[str, Any]], how: Asked, store: list[str] | None = None
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

    def run(self) -> tuple[tuple[Evidence, ...], Report]:
        how = asked(self.given["env"], self.given["top_k"])
        if self.given["embedding"] != "ok":
            return (), retrieving.failed(how, "embedding_failed")
        legs: tuple[tuple[str, RetrievalMode], ...] = (("hybrid", "hybrid"), ("dense", "dense_fallback"))
        for leg, mode in legs:
            self.store_calls.append([leg, how.pool.candidate_k, f"chunk_level == {how.leaf_level}"])
            if self.given[leg] == "raise":
                continue
            try:
                return self.ranked(self.given[leg], how, mode)
            except ModelReplyInvalid:
                continue
        return (), retrieving.failed(how, "retrieve_failed")

    def ranked(
        self, found: list[dict[str, Any]], how: Asked, mode: RetrievalMode
    ) -> tuple[tuple[Evidence, ...], Report]:
        merged, _ = merge(found, how)
        evidence = ranking.numbered(each.evidence for each in merged.candidates)
        attempted, error = how.reranking.enabled and bool(evidence), None
        best = ranking.by_score(evidence, how.top_k)
        if attempted:
            try:
                lines = ranking.read_rerank(self.post(evidence, how), len(evidence))
                error = None if lines else "empty_rerank_results"
                best = ranking.reranked(evidence, lines, how.top_k) if lines else best
            except ModelFailed as failure:
                error = str(failure)
        kept = ranking.above(best, how.reranking.minimum_score)
        counts = Counts(
            recalled=len(found),
            reranked=len(best),
            above_threshold=len(kept),
            rerank_attempted=attempted,
            rerank_error=error,
        )
        return kept, retrieving.succeeded(how, counts, merged, mode)

    def post(self, evidence: tuple[Evidence, ...], how: Asked) -> object:
        self.rerank_posts.append(
            {
                "url": how.reranking.endpoint,
                "json": {
                    "model": how.reranking.model,
                    "query": self.given["query"],
                    "documents": [each.text for each in evidence],
                    "top_n": min(how.top_k, len(evidence)),
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
