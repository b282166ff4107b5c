"""A grader that asks a chat model."""

from __future__ import annotations

from collections.abc import Sequence

from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import Mode
from clew_services.core.opinions import GradeOfEach, WholeGrade
from clew_services.core.prompts import GRADING, GRADING_EACH, grading_prompt
from clew_services.ports import Chat


class LlmGrader:
    """The Grader port on a chat model; ``name`` is the model's. Raises as Chat does.

    In mode improved it asks for an opinion on each piece of evidence too, and takes it well when there is none.
    """

    def __init__(self, chat: Chat, mode: Mode = "improved") -> None:
        self._each = mode == "improved"
        self.name = chat.name
        self.prompt_version = (GRADING_EACH if self._each else GRADING).version
        self._chat = chat

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """The model's grade of ``evidence``, as a whole and, where it says so, piece by piece."""
        prompt = grading_prompt(question, evidence, each=self._each)
        reply, _ = await self._chat.structured(prompt, GradeOfEach if self._each else WholeGrade)
        return reply.grade()
