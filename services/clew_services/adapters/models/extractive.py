"""The embedded reader: a grader and a writer that need no model, no key and no network. See ``core.extractive``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_services.core.answer import Draft
from clew_services.core.extractive import choose, compose, judge, rank_sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.evidence import Evidence, Grade
    from clew_services.ports import Emit


class ExtractiveGrader:
    """A Grader: coverage of the question's words and the cosine of the best chunk, against thresholds.

    Deterministic and instant (0.3 ms for 8 chunks). Cosines differ by model, so it is told which one made them.
    """

    name = "extractive"
    prompt_version = ""

    def __init__(self, embedder: str) -> None:
        """``embedder``: the name of the embedder that the evidence was retrieved with."""
        self._embedder = embedder

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """A grade whose reason gives the numbers it rests on. Never raises."""
        return judge(question, evidence, self._embedder)


class ExtractiveWriter:
    """A Writer: the best one to three sentences, word for word, each with its ``[n]`` and its quote."""

    name = "extractive"
    prompt_version = ""

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        """The answer, emitted sentence by sentence; empty when the evidence holds none. Raises what ``emit`` does."""
        pieces, quotes = compose(choose(rank_sentences(question, evidence)))
        for piece in pieces:
            await emit(piece)
        return Draft(text="".join(pieces), quotes=quotes)
