"""A reranker behind ``/v1/rerank``: Cohere's and Jina's interface, which vLLM, Infinity and others speak too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clew_services.adapters.models.json_reply import finite
from clew_services.adapters.models.model_http import ModelClient
from clew_services.errors import ModelReplyInvalid


class HttpReranker:
    """The Reranker port over HTTP. A reply is believed only if each index is known, and named once."""

    def __init__(self, client: ModelClient, *, model: str) -> None:
        self.name = model
        self._client = client

    async def rank(self, question: str, passages: Sequence[str]) -> list[tuple[int, float | None]]:
        """All ``passages`` by their index, best first; those that the service left out follow, without a score.

        Equal scores keep the order of ``passages``. Raises as ModelClient does, and ModelReplyInvalid for an
        index that is unknown or named twice, a score that is no finite number, or no result at all.
        """
        if not passages:
            return []
        body = {"model": self.name, "query": question, "documents": list(passages), "top_n": len(passages)}
        scores = self._scores(await self._client.post("rerank", body), len(passages))
        scored = sorted(scores, key=lambda index: (-scores[index], index))
        return [
            *((index, scores[index]) for index in scored),
            *((index, None) for index in range(len(passages)) if index not in scores),
        ]

    async def scores(self, question: str, passages: Sequence[str]) -> Sequence[float | None]:
        """One score per passage, in order; null for one that the service left out. Raises as ``rank`` does."""
        found = dict(await self.rank(question, passages))
        return [found[index] for index in range(len(passages))]

    async def reply(self, question: str, passages: Sequence[str], limit: int) -> object:
        """The service's reply as it came, asked for the ``limit`` best as SuperMew asks: nothing in it is checked."""
        return await self._client.post(
            "rerank",
            {
                "model": self.name,
                "query": question,
                "documents": list(passages),
                "top_n": limit,
                "return_documents": False,
            },
        )

    def _scores(self, answer: dict[str, Any], count: int) -> dict[int, float]:
        results = answer.get("results")
        if not isinstance(results, list) or not results:
            raise ModelReplyInvalid(f"{self.name}: a rerank reply without results")
        scores: dict[int, float] = {}
        for result in results:
            entry = result if isinstance(result, dict) else {}
            index, score = entry.get("index"), entry.get("relevance_score", entry.get("score"))
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
                raise ModelReplyInvalid(
                    f"{self.name}: index {str(index)[:20]} of a rerank result is not in 0..{count - 1}"
                )
            if index in scores:
                raise ModelReplyInvalid(f"{self.name}: passage {index} was scored twice")
            number = finite(score)
            if number is None:
                raise ModelReplyInvalid(f"{self.name}: the score of passage {index} is no finite number")
            scores[index] = number
        return scores
