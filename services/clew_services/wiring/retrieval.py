"""How the settings become a policy of retrieval and its reranker; part of ``wiring``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew_services.core.retrieving import Reranking
from clew_services.retrieve import EvidenceRetriever, Policy

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew_services.ports import Clock, Reranker, Retriever
    from clew_services.settings import Settings
    from clew_services.wiring import Parts

EMBEDDED = "embedded-coverage"
"""What the trace calls the embedded reranker."""


async def retriever(parts: Parts) -> Retriever:
    """The retriever over the other parts."""
    return EvidenceRetriever(
        catalog=await parts.catalog(),
        vectors=await parts.vectors(),
        embedder=await parts.embedder(),
        reranker=await parts.reranker(),
        policy=policy(parts.settings),
    )


def policy(settings: Settings) -> Policy:
    """The settings of a retrieval, in one value."""
    return Policy(
        mode=settings.mode,
        doc_limit=settings.doc_limit,
        candidate_k=settings.candidate_k,
        candidate_multiplier=settings.candidate_multiplier,
        fusion=settings.fusion,
        merge=settings.merge,
        merge_threshold=settings.merge_threshold,
        reranking=_reranking(settings),
    )


def reranker(settings: Settings, clock: Clock, keep: Callable[[Any], Any]) -> Reranker | None:
    """The one that the settings name, if any; ``keep`` is given what has to be closed.

    In mode strict a reranker over HTTP needs address, model and key, as in SuperMew; in mode improved the
    address is enough. Values that an example configuration left there count as none.
    """
    if settings.reranker == "embedded":
        from clew_services.adapters.models.rerank_embedded import EmbeddedReranker

        return EmbeddedReranker()
    told = _reranking(settings)
    wanted = told.enabled if settings.mode == "strict" else bool(told.endpoint)
    if settings.reranker == "none" or not wanted:
        return None
    from clew_services.adapters.models.model_http import ModelClient, Timeouts
    from clew_services.adapters.models.rerank_http import HttpReranker

    wait = told.patience
    client = ModelClient(
        base_url=told.endpoint.removesuffix("/rerank"),
        clock=clock,
        api_key=told.key_set,
        timeouts=Timeouts(connect=min(wait, 5.0), read=wait, total=wait),
        concurrency=settings.model_concurrency,
    )
    return HttpReranker(keep(client), model=told.model_set)


def _reranking(settings: Settings) -> Reranking:
    by_http = settings.reranker == "auto"
    return Reranking(
        model=EMBEDDED if settings.reranker == "embedded" else settings.rerank_model if by_http else "",
        host=settings.rerank_url if by_http else "",
        key=settings.rerank_key.get_secret_value(),
        timeout_seconds=settings.rerank_timeout,
        minimum_score=settings.rerank_min_score,
    )
