"""A tracing backend that speaks OTLP over HTTP with JSON, as an OpenTelemetry collector does. A SpanExporter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from clew_services.errors import ExportFailed, ExportRefused
from clew_translators.otlp import to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_translators.spans import TraceSpan

_TRY_AGAIN = frozenset({408, 429, 502, 503, 504})
"""What the protocol calls retryable, and 408, which collectors behind a proxy give."""

_EXCERPT = 200


class OtlpHttpExporter:
    """Posts to ``endpoint`` + ``/v1/traces``, or to ``endpoint`` itself when it ends so; asks no proxy.

    ``headers`` are sent along (a key of the backend's) and never shown. ``timeout`` in seconds. ``version`` is told as
    that of the service.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        version: str = "",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        url = httpx.URL(endpoint)
        path = url.path.rstrip("/")
        self._url = url.copy_with(path=path if path.endswith("/v1/traces") else f"{path}/v1/traces")
        self.where = str(self._url.copy_with(username=None, password=None, query=None))
        self._version = version
        self._http = httpx.AsyncClient(
            headers=dict(headers or {}), timeout=timeout, trust_env=False, transport=transport
        )

    async def export(self, told: Sequence[TraceSpan]) -> None:
        """Hand over the spans of one run; nothing to do for none. Raises ExportFailed or ExportRefused."""
        if not told:
            return
        try:
            reply = await self._http.post(
                self._url,
                content=to_json(told, version=self._version).encode(),
                headers={"Content-Type": "application/json"},
            )
        except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: the client was closed
            raise ExportFailed(f"{self.where}: {str(error) or type(error).__name__}") from error
        if reply.status_code in _TRY_AGAIN or reply.status_code >= 500:
            raise ExportFailed(f"{self.where}: {reply.status_code} {reply.text[:_EXCERPT]}")
        if reply.status_code >= 300:
            raise ExportRefused(
                f"{self.where}: {reply.status_code} {reply.text[:_EXCERPT]}:"
                " is it an OTLP/HTTP endpoint that takes JSON, and does it take our headers?"
            )
        if refused := _refused(reply):
            raise ExportRefused(f"{self.where}: {refused}")

    async def close(self) -> None:
        """Close the client. Idempotent."""
        await self._http.aclose()


def _refused(reply: httpx.Response) -> str:
    """What a backend that said yes did not take (``partialSuccess``); ``""`` when it took all."""
    try:
        body = reply.json()
    except ValueError:
        return ""  # an empty reply, or protobuf: the status has said that it is well
    partial = body.get("partialSuccess") if isinstance(body, dict) else None
    if not isinstance(partial, dict) or str(partial.get("rejectedSpans", 0)) in {"0", ""}:
        return ""
    return f"{partial['rejectedSpans']} spans were refused: {str(partial.get('errorMessage', ''))[:_EXCERPT]}"
