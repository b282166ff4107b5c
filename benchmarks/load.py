"""Document-RAG under load: clients that ask one question after the other, and what that costs."""

from __future__ import annotations

import asyncio
import resource
import statistics
import time
from dataclasses import dataclass

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


async def load(bus: Counting, client: Client, *, clients: int, requests: int, collection: str) -> Figures:
    """``requests`` questions from ``clients`` clients, closed loop."""
    took: list[float] = []
    left = iter(range(requests))

    async def one() -> None:
        for _ in left:
            begun = time.perf_counter()
            query = DocumentRagQuery(query=QUESTION, collection=collection)
            response = await client.answer(query, timeout=60)
            if response.error is not None:
                raise RuntimeError(response.error.message)
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
