"""A thinker without a model: look the question up once, then say what was found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clew_schema.agent import AgentStep
from clew_services.core.agent import Thought, Tool
from clew_services.ports import Emit

_MARK = re.compile(r"^(?:NEEDS_CLARIFICATION|NEEDS_SCOPE_SELECTION|NO_KNOWLEDGE|PARTIAL): ")
"""What a model is told of a tool's reply, and a person need not read."""

DOCUMENT_QUERY = "document-query"
"""The tool it uses, with the argument ``question``."""


class RuleThinker:
    """The Thinker port by rule, always the same for the same history. Raises nothing.

    Without steps so far it uses ``document-query`` if that is offered; with steps it concludes with the
    last observation, citations included, without the word that says what kind of reply it is; else it
    concludes that it has no tool.
    """

    name = "rule"
    prompt_version = ""

    async def think(
        self, question: str, history: Sequence[AgentStep], tools: Sequence[Tool], emit: Emit
    ) -> Thought:
        """The next act; its thought goes to ``emit`` in one piece."""
        decided = _decide(question, history, tools)
        await emit(decided.thought)
        return decided


def _decide(question: str, history: Sequence[AgentStep], tools: Sequence[Tool]) -> Thought:
    if history:
        said = _MARK.sub("", history[-1].observation.strip())
        if said:
            return Thought(thought="The documents were asked; this is what they say.", final=said)
        return Thought(
            thought="The tool said nothing.", final="The tool returned nothing, so there is no answer."
        )
    if any(tool.name == DOCUMENT_QUERY for tool in tools):
        return Thought(
            thought="I look the question up in the documents.",
            action=DOCUMENT_QUERY,
            arguments={"question": question},
        )
    return Thought(
        thought="No tool here can look the question up.",
        final=f"I cannot answer: the tool {DOCUMENT_QUERY} is not offered for this question.",
    )
