"""A grader that asks a chat model."""

from __future__ import annotations

from collections.abc import Sequence

from clew_schema.evidence import Evidence, Grade
from clew_services.core.prompts import GRADING, grading_prompt
from clew_services.ports import Chat


class LlmGrader:
    """The Grader port on a chat model; ``name`` is the model's. Raises as Chat does."""

    def __init__(self, chat: Chat) -> None:
        self.name = chat.name
        self.prompt_version = GRADING.version
        self._chat = chat

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """The model's grade of ``evidence``, as a whole."""
        grade, _ = await self._chat.structured(grading_prompt(question, evidence), Grade)
        return grade
