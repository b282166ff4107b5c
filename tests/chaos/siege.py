"""Two hundred questions while something dies again and again, and what must be true afterwards."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clew_schema import ids, topics
from clew_schema.envelope import Envelope
from clew_schema.rdf import Triple
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.adapters.stores.trace_http import HttpTraceStore
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.errors import BusFailed
from clew_services.ports import Outgoing
from clew_translators import bus as wire
from clew_translators.trace import TraceUnreadable, read_trace
from tests.flow.proving import prove_stored

REQUESTS = 200
ROOT = Path(__file__).parents[2]
SPACE = TopicSpace()
STEPS = ("grading.grade", "document-rag.answer")


@dataclass
class Siege:
    """``folder`` for everything the services keep; ``broker``: URL and kind of one that somebody else runs.

    Without one the services bring their own pulsar-lite, which dies with them.
    """

    folder: Path
    broker: tuple[str, ...] = ()
    url: str = ""
    ops: str = ""
    answers: dict[str, set[str]] = field(default_factory=dict)
    errors: list[DocumentRagResponse] = field(default_factory=list)
    kills: int = 0
    _worker: asyncio.subprocess.Process | None = None

    @property
    def calls_file(self) -> Path:
        return self.folder / "calls.txt"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    async def start_worker(self) -> None:
        path = os.pathsep.join(str(ROOT / name) for name in (".", "schema", "translators", "services"))
        self._worker = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.chaos.worker",
            str(self.data),
            str(self.calls_file),
            *self.broker,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
        )
        assert self._worker.stdout is not None
        line = await asyncio.wait_for(self._worker.stdout.readline(), 60)
        assert line.startswith(b"ready "), (
            f"the worker said {line!r} and ended with {self._worker.returncode}"
        )
        _, self.url, self.ops = line.decode().split()

    async def kill_worker(self) -> None:
        assert self._worker is not None
        self._worker.kill()
        await self._worker.wait()
        self.kills += 1

    async def stop_worker(self) -> int:
        assert self._worker is not None
        if self._worker.returncode is None:
            self._worker.terminate()
        return await asyncio.wait_for(self._worker.wait(), 30)

    async def publish(self, bus: PulsarBus) -> None:
        for number in range(REQUESTS):
            body = _question(number)
            await bus.publish(
                Outgoing(
                    topic=SPACE.full("document-rag-request"),
                    payload=wire.encode(body),
                    key=body.session_id,
                    properties=Envelope(id=f"caller-{number}", message_id=f"request-{number}").properties(),
                )
            )

    async def listen(self, bus: PulsarBus) -> None:
        """Collect every final response as the bus gives it, duplicates included."""
        subscription = await bus.subscribe(SPACE.full("document-rag-response"), "siege", width=100)
        while True:
            try:
                delivery = await subscription.receive()
                body = wire.decode(topics.DOCUMENT_RAG_RESPONSE, delivery.payload)
                envelope = Envelope.of(delivery.properties)
                if body.error is not None:
                    self.errors.append(body)
                if body.end_of_session:
                    self.answers.setdefault(envelope.id, set()).add(envelope.message_id)
                await subscription.ack(delivery)
            except BusFailed:
                await asyncio.sleep(0.2)

    async def run(
        self,
        accident: Callable[[], Awaitable[None]],
        *,
        accidents: int,
        rng: random.Random,
    ) -> None:
        """Publish, let ``accident`` happen at moments spread over the work, and wait until all is answered."""
        await self.start_worker()
        bus = PulsarBus(self.url, lite=self.broker[1:] != ("real",))
        listening = asyncio.create_task(self.listen(bus))
        try:
            await self.publish(bus)
            for happened in range(accidents):
                target = REQUESTS * (happened + rng.random()) / (accidents + 1)
                await self._until_answered(target, 60)
                await asyncio.sleep(rng.random() * 0.05)
                await accident()
            await self._until_answered(REQUESTS, 120)
            await self._until_traced()
            await asyncio.sleep(0.5)  # whatever comes twice has come by now
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await bus.close()
            assert await self.stop_worker() == 0

    async def _until_traced(self) -> None:
        """Traces are written behind the answers: give them the time, as a reader would."""
        store = HttpTraceStore.at(self.ops)
        try:
            async with asyncio.timeout(60):
                for number in range(REQUESTS):
                    uri = f"urn:trustgraph:docrag:session-{number}"
                    while not _whole(await store.run("default", uri)):
                        await asyncio.sleep(0.1)
        finally:
            await store.close()

    async def _until_answered(self, count: float, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            while len(self.answers) < count:
                await asyncio.sleep(0.01)

    def calls(self) -> Counter[tuple[str, str]]:
        """(step, question) → how often its model was asked."""
        if not self.calls_file.exists():
            return Counter()
        return Counter(
            (kind, question)
            for kind, question in (line.split("\t") for line in self.calls_file.read_text().splitlines())
        )

    async def recorded(self) -> set[tuple[str, str]]:
        """(step, question) of every record in the ledger; call it while no worker runs."""
        ledger = SqlLedger(f"sqlite:///{self.data}/ledger.sqlite3")
        await ledger.open()
        try:
            found = set()
            for number in range(REQUESTS):
                cause = ids.cause(f"request-{number}", f"caller-{number}", wire.encode(_question(number)))
                for step in ("document-rag.plan", *STEPS):
                    record = await ledger.lookup(step, cause)
                    if record is None:
                        break
                    found.add((step, f"question {number}"))
                    cause = next(
                        Envelope.of(o.properties).message_id
                        for o in record.outputs
                        if not o.topic.endswith("explainability")
                    )
            return found
        finally:
            await ledger.close()

    async def check(self) -> None:
        """Two hundred answers, each once by message id; two hundred complete traces; no error."""
        assert not self.errors
        assert len(self.answers) == REQUESTS
        assert {len(ids) for ids in self.answers.values()} == {1}
        traces = OxigraphTraceStore(self.data / "traces")
        try:
            for number in range(REQUESTS):
                quads = await traces.run("default", f"urn:trustgraph:docrag:session-{number}")
                tree = read_trace(quads)
                assert _whole(quads)
                assert tree.question == f"question {number}"
                assert tree.answer == f"answer to question {number} [1]"
            assert await prove_stored(traces) == REQUESTS
        finally:
            await traces.close()


def _question(number: int) -> DocumentRagQuery:
    return DocumentRagQuery(query=f"question {number}", session_id=f"session-{number}", collection="default")


def _whole(quads: Sequence[Triple]) -> bool:
    if not quads:
        return False
    try:
        tree = read_trace(quads)
    except TraceUnreadable:
        return False
    return tree.state == "answered" and [step.kind for step in tree.steps] == [
        "plan",
        "retrieval",
        "grade",
        "answer",
    ]
