"""A small world for runtime tests: one step on a bus in memory, with a clock that a test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from clew_schema import topics
from clew_schema.envelope import Envelope
from clew_schema.errors import DeadLetter
from clew_schema.facts import AnswerWritten, Fact
from clew_schema.rdf import Triples
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_schema.topics import Topic, TopicSpace
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.core.retry import RetryPolicy
from clew_services.ports import Delivery, Emit, Ledger, Outgoing
from clew_services.runtime.brake import Brake
from clew_services.runtime.clock import ManualClock
from clew_services.runtime.consume import Consumer
from clew_services.runtime.observe import Observer
from clew_services.runtime.outcome import Outcome, Send
from clew_services.runtime.pack import Packer
from clew_services.runtime.process import Processor
from clew_services.runtime.respond import DocumentRagCaller
from clew_services.runtime.step import Step
from clew_translators import bus as wire
from clew_translators.explain.facts import facts_of

VERSION = "1.2.3"
"""Of the service, as its facts name it."""

Handler = Callable[[DocumentRagQuery], Awaitable[Outcome]]


class Log:
    """A structlog logger's shape that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, str, dict[str, object]]] = []

    def __getattr__(self, level: str) -> Callable[..., None]:
        def say(name: str, **values: object) -> None:
            self.events.append((level, name, values))

        return say

    def names(self) -> list[str]:
        return [name for _, name, _ in self.events]


def answered(query: DocumentRagQuery, text: str = "yes") -> Outcome:
    """A handler's whole decision: answer at once."""
    response = DocumentRagResponse(
        response=text, end_of_stream=True, end_of_session=True, message_type="end" if query.streaming else ""
    )
    fact = AnswerWritten(outcome="answer", text=text)
    return Outcome(send=(Send(topics.DOCUMENT_RAG_RESPONSE, response, to=query.reply),), facts=(fact,))


@dataclass
class World:
    """One step, ``document-rag.plan``, whose handler the test gives."""

    handler: Handler | None = None
    stream: Callable[[DocumentRagQuery, Emit], Awaitable[Outcome]] | None = None
    clock: ManualClock = field(default_factory=ManualClock)
    ledger: Ledger = field(default_factory=MemoryLedger)
    fail_publish: Callable[[Outgoing], bool] | None = None
    fail_ack: Callable[[Delivery], bool] | None = None
    honour_delays: bool = True
    width: int = 8
    brake: Brake = field(default_factory=Brake)
    silent_sessionless: bool = False
    always_explain: bool = False
    log: Log = field(default_factory=Log)
    asked: list[DocumentRagQuery] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.space = TopicSpace()
        self.bus = MemoryBus(
            self.clock,
            fail_publish=self.fail_publish,
            fail_ack=self.fail_ack,
            honour_delays=self.honour_delays,
        )
        self.processor = Processor(
            bus=self.bus,
            ledger=self.ledger,
            clock=self.clock,
            packer=Packer(space=self.space, always_explain=self.always_explain, version=VERSION),
            observer=Observer(log=self.log),
            policy=RetryPolicy(jitter=0),
            silent_sessionless=self.silent_sessionless,
        )
        self.consumer = self.new_consumer()

    def new_consumer(self, processor: Processor | None = None) -> Consumer:
        """Another process's consumer of the step, in effect; with a ``processor`` it shares nothing but the stores."""

        async def handle(query: DocumentRagQuery) -> Outcome:
            self.asked.append(query)
            return await self.handler(query) if self.handler else answered(query)

        step = Step(
            name="document-rag.plan",
            topic=topics.DOCUMENT_RAG_REQUEST,
            handle=handle,
            stream=self.stream,
            caller=DocumentRagCaller(),
            width=self.width,
        )
        return Consumer(step, processor or self.processor, self.brake)

    async def __aenter__(self) -> Self:
        await self.consumer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.consumer.stop()
        await self.bus.close()

    async def ask(self, body: DocumentRagQuery | bytes, **envelope: Any) -> None:
        payload = body if isinstance(body, bytes) else wire.encode(body)
        properties = Envelope(**({"id": "caller-1"} | envelope)).properties()
        await self.bus.publish(
            Outgoing(topic=self.space.full("document-rag-request"), payload=payload, properties=properties)
        )

    async def settle(self) -> None:
        """Let everything run that can run without time passing."""
        for _ in range(200):
            await asyncio.sleep(0)

    def told(self, name: str = "document-rag-response") -> list[tuple[DocumentRagResponse, Envelope]]:
        return [(b, e) for b, e in self.on(topics.DOCUMENT_RAG_RESPONSE, name)]

    def on(self, topic: Topic[Any], name: str = "") -> list[tuple[Any, Envelope]]:
        messages = self.bus.messages(self.space.full(name or topic.name))
        return [(wire.decode(topic.body, m.payload), Envelope.of(m.properties)) for m in messages]

    def letters(self) -> list[DeadLetter]:
        return [body for body, _ in self.on(topics.DEAD_LETTER)]

    def batches(self) -> list[Triples]:
        return [body for body, _ in self.on(topics.EXPLAINABILITY)]

    def facts(self) -> tuple[Fact, ...]:
        """Everything that was told of the one run."""
        return facts_of([triple for batch in self.batches() for triple in batch.triples])

    def backlog(self) -> int:
        return self.bus.backlog(self.space.full("document-rag-request"), "document-rag.plan")
