"""Many requests to one process, for long: does anything grow that should not?

All services, pulsar-lite, SQLite and the trace store on disk; models are instant. What was kept of old runs and old
records is swept while it goes on, so that every figure has to become flat.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew_schema import topics
from clew_schema.agent import AgentRequest
from clew_schema.base import Message
from clew_schema.envelope import Envelope
from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.application import Application
from clew_services.errors import BusFailed
from clew_services.ports import Delivery, Outgoing, TraceFilter
from clew_services.runtime.observe import configure_logging
from clew_services.settings import Settings
from clew_translators import bus as wire
from clew_translators.validating import validate
from tests.chaos.worker import Calls, NotingGrader, NotingWriter, prepare, vectors
from tests.promise.history import digest

SERVICES = ("document-rag", "grading", "agent", "trace-store", "dead-letters", "cancel")
OPEN = 48
"""Requests under way at a time."""
REMEMBERED = 20_000
"""Answers whose ids are remembered, to know one that comes again from a second one."""
PROVEN = 25
"""Traces that are proven in the end."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the process holds after so many answers. Bytes, counts, seconds since the beginning."""

    answers: int
    seconds: float
    resident: int
    descriptors: int
    threads: int
    ledger: int


@dataclass
class Soak:
    """``folder`` for everything; ``looks`` says after how many answers to look."""

    folder: Path
    requests: int
    looks: list[Look] = field(default_factory=list)
    lost: int = 0
    duplicated: int = 0
    errors: int = 0
    invalid: int = 0
    largest_displacement: int = 0
    _open: dict[str, int] = field(default_factory=dict)
    _known: OrderedDict[str, tuple[str, str]] = field(default_factory=OrderedDict)
    _answers: int = 0
    _free: asyncio.Event = field(default_factory=asyncio.Event)
    _begun: float = 0.0

    async def run(self, *, every: int) -> None:
        """Ask, answer, look every so many answers, and prove some traces."""
        configure_logging("error")
        data = self.folder / "data"
        data.mkdir(parents=True)
        settings = Settings(
            data=data, embedder="hashing", ledger_hours=20 / 3600, trace_retention_runs=500, max_iterations=3
        )
        await prepare(settings.database("catalog"))
        nowhere = Calls(Path("/dev/null"))  # not scripted models: they keep every call
        application = Application(
            settings,
            SERVICES,
            vectors=await vectors(),
            embedder=HashingEmbedder(),
            grader=NotingGrader(nowhere),
            writer=NotingWriter(nowhere),
        )
        async with application:
            assert application.parts is not None
            bus = PulsarBus(application.parts.broker_url, lite=True)
            listening = [
                asyncio.create_task(self._listen(bus, topic))
                for topic in (topics.DOCUMENT_RAG_RESPONSE, topics.AGENT_RESPONSE)
            ]
            try:
                await self._ask(bus, every)
            finally:
                for task in listening:
                    task.cancel()
                await asyncio.gather(*listening, return_exceptions=True)
                await bus.close()
            await self._prove(application)

    async def _ask(self, bus: PulsarBus, every: int) -> None:
        self._begun, seen = time.monotonic(), 0
        for number in range(self.requests):
            while len(self._open) >= OPEN:
                self._free.clear()
                await asyncio.wait_for(self._free.wait(), 60)
            await self._publish(bus, number)
            if self._answers // every > seen:
                seen = self._answers // every
                self.looks.append(self._look())
        try:
            async with asyncio.timeout(120):
                while self._open:
                    self._free.clear()
                    await self._free.wait()
        except TimeoutError:
            self.lost = len(self._open)
        self.looks.append(self._look())

    async def _publish(self, bus: PulsarBus, number: int) -> None:
        name = f"soak-{number}"
        body: Message = DocumentRagQuery(query=f"question {number % 97}", session_id=name)
        topic: topics.Topic[Any] = topics.DOCUMENT_RAG_REQUEST
        if number % 10 == 9:
            body, topic = AgentRequest(question="What is it?", session_id=name), topics.AGENT_REQUEST
        self._open[name] = number
        await bus.publish(
            Outgoing(
                topic=topics.TopicSpace().full(topic.name),
                payload=wire.encode(body),
                key=name,
                properties=Envelope(id=name, message_id=name).properties(),
            )
        )

    async def _listen(self, bus: PulsarBus, topic: topics.Topic[Any]) -> None:
        source = await bus.subscribe(topics.TopicSpace().full(topic.name), "soak", width=200)
        while True:
            try:
                delivery = await source.receive()
                self._hear(topic, delivery)
                await source.ack(delivery)
            except BusFailed:
                await asyncio.sleep(0.1)

    def _hear(self, topic: topics.Topic[Any], delivery: Delivery) -> None:
        body = wire.decode(topic.body, delivery.payload)
        if not (getattr(body, "end_of_session", False) or getattr(body, "end_of_dialog", False)):
            return
        envelope = Envelope.of(delivery.properties)
        name, known = envelope.id, (envelope.message_id, digest(delivery.payload))
        if name in self._open:
            asked = self._open.pop(name)
            self.largest_displacement = max(self.largest_displacement, abs(asked - self._answers))
            self._known[name] = known
            self._answers += 1
            self.errors += getattr(body, "error", None) is not None
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        elif self._known.get(name) != known:
            self.duplicated += 1
        self._free.set()

    def _look(self) -> Look:
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return Look(
            answers=self._answers,
            seconds=time.monotonic() - self._begun,
            resident=int(status["VmRSS"].split()[0]) * 1024,
            descriptors=sum(1 for _ in Path("/proc/self/fd").iterdir()),
            threads=threading.active_count(),
            ledger=sum(file.stat().st_size for file in (self.folder / "data").glob("ledger.sqlite3*")),
        )

    async def _prove(self, application: Application) -> None:
        """The newest traces, once they are all there."""
        assert application.parts is not None
        store = await application.parts.traces()
        async with asyncio.timeout(120):
            while True:
                rows = await store.list("default", limit=PROVEN, where=TraceFilter())
                if rows and all(row.state != "running" for row in rows):
                    break
                await asyncio.sleep(0.2)
        for row in rows:
            self.invalid += bool(validate(await store.run("default", row.session_uri)).findings)

    def broken(self) -> list[str]:
        """Which bound was not kept, between the first look that counts and the last."""
        first = next(
            (look for look in self.looks if look.answers >= min(5_000, self.requests // 2)), self.looks[0]
        )
        last = self.looks[-1]
        bounds = {
            "memory grew by more than 5 %": last.resident > first.resident * 1.05,
            "file descriptors grew": last.descriptors > first.descriptors + 8,
            "threads grew": last.threads > first.threads + 2,
            "the ledger grew": last.ledger > max(4 * 2**20, first.ledger * 2),
            "requests were lost": self.lost > 0,
            "answers were duplicated": self.duplicated > 0,
            "answers were errors": self.errors > 0,
            "traces are invalid": self.invalid > 0,
        }
        return [name for name, is_broken in bounds.items() if is_broken]
