"""The cosines of a run, as its trace recorded them: what verifying citations measured then, it measures again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.facts import AnswerWritten, EvidenceRetrieved
from clew_services.core.statements import statements
from clew_services.errors import RetrievalFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_services.adapters.models.recorded_run import Recording


class RecordedEmbedder:
    """An Embedder whose cosines of sentences and chunks are those that were measured then.

    Each sentence has an axis of its own, and a chunk on that axis the similarity that was recorded. One that was out of
    order then, so that nothing was measured, is so again.
    """

    def __init__(self, recording: Recording) -> None:
        retrieved = recording.first(EvidenceRetrieved)
        self.name = retrieved.retrieval.embedder if retrieved else ""
        self._axes: dict[str, int] = {}
        self._measured: dict[str, dict[str, float]] = {}
        for fact in recording.facts:
            if isinstance(fact, AnswerWritten):
                self._learn(fact, recording)
        self.dimensions = max(1, len(self._axes))

    async def query(self, text: str) -> Sequence[float]:
        """The axis of a sentence; zero for one that was not measured. Raises RetrievalFailed where none was."""
        if not self._axes:
            raise RetrievalFailed("no cosine was recorded")
        axis = self._axes.get(text)
        return [1.0 if place == axis else 0.0 for place in range(self.dimensions)]

    async def passages(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """What was measured of each text on each axis."""
        return [[self._cosine(sentence, text) for sentence in self._axes] or [0.0] for text in texts]

    def _cosine(self, sentence: str, text: str) -> float:
        """As measured of ``text``, which may be the beginning of a chunk: what the writer read was cut to fit."""
        measured = self._measured.get(sentence, {})
        return measured.get(text) or next((v for whole, v in measured.items() if whole.startswith(text)), 0.0)

    def _learn(self, written: AnswerWritten, recording: Recording) -> None:
        spans = {(one.start, one.end): one.text for one in statements(written.text)}
        cited = {citation.number: citation.chunk_id for citation in written.citations}
        texts = {
            evidence.chunk_id: evidence.text
            for fact in recording.facts
            if isinstance(fact, EvidenceRetrieved)
            for evidence in fact.evidence
        }
        for check in written.checks:
            sentence = spans.get((check.start, check.end))
            chunk = texts.get(cited.get(check.number, ""))
            if sentence is not None and chunk is not None and check.similarity is not None:
                self._axes.setdefault(sentence, len(self._axes))
                self._measured.setdefault(sentence, {})[chunk] = check.similarity
