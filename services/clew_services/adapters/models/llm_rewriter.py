"""A rewriter that asks a chat model."""

from __future__ import annotations

from collections.abc import Sequence

from clew_schema.evidence import Evidence
from clew_services.core.prompts import REWRITING, rewriting_prompt
from clew_services.core.rewriting import RewriteReply
from clew_services.ports import Chat


class LlmRewriter:
    """The Rewriter port on a chat model; ``name`` is the model's. Raises as Chat does."""

    def __init__(self, chat: Chat) -> None:
        self.name = chat.name
        self.prompt_version = REWRITING.version
        self.echoes = False
        self._chat = chat

    async def rewrite(self, question: str, evidence: Sequence[Evidence]) -> RewriteReply:
        """The model's rewrite, as it gave it; whether it is one is checked by ``core.rewriting.compose``."""
        reply, _ = await self._chat.structured(rewriting_prompt(question, evidence), RewriteReply)
        return reply
