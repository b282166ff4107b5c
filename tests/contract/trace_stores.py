"""The trace stores that keep the promises of the port; every test with the fixture ``store`` runs against each.

A maker is given a folder of its own and yields an empty store. Another kind of store is one more line in ``STORES``;
one that needs a server has the mark of such tests.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from clew_schema.evidence import Evidence
from clew_schema.facts import Fact, RunPaused, RunResumed, TicketCancelled
from clew_schema.rdf import Triples
from clew_services.adapters.stores.sparql_client import SparqlClient, SparqlServer
from clew_services.adapters.stores.trace_http import HttpTraceStore
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.adapters.stores.trace_sparql import SparqlTraceStore
from clew_services.ports import TraceStore
from clew_services.runtime.trace_api import trace_routes
from tests.translators import runs

Maker = Callable[[Path], AbstractAsyncContextManager[TraceStore]]


class Both:
    """Writes to one store; everything else goes through the API over it."""

    def __init__(self, store: TraceStore) -> None:
        app = Starlette(routes=trace_routes(store))
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://ops")
        self.below, self.http = store, HttpTraceStore(client)
        self.add = store.add
        self.list, self.run, self.collections = self.http.list, self.http.run, self.http.collections
        self.erase, self.erase_collection = self.http.erase, self.http.erase_collection
        self.query = self.http.query

    async def close(self) -> None:
        await self.http.close()
        await self.below.close()


@asynccontextmanager
async def memory(_: Path) -> AsyncIterator[TraceStore]:
    store = MemoryTraceStore()
    yield store
    await store.close()


@asynccontextmanager
async def oxigraph(folder: Path) -> AsyncIterator[TraceStore]:
    store = OxigraphTraceStore(folder / "traces")
    yield store
    await store.close()


@asynccontextmanager
async def http(folder: Path) -> AsyncIterator[TraceStore]:
    store = Both(OxigraphTraceStore(folder / "traces"))
    yield store
    await store.close()


def sparql(kind: str) -> Maker:
    """Makes stores on the shared server of that kind, emptied before."""

    @asynccontextmanager
    async def made(_: Path) -> AsyncIterator[TraceStore]:
        client = SparqlClient(sparql_server(kind))
        await client.update("CLEAR ALL")
        store = SparqlTraceStore(client)
        yield store
        await store.close()

    return made


def sparql_server(kind: str) -> SparqlServer:
    """The server that tests share, by its name in capitals."""
    return SparqlServer(
        query_url=os.environ[f"CLEW_TEST_{kind}_QUERY"], update_url=os.environ[f"CLEW_TEST_{kind}_UPDATE"]
    )


STORES = [
    pytest.param(memory, id="memory"),
    pytest.param(oxigraph, id="oxigraph"),
    pytest.param(http, id="http"),
    pytest.param(sparql("OXIGRAPH"), id="oxigraph-server", marks=pytest.mark.servers),
    pytest.param(sparql("FUSEKI"), id="fuseki", marks=pytest.mark.servers),
]

# --- runs of several people -----------------------------------------------------------------------

PAUSED = RunPaused(
    ticket="t1",
    route="clarify",
    status="needs_clarification",
    prompt="Which one?",
    **runs.at("grading.grade", 1),
)
CANCELLED = TicketCancelled(ticket="t1", person="bob", **runs.at("document-rag.cancel", 2))


def resumed(person: str) -> Fact:
    """A person's answer to PAUSED."""
    return RunResumed(
        ticket="t1",
        answer="the blue one",
        from_route="clarify",
        from_status="needs_clarification",
        person=person,
        **runs.at("document-rag.resume", 2),
    )


def run(
    session: str,
    second: int,
    *rest: Fact,
    person: str = "",
    query: str = "",
    parent: str = "",
    collection: str = "manuals",
) -> list[Triples]:
    """A run that was asked at ``second``: one batch for its question, one for each fact of ``rest``."""
    first = runs.ASKED.model_copy(
        update={
            "query": query or f"question {session}",
            "person": person,
            "parent_uri": parent,
            **runs.at("document-rag.plan", second),
        }
    )
    return runs.told(((first,), *((fact,) for fact in rest)), session_id=session, collection=collection)


def found(session: str, second: int, text: str, *, collection: str = "manuals") -> list[Triples]:
    """A run that retrieved a chunk of its own, which says ``text``, and one that others retrieve too."""
    own = Evidence(
        chunk_id=f"urn:chunk:{session}", document_id=runs.DOCUMENT, text=text, rank=1, filename="own.txt"
    )
    evidence = runs.RETRIEVED.model_copy(update={"evidence": (own, runs.EVIDENCE[0])})
    return run(session, second, evidence, runs.ANSWERED, collection=collection)


def uri(session: str) -> str:
    """The name of a run that :func:`run` told."""
    return f"urn:trustgraph:docrag:{session}"
