"""The trace store of another process, over its HTTP API (:mod:`clew_services.runtime.trace_api`). A TraceStore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from clew_schema.rdf import Triples
from clew_services.core.sparql_json import read_result
from clew_services.errors import BadRequest, DeadlineExceeded, Forbidden, StoreFailed
from clew_services.ports import TraceFilter, TraceRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.rdf import Triple
    from clew_services.ports import QueryResult

EVERY_RUN = TraceFilter()
_ROWS = TypeAdapter(tuple[TraceRow, ...])
_NAMES = TypeAdapter(tuple[str, ...])
_REFUSALS = {error.type: error for error in (BadRequest, DeadlineExceeded, Forbidden)}

PAGE = 10_000
"""Runs that the other side lists at once, at most."""

ERASED_AT_ONCE = 1_000_000
"""Characters of the names of runs that are posted together."""

PATIENCE = 300.0
"""Seconds that an erasing may take before nobody is thought to answer."""


class HttpTraceStore:
    """Asks ``client``, whose ``base_url`` is the other process's ops server. Writes go over the bus, not here.

    What the other side refuses is raised here as its store raises it; anything else that goes wrong is StoreFailed.
    """

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    @classmethod
    def at(cls, url: str, *, timeout: float = 10.0) -> HttpTraceStore:
        """The trace API of the ops server at ``url``, asked directly and never by a proxy; ``timeout`` in seconds."""
        return cls(httpx.AsyncClient(base_url=url, timeout=timeout, trust_env=False))

    async def add(self, batches: Sequence[Triples]) -> None:
        """Always Forbidden, unless there is nothing to write."""
        if batches:
            raise Forbidden("traces are written by publishing on the explainability topic, not over HTTP")

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = EVERY_RUN, after: str = ""
    ) -> Sequence[TraceRow]:
        """The runs of ``collection``, in as many requests as it takes."""
        rows: list[TraceRow] = []
        while len(rows) < limit:
            wanted = min(PAGE, limit - len(rows))
            found = await self._page(collection, wanted, where, rows[-1].cursor if rows else after)
            rows += found
            if len(found) < wanted:
                break
        return tuple(rows)

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run."""
        path = f"/api/traces/{quote(session_uri, safe='', errors='surrogatepass')}"
        reply = await self._get(path, [("collection", collection)], missing_ok=True)
        try:
            return Triples.model_validate({"triples": reply.get("triples", ())}).triples
        except ValidationError as error:
            raise StoreFailed(
                f"trace API: its quads are none of ours: {error.error_count()} fields"
            ) from error

    async def collections(self) -> Sequence[str]:
        """The collections that have runs, in order."""
        reply = await self._get("/api/collections", [])
        try:
            return _NAMES.validate_python(reply.get("collections"))
        except ValidationError as error:
            raise StoreFailed("trace API: its collections are no list of names") from error

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        """Erase runs, and the runs of their tools; how many. One that fails may have erased some of them."""
        erased, together, size = 0, list[str](), 0
        for uri in session_uris:
            if together and size + len(uri) > ERASED_AT_ONCE:
                erased += await self._erase({"collection": collection, "runs": together})
                together, size = [], 0
            together.append(uri)
            size += len(uri)
        if together:
            erased += await self._erase({"collection": collection, "runs": together})
        return erased

    async def erase_collection(self, collection: str) -> int:
        """Erase all runs of a collection; how many."""
        return await self._erase({"collection": collection, "all": True})

    async def query(self, collection: str, sparql: str, *, seconds: float, limit: int) -> QueryResult:
        """Ask the other side's store; it gives at most 600 seconds and 100,000 rows, and refuses to promise more."""
        asked = {"collection": collection, "query": sparql, "seconds": seconds, "limit": limit}
        reply = await self._post("/api/traces/query", asked, timeout=seconds + 10)
        try:
            return read_result(reply)
        except ValueError as error:
            raise StoreFailed(f"trace API: its result is none of ours: {error}") from error

    async def close(self) -> None:
        """Close the client. Idempotent."""
        await self._client.aclose()

    async def _page(
        self, collection: str, limit: int, where: TraceFilter, after: str
    ) -> tuple[TraceRow, ...]:
        params = [("collection", collection), ("limit", str(limit))]
        params += [("mechanism", each) for each in sorted(where.mechanisms)]
        params += [("state", each) for each in sorted(where.states)]
        texts = {
            "person": where.person,
            "since": where.since,
            "until": where.until,
            "text": where.text,
            "after": after,
        }
        params += [(name, text) for name, text in texts.items() if text]
        if where.tools:
            params.append(("tools", "true"))
        reply = await self._get("/api/traces", params)
        try:
            return _ROWS.validate_python(reply.get("traces"))
        except ValidationError as error:
            raise StoreFailed(f"trace API: its list is none of ours: {error.error_count()} fields") from error

    async def _erase(self, asked: dict[str, Any]) -> int:
        erased = (await self._post("/api/traces/erase", asked, timeout=PATIENCE)).get("erased")
        if not isinstance(erased, int) or isinstance(erased, bool):
            raise StoreFailed("trace API: it does not say how many runs it erased")
        return erased

    async def _get(
        self, path: str, params: Sequence[tuple[str, str]], *, missing_ok: bool = False
    ) -> dict[str, Any]:
        return await self._send("GET", path, missing_ok=missing_ok, params=list(params))

    async def _post(self, path: str, body: dict[str, Any], *, timeout: float) -> dict[str, Any]:
        return await self._send("POST", path, json=body, timeout=timeout)

    async def _send(self, method: str, path: str, *, missing_ok: bool = False, **what: Any) -> dict[str, Any]:
        try:
            reply = await self._client.request(method, path, **what)
            body = reply.json()
        except (httpx.HTTPError, ValueError, RuntimeError) as error:  # RuntimeError: the client was closed
            raise StoreFailed(
                f"trace API at {self._client.base_url}: {str(error) or type(error).__name__}"
            ) from error
        if not isinstance(body, dict):
            raise StoreFailed(f"trace API at {self._client.base_url}: a reply that is no object")
        if reply.status_code == 200:
            return body
        told = body.get("error")
        kind = told.get("type") if isinstance(told, dict) else None
        if missing_ok and reply.status_code == 404 and kind == "unknown-trace":
            return {}
        if isinstance(told, dict) and kind in _REFUSALS:
            raise _REFUSALS[kind](str(told.get("message")))
        raise StoreFailed(f"trace API at {self._client.base_url}: {reply.status_code} {str(told)[:200]}")
