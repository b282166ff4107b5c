"""Document-RAG under load: clients that ask one question after the other, and what that costs."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from clew_schema.agent import AgentRequest
from clew_schema.retrieval import DocumentRagQuery
from clew_services.client import Client
from clew_services.ports import Bus, Outgoing

QUESTION = "What reduction does the gearbox assembly of the second stage use?"


@dataclass(frozen=True)
class Figures:
    """What one run of a load measured. Times in milliseconds; CPU is this process's, per request."""

    clients: int
    requests: int
    p50: float
    p99: float
    rate: float
    cpu: float
    messages: float

    def row(self) -> str:
        return (
            f"{self.clients:>3} clients  p50 {self.p50:7.2f} ms  p99 {self.p99:7.2f} ms  "
            f"{self.rate:7.1f} requests/s  {self.cpu:5.2f} ms CPU  {self.messages:4.1f} messages"
        )


class Counting:
    """A bus that counts what is published through it."""

    def __init__(self, bus: Bus) -> None:
        self.published = 0
        self._publish = bus.publish
        self.subscribe = bus.subscribe
        self.unsubscribe = bus.unsubscribe
        self.ping = bus.ping
        self.close = bus.close

    async def publish(self, message: Outgoing) -> None:
        self.published += 1
        await self._publish(message)


async def ask_documents(client: Client, collection: str) -> None:
    """One document question."""
    response = await client.answer(DocumentRagQuery(query=QUESTION, collection=collection), timeout=60)
    if response.error is not None:
        raise RuntimeError(response.error.message)


async def ask_agent(client: Client, collection: str) -> None:
    """One agent question, with one use of the document tool."""
    async for heard in client.agent(AgentRequest(question=QUESTION, collection=collection), timeout=60):
        if heard.body.error is not None:
            raise RuntimeError(heard.body.error.message)


async def load(
    bus: Counting,
    client: Client,
    *,
    clients: int,
    requests: int,
    collection: str,
    ask: Callable[[Client, str], Awaitable[None]] = ask_documents,
) -> Figures:
    """``requests`` questions from ``clients`` clients, closed loop."""
    took: list[float] = []
    left = iter(range(requests))

    async def one() -> None:
        for _ in left:
            begun = time.perf_counter()
            await ask(client, collection)
            took.append((time.perf_counter() - begun) * 1000)

    published, cpu, wall = bus.published, _cpu(), time.perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    seconds = time.perf_counter() - wall
    cuts = statistics.quantiles(took, n=100)
    return Figures(
        clients=clients,
        requests=requests,
        p50=statistics.median(took),
        p99=cuts[98],
        rate=requests / seconds,
        cpu=(_cpu() - cpu) * 1000 / requests,
        messages=(bus.published - published) / requests,
    )


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
