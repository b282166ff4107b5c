"""All services on one bus in memory, wired by the product's own wiring, with models that follow a script."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any, Self

from clew_schema import topics
from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.evidence import Grade
from clew_schema.rdf import Triples
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.models.chat_scripted import (
    ScriptedGrader,
    ScriptedPlanner,
    ScriptedRewriter,
    ScriptedThinker,
    ScriptedWriter,
)
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.client import Client
from clew_services.core.answer import Draft, Quote
from clew_services.core.complexity import PlanReply
from clew_services.core.rewriting import RewriteReply
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.service import Service
from clew_services.settings import Settings
from clew_services.steps import SERVICES, steps_of
from clew_services.wiring import Parts
from clew_translators import bus as wire
from clew_translators.trace import read_trace
from clew_translators.trace_tree import TraceTree
from tests.flow.proving import prove_all

GOOD = Grade(
    relevance="strong", answerability="sufficient", route="answer", confidence=0.9, reason="it says so"
)
NOTHING = Grade(relevance="none", answerability="none", route="no_knowledge", reason="about other things")
CLEW = "A clew is a ball of thread. Theseus used it to leave the labyrinth."


class House:
    """Start it with ``async with``; ``given`` replaces parts. At the end every run is proven, unless not ``proves``."""

    def __init__(self, tmp: Path, **given: Any) -> None:
        settings = {name: given.pop(name) for name in list(given) if name in Settings.model_fields}
        self.proves: bool = given.pop("proves", True)
        self.settings = Settings(data=tmp, embedder="hashing", **settings)
        self.bus = given.pop("bus", None) or MemoryBus(SystemClock())
        self.grader = given.pop("grader", ScriptedGrader(GOOD))
        self.writer = given.pop(
            "writer",
            ScriptedWriter(Draft(text="A ball of thread. [1]", quotes=(Quote(number=1, start=0, end=27),))),
        )
        self.traces = MemoryTraceStore()
        self.ledger = given.pop("ledger", None) or MemoryLedger()
        self.given = {
            "bus": self.bus,
            "ledger": self.ledger,
            "vectors": MemoryVectors(),
            "embedder": HashingEmbedder(),
            "traces": self.traces,
            "planner": ScriptedPlanner(PlanReply(complexity="simple", reason="one thing")),
            "rewriter": ScriptedRewriter(
                RewriteReply(method="step_back", step_back_question="What is thread used for?")
            ),
            "grader": self.grader,
            "writer": self.writer,
        } | given
        if "thinker" in given and isinstance(given["thinker"], list):
            self.given["thinker"] = ScriptedThinker(given["thinker"])

    async def __aenter__(self) -> Self:
        self.catalog = SqlCatalog("sqlite://")
        await self.catalog.open()
        self.parts = Parts(self.settings, catalog=self.catalog, **self.given)
        self.service = Service(await steps_of(self.parts, tuple(SERVICES)), await self.parts.processor())
        await self.service.start()
        self.client = Client(self.bus, self.settings.space)
        return self

    async def __aexit__(self, failure: object = None, *_: object) -> None:
        await self.client.close()
        await self.service.stop()
        await self.parts.close()
        await self.catalog.close()
        if failure is None and self.proves:
            # Whatever a test is about: every trace that was made in it is valid.
            prove_all(self.published("explainability"), self.settings.explained_in)

    async def load(self, name: str, text: str | bytes, collection: str = "default") -> DocumentStatus:
        data = text.encode() if isinstance(text, str) else text
        document = DocumentLoad(name=name, content=b64encode(data).decode(), collection=collection)
        status = DocumentStatus()
        async for heard in self.client.load(document, timeout=10):
            status = heard.body
        return status

    async def ask(self, question: str, **fields: Any) -> DocumentRagResponse:
        return await self.client.answer(DocumentRagQuery(query=question, **fields), timeout=10)

    async def hear(self, question: str, **fields: Any) -> list[DocumentRagResponse]:
        query = DocumentRagQuery(query=question, streaming=True, **fields)
        return [heard.body async for heard in self.client.ask(query, timeout=10)]

    async def agent(self, question: str, **fields: Any) -> list[AgentResponse]:
        request = AgentRequest(question=question, **fields)
        return [heard.body async for heard in self.client.agent(request, timeout=10)]

    def published(self, name: str) -> list[Any]:
        """Bodies on a topic, by its short name."""
        topic = next(topic for topic in topics.TOPICS if topic.name == name)
        full = self.settings.space.full(name)
        return [wire.decode(topic.body, message.payload) for message in self.bus.messages(full)]

    def batches(self, root: str) -> list[Triples]:
        return [b for b in self.published("explainability") if b.metadata and b.metadata.root == root]

    def trace(self, root: str) -> TraceTree:
        """The run as its published triples tell it."""
        return read_trace([triple for batch in self.batches(root) for triple in batch.triples])
