"""Reading the trace store over HTTP: what the command line asks while a process has the datasets open.

======================================================  ===============================================================
``GET /api/traces?collection=C&limit=N``                ``{"collection", "traces": [row, ...]}``, newest first
``GET /api/traces/{question URI}?collection=C``         ``{"collection", "session_uri", "triples": [quad, ...]}``
======================================================  ===============================================================

A row has the fields of :class:`clew_services.ports.TraceRow`, a quad is a Triple as on the bus. ``collection`` may be
left out for the default one, ``limit`` (1 to 10000) for 50. Errors are ``{"error": {"type", "message"}}``: 400
``bad-request``, 404 ``unknown-trace``, 503 ``store-failed``. The routes ask for no token: whoever mounts them on
more than the loopback puts one in front.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from clew_schema.errors import Error
from clew_schema.rdf import Triples
from clew_services.errors import BadRequest, StoreFailed
from clew_translators.trace_digest import collection_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from clew_services.ports import TraceStore

PATH = "/api/traces"
DEFAULT_LIMIT = 50
MAX_LIMIT = 10_000


def trace_routes(store: TraceStore) -> list[Route]:
    """The routes, to be mounted in an application."""

    async def listed(request: Request) -> Response:
        collection = collection_of(request.query_params.get("collection", ""))
        try:
            limit = _limit(request.query_params.get("limit", str(DEFAULT_LIMIT)))
            rows = await store.list(collection, limit=limit)
        except BadRequest as error:
            return _refusal(400, error.type, str(error))
        except StoreFailed as error:
            return _refusal(503, error.type, str(error))
        return JSONResponse({"collection": collection, "traces": [asdict(row) for row in rows]})

    async def shown(request: Request) -> Response:
        collection = collection_of(request.query_params.get("collection", ""))
        uri = request.path_params["uri"]
        try:
            quads = await store.run(collection, uri)
        except StoreFailed as error:
            return _refusal(503, error.type, str(error))
        if not quads:
            return _refusal(
                404, "unknown-trace", f"no trace {uri} in collection {collection}: list them first"
            )
        triples = Triples(triples=tuple(quads)).model_dump(mode="json", include={"triples"})
        return JSONResponse({"collection": collection, "session_uri": uri} | triples)

    return [Route(PATH, listed, methods=["GET"]), Route(PATH + "/{uri:path}", shown, methods=["GET"])]


def _limit(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MAX_LIMIT:
        return int(text)
    raise BadRequest(f"limit must be a number from 1 to {MAX_LIMIT}, found {text[:20]!r}")


def _refusal(status: int, type_: str, message: str) -> Response:
    body = Error(type=type_, message=message).model_dump(mode="json")
    return JSONResponse({"error": body}, status_code=status)
