"""The trace store on the SPARQL server that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_services.adapters.stores.sparql_client import SparqlClient, SparqlServer
from clew_services.adapters.stores.trace_sparql import SparqlTraceStore

if TYPE_CHECKING:
    from clew_services.settings import Settings


def sparql_traces_of(settings: Settings) -> SparqlTraceStore:
    """The store on the server that the settings name."""
    server = SparqlServer(
        query_url=settings.trace_sparql_query,
        update_url=settings.trace_sparql_update,
        user=settings.trace_sparql_user,
        password=settings.trace_sparql_password,
        token=settings.trace_sparql_token,
    )
    return SparqlTraceStore(SparqlClient(server))
