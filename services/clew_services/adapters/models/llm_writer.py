"""A writer that asks a chat model."""

from __future__ import annotations

from collections.abc import Sequence

from clew_schema.evidence import Evidence
from clew_services.adapters.models.streams import closing
from clew_services.core.answer import Draft
from clew_services.core.prompts import ANSWER, answer_prompt
from clew_services.errors import ModelReplyInvalid
from clew_services.ports import Chat, Emit, Usage


class LlmWriter:
    """The Writer port on a chat model; ``name`` is the model's. Raises as Chat does.

    The draft quotes no spans: which part of a chunk supports a sentence, the model is not asked.
    """

    def __init__(self, chat: Chat) -> None:
        self.name = chat.name
        self.prompt_version = ANSWER.version
        self._chat = chat

    async def write(
        self,
        question: str,
        evidence: Sequence[Evidence],
        emit: Emit,
        *,
        gaps: Sequence[str] = (),
        assumptions: Sequence[str] = (),
    ) -> Draft:
        """The answer. What was emitted, joined, is its text but for whitespace around it."""
        pieces: list[str] = []
        usage = Usage(model=self.name)
        async with closing(
            self._chat.stream(answer_prompt(question, evidence, gaps=gaps, assumptions=assumptions))
        ) as stream:
            async for piece in stream:
                if isinstance(piece, Usage):
                    usage = piece
                else:
                    pieces.append(piece)
                    await emit(piece)
        text = "".join(pieces).strip()
        if not text:
            raise ModelReplyInvalid(f"{self.name}: an empty answer")
        return Draft(text=text, model=usage.model, in_token=usage.in_token, out_token=usage.out_token)
