"""The embedded reranker: no model, no network; passages by how much of the question's words they say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_services.core.reranking import coverage_scores

if TYPE_CHECKING:
    from collections.abc import Sequence


class EmbeddedReranker:
    """The Reranker port by :func:`coverage_scores`. Never fails; the passages' order counts, best first."""

    name = "embedded-coverage"

    async def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """One score per passage, in order, between 0 and 2."""
        return coverage_scores(question, passages)
