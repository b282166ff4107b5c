"""The SPARQL 1.1 protocol over HTTP: queries and updates, bounded in time and size, with errors of ours."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

import httpx

from clew_services.errors import DeadlineExceeded, StoreFailed, StoreIncompatible

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from pydantic import SecretStr

JSON = "application/sparql-results+json"
N_TRIPLES = "application/n-triples"

LARGEST = 64 * 2**20
"""Bytes of a reply that are read."""

Parameters: TypeAlias = "Mapping[str, str | Sequence[str]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparqlServer:
    """Where a server is, and who we are there: a user with a password, or a token, or nobody in particular."""

    query_url: str
    update_url: str
    user: str = ""
    password: SecretStr | None = None
    token: SecretStr | None = None


class _Auth(httpx.Auth):
    """The secret stays in its wrapper until a request leaves."""

    def __init__(self, server: SparqlServer) -> None:
        self._server = server

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        server = self._server
        if server.token is not None and server.token.get_secret_value():
            request.headers["Authorization"] = f"Bearer {server.token.get_secret_value()}"
            yield request
        elif server.user:
            password = server.password.get_secret_value() if server.password else ""
            yield from httpx.BasicAuth(server.user, password).auth_flow(request)
        else:
            yield request


class Refusal(Exception):
    """The server will not do what it was asked: the text says the status, 4xx, and what it said."""


class SparqlClient:
    """Asks ``server``, directly and never by a proxy; one request may take ``timeout`` seconds."""

    def __init__(
        self,
        server: SparqlServer,
        *,
        timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._server = server
        self._timeout = timeout
        self._http = httpx.AsyncClient(
            auth=_Auth(server), timeout=timeout, trust_env=False, transport=transport
        )
        self._shown = urlsplit(server.query_url).netloc.rpartition("@")[2]

    async def rows(self, sparql: str) -> list[dict[str, dict[str, Any]]]:
        """The solutions of a query of our own. Raises StoreFailed, StoreIncompatible."""
        try:
            answer = await self.results({"query": sparql}, self._timeout)
        except (Refusal, DeadlineExceeded) as error:
            raise self._failure(error) from error
        found = answer.get("results")
        bindings = found.get("bindings") if isinstance(found, dict) else None
        if not isinstance(bindings, list):
            raise StoreFailed(f"SPARQL server at {self._shown}: no results in its reply")
        return bindings

    async def results(self, parameters: Parameters, seconds: float) -> dict[str, Any]:
        """A reply in SPARQL's JSON format. Raises Refusal, DeadlineExceeded, StoreFailed."""
        body = await self.fetch(parameters, seconds, JSON)
        try:
            answer = json.loads(body)
        except ValueError as error:
            raise StoreFailed(f"SPARQL server at {self._shown}: a reply that is no JSON") from error
        if not isinstance(answer, dict):
            raise StoreFailed(f"SPARQL server at {self._shown}: a reply that is no object")
        return answer

    async def fetch(
        self, parameters: Parameters, seconds: float, accept: str, *, lines: int | None = None
    ) -> bytes:
        """A reply, or as many ``lines`` of it and a little more. Raises Refusal, DeadlineExceeded, StoreFailed."""
        try:
            async with asyncio.timeout(seconds):
                return await self._fetch(parameters, seconds, accept, lines)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise DeadlineExceeded(f"the query was not answered within {seconds:g} s") from error
        except (
            httpx.HTTPError,
            httpx.InvalidURL,
            RuntimeError,
        ) as error:  # RuntimeError: the client was closed
            raise self._failure(error) from error

    async def _fetch(self, parameters: Parameters, seconds: float, accept: str, lines: int | None) -> bytes:
        url, headers, found = self._server.query_url, {"Accept": accept}, bytearray()
        async with self._http.stream(
            "POST", url, data=dict(parameters), headers=headers, timeout=seconds
        ) as reply:
            if reply.status_code != 200:
                raise await self._refusal(reply)
            async for part in reply.aiter_bytes():
                found += part
                if len(found) > LARGEST:
                    raise StoreFailed(f"SPARQL server at {self._shown}: a reply of over {LARGEST:,} bytes")
                if lines is not None and found.count(b"\n") > lines:
                    break
        return bytes(found)

    async def update(self, sparql: str) -> None:
        """Do an update. Raises Refusal for what the server will not do, StoreFailed for what it could not."""
        headers = {"Content-Type": "application/sparql-update"}
        try:
            async with asyncio.timeout(self._timeout):
                url = self._server.update_url
                reply = await self._http.post(url, content=sparql.encode(), headers=headers)
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:
            raise self._failure(error) from error
        if not reply.is_success:
            raise await self._refusal(reply)

    async def close(self) -> None:
        """Let go of the connections. Idempotent."""
        await self._http.aclose()

    async def _refusal(self, reply: httpx.Response) -> Exception:
        """What a status other than 200 means."""
        said = (await reply.aread())[:400].decode(errors="replace").strip()
        if 400 <= reply.status_code < 500 and reply.status_code not in {408, 425, 429}:
            return Refusal(f"HTTP {reply.status_code}: {said or 'nothing more'}")
        if (
            reply.status_code == 503 and "timed out" in said.lower()
        ):  # Fuseki's word for a query that was too long
            return TimeoutError(said)
        return StoreFailed(f"SPARQL server at {self._shown}: HTTP {reply.status_code} {said}")

    def _failure(self, error: Exception) -> StoreFailed | StoreIncompatible:
        text = f"SPARQL server at {self._shown}: {str(error) or type(error).__name__}"
        return StoreIncompatible(text) if isinstance(error, Refusal) else StoreFailed(text)

    def incompatible(self, refusal: Refusal) -> StoreIncompatible:
        """``refusal`` of something that a SPARQL 1.1 server does for whom it lets."""
        return StoreIncompatible(f"SPARQL server at {self._shown}: {refusal}")
