"""A thinker that asks a chat model, in ReAct form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew_schema.agent import AgentStep
from clew_services.adapters.models.streams import closing
from clew_services.adapters.models.usage import total
from clew_services.core.agent import Thought, Tool
from clew_services.core.prompts import REACT, react_prompt, react_repair_prompt
from clew_services.core.react import ReactError, ReactParser, ThoughtText
from clew_services.errors import ModelReplyInvalid
from clew_services.ports import Chat, Emit, Prompt, Usage

_MAX_REPAIRED = 4000


class LlmThinker:
    """The Thinker port on a chat model; ``name`` is the model's. Raises as Chat does.

    A reply that is not in form is shown to the model again with what is wrong, at most ``repairs``
    times; then ModelReplyInvalid. Only the first reply's thought is emitted: a caller who streams
    sees no thought twice, and the final message has the thought that counts. Tokens are the sum.
    """

    def __init__(self, chat: Chat, *, repairs: int = 2) -> None:
        self.name = chat.name
        self.prompt_version = REACT.version
        self._chat = chat
        self._repairs = repairs

    async def think(
        self, question: str, history: Sequence[AgentStep], tools: Sequence[Tool], emit: Emit
    ) -> Thought:
        """The next act. A call may name a tool that does not exist: the agent tells the model so."""
        asked = prompt = react_prompt(question, history, tools)
        usage = Usage(model=self.name)
        problem = ""
        for attempt in range(1 + self._repairs):
            reading = _Reading()
            usage = total(usage, await self._read(prompt, reading, emit if attempt == 0 else _silent))
            if reading.problem is None:
                return replace(
                    reading.parser.result(),
                    model=usage.model,
                    in_token=usage.in_token,
                    out_token=usage.out_token,
                )
            problem = reading.problem
            prompt = react_repair_prompt(asked, reading.text[:_MAX_REPAIRED], problem)
        raise ModelReplyInvalid(
            f"{self.name}: no thought in ReAct form in {1 + self._repairs} replies; last: {problem}"
        )

    async def _read(self, prompt: Prompt, reading: _Reading, emit: Emit) -> Usage:
        """Stream one reply into ``reading``, to its end, because its usage comes last."""
        usage = Usage(model=self.name)
        async with closing(self._chat.stream(prompt)) as stream:
            async for piece in stream:
                if isinstance(piece, Usage):
                    usage = piece
                else:
                    for text in reading.feed(piece):
                        await emit(text)
        reading.close()
        return usage


class _Reading:
    """One reply as it is read. ``problem`` says why it is not in form, once it is known."""

    def __init__(self) -> None:
        self.parser = ReactParser()
        self.text = ""
        self.problem: str | None = None

    def feed(self, piece: str) -> list[str]:
        """The pieces of thought that are in ``piece``."""
        self.text += piece
        if self.problem is not None:
            return []
        try:
            return [event.text for event in self.parser.feed(piece) if isinstance(event, ThoughtText)]
        except ReactError as error:
            self.problem = str(error)
            return []

    def close(self) -> None:
        """The reply has ended. No thought comes so late: a reply in form ends with its act."""
        if self.problem is None:
            try:
                self.parser.close()
            except ReactError as error:
                self.problem = str(error)


async def _silent(text: str) -> None:
    """Emit nothing."""
