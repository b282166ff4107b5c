"""What services are made of: bus, stores, models, retrieval, and the place that settles messages."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew_services.wiring.models import Models

if TYPE_CHECKING:
    from clew_services.handlers.trace_export import SpanExporter
    from clew_services.ports import (
        Backlogs,
        Bus,
        Catalog,
        Ledger,
        Reranker,
        Retriever,
        Tickets,
        TraceStore,
        VectorStore,
    )
    from clew_services.runtime.process import Processor


class Parts(Models):
    """Each part is opened once, on first use; a part given to the constructor is used as is."""

    async def bus(self) -> Bus:
        """The broker."""

        async def make() -> Bus:
            from clew_services.adapters.bus.pulsar import PulsarBus
            from clew_services.adapters.bus.pulsar_client import PulsarSecurity

            settings = self.settings
            security = PulsarSecurity(
                token=settings.pulsar_token.get_secret_value(), trust_certificates=settings.pulsar_tls_ca
            )
            bus: Bus = self.keep(
                PulsarBus(
                    self.broker_url,
                    lite=settings.embedded_broker or settings.pulsar_lite,
                    lite_rank=settings.pulsar_lite_rank,
                    security=security,
                    operation_timeout=5.0 if self.quiet else 10.0,
                    log_path=Path(os.devnull) if self.quiet else None,
                )
            )
            return bus

        return await self.once("bus", make)

    async def backlogs(self) -> Backlogs | None:
        """What waits on the broker, where it can be asked: by its admin API."""

        async def make() -> Backlogs | None:
            settings = self.settings
            if not (settings.pulsar_admin_url and settings.watchdog_seconds):
                return None
            from clew_services.adapters.bus.pulsar_admin import PulsarAdmin
            from clew_services.adapters.bus.pulsar_backlogs import PulsarBacklogs

            token = settings.pulsar_token.get_secret_value() or None
            kept: Backlogs = self.keep(PulsarBacklogs(PulsarAdmin(settings.pulsar_admin_url, token)))
            return kept

        return await self.once("backlogs", make)

    async def ledger(self) -> Ledger:
        """What was handled."""

        async def make() -> Ledger:
            from clew_services.adapters.stores.ledger_sql import SqlLedger

            ledger = SqlLedger(self.settings.database("ledger"))
            await ledger.open()
            kept: Ledger = self.keep(ledger)
            return kept

        return await self.once("ledger", make)

    async def tickets(self) -> Tickets:
        """Pauses, which the ledger keeps."""

        async def make() -> Tickets:
            ledger: Any = await self.ledger()
            kept: Tickets = ledger
            return kept

        return await self.once("tickets", make)

    async def catalog(self) -> Catalog:
        """Which documents there are."""

        async def make() -> Catalog:
            from clew_services.adapters.stores.catalog_sql import SqlCatalog

            catalog = SqlCatalog(self.settings.database("catalog"))
            await catalog.open()
            kept: Catalog = self.keep(catalog)
            return kept

        return await self.once("catalog", make)

    async def vectors(self) -> VectorStore:
        """Leaves."""

        async def make() -> VectorStore:
            from clew_services.adapters.stores.vectors_milvus import MilvusVectors

            vectors: VectorStore = self.keep(
                MilvusVectors(self.settings.milvus, token=self.settings.milvus_token.get_secret_value())
            )
            return vectors

        return await self.once("vectors", make)

    async def traces(self) -> TraceStore:
        """Triples of runs."""

        async def make() -> TraceStore:
            if self.settings.trace_sparql_query:
                from clew_services.wiring.traces import sparql_traces_of

                remote: TraceStore = self.keep(sparql_traces_of(self.settings))
                return remote
            from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore

            traces: TraceStore = self.keep(OxigraphTraceStore(self.settings.data / "traces"))
            return traces

        return await self.once("traces", make)

    async def exporter(self) -> SpanExporter | None:
        """The tracing backend that the settings name, if any."""

        async def make() -> SpanExporter | None:
            settings = self.settings
            if not settings.otlp_endpoint:
                return None
            from clew_services.adapters.otlp_http import OtlpHttpExporter
            from clew_services.setting_checks import headers_of

            exporter: SpanExporter = self.keep(
                OtlpHttpExporter(
                    settings.otlp_endpoint,
                    headers=headers_of(settings.otlp_headers),
                    version=version("clew-services"),
                )
            )
            return exporter

        return await self.once("exporter", make)

    async def reranker(self) -> Reranker | None:
        """The reranker that the settings name, if any."""
        from clew_services.wiring.retrieval import reranker

        async def make() -> Reranker | None:
            return reranker(self.settings, self.clock, self.keep)

        return await self.once("reranker", make)

    async def retriever(self) -> Retriever:
        """What looks questions up."""
        from clew_services.wiring.retrieval import retriever

        return await self.once("retriever", lambda: retriever(self))

    async def processor(self) -> Processor:
        """The settling place."""
        from clew_services.core.retry import RetryPolicy
        from clew_services.runtime.explaining import Explaining
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
                version=version("clew-services"),
                explaining=Explaining(profile=settings.explained_in, repaired=settings.explain_repairs),
            ),
            observer=self.observer,
            policy=RetryPolicy(max_attempts=settings.max_attempts),
            silent_sessionless=settings.silent_sessionless,
        )
