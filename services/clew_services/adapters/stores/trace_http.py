"""The trace store of another process, read over its HTTP API (:mod:`clew_services.runtime.trace_api`). A TraceStore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from clew_schema.rdf import Triples
from clew_services.errors import Forbidden, StoreFailed
from clew_services.ports import TraceRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.rdf import Triple

_ROWS = TypeAdapter(tuple[TraceRow, ...])


class HttpTraceStore:
    """Reads from ``client``, whose ``base_url`` is the other process's ops server. Writes go over the bus, not here."""

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

    async def list(self, collection: str, *, limit: int = 50) -> Sequence[TraceRow]:
        """The newest runs of ``collection``; the other side gives at most 10,000."""
        if limit < 1:
            return ()
        params = {"collection": collection, "limit": str(min(limit, 10_000))}
        reply = await self._get("/api/traces", params)
        try:
            return _ROWS.validate_python(reply.get("traces"))
        except ValidationError as error:
            raise StoreFailed(f"trace API: its list is none of ours: {error.error_count()} fields") from error

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run."""
        path = f"/api/traces/{quote(session_uri, safe='')}"
        reply = await self._get(path, {"collection": collection}, missing_ok=True)
        try:
            return Triples.model_validate({"triples": reply.get("triples", ())}).triples
        except ValidationError as error:
            raise StoreFailed(
                f"trace API: its quads are none of ours: {error.error_count()} fields"
            ) from error

    async def close(self) -> None:
        """Close the client. Idempotent."""
        await self._client.aclose()

    async def _get(self, path: str, params: dict[str, str], *, missing_ok: bool = False) -> dict[str, Any]:
        try:
            reply = await self._client.get(path, params=params)
            body = reply.json()
        except (httpx.HTTPError, ValueError, RuntimeError) as error:  # RuntimeError: the client was closed
            raise StoreFailed(
                f"trace API at {self._client.base_url}: {str(error) or type(error).__name__}"
            ) from error
        if not isinstance(body, dict):
            raise StoreFailed(f"trace API at {self._client.base_url}: a reply that is no object")
        told = body.get("error")
        if (
            missing_ok
            and reply.status_code == 404
            and isinstance(told, dict)
            and told.get("type") == "unknown-trace"
        ):
            return {}
        if reply.status_code != 200:
            raise StoreFailed(f"trace API at {self._client.base_url}: {reply.status_code} {str(told)[:200]}")
        return body
