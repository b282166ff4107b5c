"""An embedder behind ``/v1/embeddings``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clew_services.adapters.models.json_reply import finite
from clew_services.adapters.models.model_http import ModelClient
from clew_services.errors import (
    EmbedderMismatch,
    ModelBusy,
    ModelFailed,
    ModelReplyInvalid,
    RetrievalFailed,
)


class HttpEmbedder:
    """The Embedder port over HTTP; vectors are scaled to length 1.

    ``query_prefix`` and ``passage_prefix`` are put before texts, for models that were trained with them
    (``query: ``). Passages are sent ``batch`` at a time, one batch after the other.

    Raises RetrievalFailed when the service does not answer, ModelRefused when it will not (a key, a model's
    name), ModelReplyInvalid for a reply that is no list of vectors, and EmbedderMismatch for vectors
    of another length than ``dimensions``.
    """

    def __init__(
        self,
        client: ModelClient,
        *,
        model: str,
        dimensions: int,
        batch: int = 32,
        query_prefix: str = "",
        passage_prefix: str = "",
    ) -> None:
        if batch < 1 or dimensions < 1:
            raise ValueError(f"expected batch >= 1 and dimensions >= 1, got {batch} and {dimensions}")
        self.name = model
        self.dimensions = dimensions
        self._client = client
        self._batch = batch
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix

    async def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        return (await self._vectors([self._query_prefix + text]))[0]

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors of passages, in order."""
        prefixed = [self._passage_prefix + text for text in texts]
        vectors: list[Sequence[float]] = []
        for start in range(0, len(prefixed), self._batch):
            vectors += await self._vectors(prefixed[start : start + self._batch])
        return vectors

    async def _vectors(self, texts: list[str]) -> list[Sequence[float]]:
        body = {"model": self.name, "input": texts, "encoding_format": "float"}
        try:
            answer = await self._client.post("embeddings", body)
        except ModelFailed as error:
            failed = RetrievalFailed(f"the embedder did not answer: {error}")
            failed.retry_after = error.retry_after if isinstance(error, ModelBusy) else None
            raise failed from error
        entries = answer.get("data")
        vectors = entries if isinstance(entries, list) else []
        # Indexes as text: an index may be anything, a list too.
        found = {
            str(entry.get("index")): entry.get("embedding") for entry in vectors if isinstance(entry, dict)
        }
        if len(vectors) != len(texts) or set(found) != {str(index) for index in range(len(texts))}:
            raise ModelReplyInvalid(f"{self.name}: expected one embedding for each of {len(texts)} texts")
        return [self._unit(found[str(index)]) for index in range(len(texts))]

    def _unit(self, embedding: object) -> list[float]:
        numbers = [finite(x) for x in embedding] if isinstance(embedding, list) else []
        vector = [x for x in numbers if x is not None]
        if not vector or len(vector) != len(numbers):
            raise ModelReplyInvalid(f"{self.name}: an embedding that is no list of finite numbers")
        if len(vector) != self.dimensions:
            raise EmbedderMismatch(
                f"{self.name} makes vectors of {len(vector)} dimensions, {self.dimensions} were expected; "
                "correct the embedder's settings, or ingest into a new collection"
            )
        length = math.hypot(*vector)
        if not 0 < length < math.inf:
            raise ModelReplyInvalid(f"{self.name}: an embedding of length {length}")
        return [x / length for x in vector]
