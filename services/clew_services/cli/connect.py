"""How a command finds what runs: the broker and the traces of the settings, or those of ``clew up``."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from clew_services.errors import BusFailed, StoreFailed
from clew_services.run_file import read_run_file

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from clew_services.client import Client
    from clew_services.ports import TraceStore
    from clew_services.settings import Settings
    from clew_services.wiring import Parts


@asynccontextmanager
async def parts_of(settings: Settings) -> AsyncIterator[Parts]:
    """Parts connected to the broker. Raises BusFailed when nothing runs."""
    from clew_services.wiring import Parts

    url = ""
    if settings.embedded_broker:
        running = read_run_file(settings.data)
        if running is None:
            raise BusFailed(
                f"nothing runs over {settings.data}: start `clew up`, "
                "or set CLEW_PULSAR_URL to a broker that does"
            )
        url = running.broker
    parts = Parts(settings, broker_url=url, quiet=True)
    try:
        yield parts
    finally:
        await parts.close()


@asynccontextmanager
async def client_of(settings: Settings) -> AsyncIterator[Client]:
    """A client of the broker. Raises BusFailed when nothing runs, or when the broker does not answer."""
    from clew_services.client import Client

    async with parts_of(settings) as parts, Client(await parts.bus(), settings.space) as client:
        yield client


@asynccontextmanager
async def traces_of(settings: Settings) -> AsyncIterator[TraceStore]:
    """The trace store: of the settings' URL, of the running ``clew up``, or the folder's own. Raises StoreFailed."""
    running = read_run_file(settings.data)
    url = settings.traces_url or (running.ops if running else "")
    store: TraceStore
    if url:
        from clew_services.adapters.stores.trace_http import HttpTraceStore

        store = HttpTraceStore.at(url)
    elif settings.trace_sparql_query:
        from clew_services.wiring.traces import sparql_traces_of

        store = sparql_traces_of(settings)
    elif (settings.data / "traces").exists():
        from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore

        store = OxigraphTraceStore(settings.data / "traces")
    else:
        raise StoreFailed(
            f"there are no traces in {settings.data} and nothing runs over it: "
            "start `clew up`, or set CLEW_TRACES_URL to the ops address of a trace-store service"
        )
    try:
        yield store
    finally:
        await store.close()
