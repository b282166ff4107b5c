"""A planner that asks a chat model."""

from __future__ import annotations

from clew_services.core.complexity import PlanReply
from clew_services.core.prompts import PLANNING, planning_prompt
from clew_services.ports import Chat


class LlmPlanner:
    """The Planner port on a chat model; ``name`` is the model's. Raises as Chat does."""

    def __init__(self, chat: Chat) -> None:
        self.name = chat.name
        self.prompt_version = PLANNING.version
        self._chat = chat

    async def plan(self, question: str) -> PlanReply:
        """The model's plan, as it gave it."""
        reply, _ = await self._chat.structured(planning_prompt(question), PlanReply)
        return reply
