"""An agent with a tool of our own, on the bus in memory: ``python add_a_tool.py``."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from clew_schema import AgentRequest, topics
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.models.chat_scripted import ScriptedThinker
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.client import Client
from clew_services.core.agent import Thought, Tool
from clew_services.handlers.agent import Think
from clew_services.runtime.observe import configure_logging
from clew_services.runtime.respond import AgentCaller
from clew_services.runtime.service import Service
from clew_services.runtime.step import Step
from clew_services.settings import Settings
from clew_services.wiring import Parts

WEEK_DAY = Tool(
    name="week-day",
    description="Say on which day of the week a date falls.",
    arguments={"date": "the date as YYYY-MM-DD"},
)


@dataclass(frozen=True, slots=True)
class WeekDay:
    """A LocalTool: what the model sees of it, and a call. It raises a ClewError when it fails."""

    tool: Tool = WEEK_DAY

    async def call(self, arguments: Mapping[str, str]) -> str:
        return datetime.fromisoformat(arguments["date"]).replace(tzinfo=UTC).strftime("%A")


async def main() -> None:
    # In the product the thinker is a chat model; a script says what one would.
    thinker = ScriptedThinker(
        [
            Thought(thought="I need the day.", action="week-day", arguments={"date": "2024-02-29"}),
            Thought(thought="I know.", final="It was a Thursday."),
        ]
    )
    bus = MemoryBus()
    parts = Parts(Settings(embedder="hashing"), bus=bus, ledger=MemoryLedger())
    think = Step(
        name="agent.think",
        topic=topics.AGENT_REQUEST,
        handle=Think(thinker, local=(WeekDay(),)),
        caller=AgentCaller(),
    )
    service = Service([think], await parts.processor())
    await service.start()
    async with Client(bus) as client:
        async for heard in client.agent(AgentRequest(question="Which day was 2024-02-29?"), timeout=10):
            print(heard.body.message_type, "-", heard.body.content)
    await service.stop()
    await parts.close()


configure_logging("error")
asyncio.run(main())
