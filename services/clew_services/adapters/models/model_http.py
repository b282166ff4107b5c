"""One HTTP connection to a model's service: what goes wrong there becomes our errors, here and only here."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from clew_services.adapters.models.breaker import Breaker
from clew_services.adapters.models.sse import SseDecoder
from clew_services.errors import ModelBusy, ModelFailed, ModelRefused, ModelReplyInvalid
from clew_services.ports import Clock

_MAX_EXCERPT = 200
_MAX_ERROR_BODY = 64 * 1024
_SECRET = re.compile(r"(?i)\b(?:bearer\s+|sk-|api[-_]?key\W{1,4})[\w.*/+=-]{4,}")
_TRY_AGAIN = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds: to connect; between two pieces of a reply; for the whole call, its wait for a slot included."""

    connect: float = 5.0
    read: float = 60.0
    total: float = 180.0


class HttpRefused(ModelRefused):
    """A refusal with its HTTP ``status``."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ModelClient:
    """Posts JSON to one service, at most ``concurrency`` calls at a time.

    ``base_url`` is the address up to and including the API's version, ``https://api.example.com/v1``;
    ``/v1`` is added to an address without a path. The key is never shown: not by ``repr``, not in an error.
    Raises ValueError for an address or a key that can never work.

    Calls raise ModelBusy (429, a ``Retry-After``, an open circuit), ModelFailed (5xx, timeouts, broken
    connections), ModelRefused (other 4xx, redirects) and ModelReplyInvalid (a success that is no JSON).
    """

    def __init__(
        self,
        *,
        base_url: str,
        clock: Clock,
        api_key: str = "",
        transport: httpx.AsyncBaseTransport | None = None,
        timeouts: Timeouts | None = None,
        concurrency: int = 8,
        breaker: Breaker | None = None,
    ) -> None:
        url, key = _address(base_url), _checked_key(api_key)
        # Without user, password and query, which may be secrets.
        self.where = str(url.copy_with(username=None, password=None, query=None)).rstrip("/")
        self._redact = _redactor(key, url.password)
        self._clock = clock
        self._timeouts = timeouts or Timeouts()
        self._slots = asyncio.Semaphore(concurrency)
        self._breaker = breaker or Breaker(clock)
        self._http = httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"} if key else {},
            transport=transport,
            timeout=httpx.Timeout(
                self._timeouts.read, connect=self._timeouts.connect, pool=self._timeouts.total
            ),
        )

    def __repr__(self) -> str:
        return f"ModelClient({self.where!r})"

    async def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that ``path`` (as ``chat/completions``) answers to ``body``."""
        deadline = self._deadline()
        async with self._call(path, body, deadline) as response:
            async with asyncio.timeout_at(deadline):
                text = await response.aread()
            return self._object(text, path)

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """The JSON objects of a stream of server-sent events, up to ``[DONE]`` or the end of the body.

        The total timeout runs on while the reader does other things. Close the iterator when leaving early.
        """
        deadline = self._deadline()
        decoder = SseDecoder()
        async with self._call(path, body, deadline) as response:
            chunks = response.aiter_bytes()
            chunk = b"-"
            while chunk:
                # The wait is limited, not the block: a timeout must not strike while the reader works.
                async with asyncio.timeout_at(deadline):
                    chunk = await anext(chunks, b"")
                for data in decoder.feed(chunk) if chunk else decoder.close():
                    if data.strip() == "[DONE]":
                        return
                    yield self._object(data, path)

    async def close(self) -> None:
        """Release the connections. Idempotent."""
        await self._http.aclose()

    def _deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._timeouts.total

    @asynccontextmanager
    async def _call(
        self, path: str, body: Mapping[str, Any], deadline: float
    ) -> AsyncIterator[httpx.Response]:
        """A response that succeeded. What goes wrong before and inside the block is told to the breaker."""
        self._breaker.admit(self.where)
        try:
            async with (
                self._translated(path),
                self._slot(deadline),
                self._sent(path, body, deadline) as response,
            ):
                if not response.is_success:
                    async with asyncio.timeout_at(deadline):
                        raise await self._refusal(response, path)
                yield response
        except ModelFailed:
            self._breaker.failed()
            raise
        except (ModelRefused, ModelReplyInvalid):
            self._breaker.succeeded()
            raise
        else:
            self._breaker.succeeded()

    @asynccontextmanager
    async def _slot(self, deadline: float) -> AsyncIterator[None]:
        async with asyncio.timeout_at(deadline):
            await self._slots.acquire()
        try:
            yield
        finally:
            self._slots.release()

    @asynccontextmanager
    async def _sent(
        self, path: str, body: Mapping[str, Any], deadline: float
    ) -> AsyncIterator[httpx.Response]:
        request = self._http.build_request("POST", path, json=body)
        async with asyncio.timeout_at(deadline):
            response = await self._http.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    @asynccontextmanager
    async def _translated(self, path: str) -> AsyncIterator[None]:
        try:
            yield
        except httpx.TimeoutException as error:
            limits = f"connect {self._timeouts.connect:g} s, read {self._timeouts.read:g} s"
            raise ModelFailed(f"{self.where}/{path}: no answer in time ({limits})") from error
        except TimeoutError as error:
            raise ModelFailed(f"{self.where}/{path}: not done within {self._timeouts.total:g} s") from error
        except httpx.HTTPError as error:
            told = self._excerpt(str(error) or type(error).__name__)
            raise ModelFailed(f"{self.where}/{path}: the connection failed: {told}") from error

    async def _refusal(self, response: httpx.Response, path: str) -> ModelFailed | ModelRefused:
        """What a response that is no success means."""
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _MAX_ERROR_BODY:
                break
        text = body.decode(errors="replace")
        status = response.status_code
        message = f"{self.where}/{path}: HTTP {status}: {self._excerpt(text)}"
        passing = status >= httpx.codes.INTERNAL_SERVER_ERROR or status in _TRY_AGAIN
        if not passing or "insufficient_quota" in text:  # a 429 that no waiting cures
            return HttpRefused(message, status)
        wait = retry_after(response.headers.get("retry-after", ""), self._clock.now())
        if wait is not None or status == httpx.codes.TOO_MANY_REQUESTS:
            return ModelBusy(message, wait)
        return ModelFailed(message)

    def _object(self, text: str | bytes, path: str) -> dict[str, Any]:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            told = text if isinstance(text, str) else text.decode(errors="replace")
            raise ModelReplyInvalid(
                f"{self.where}/{path}: expected a JSON object, got: {self._excerpt(told)}"
            )
        if value.get("error"):  # some services tell their failures with status 200, or within a stream
            raise ModelFailed(f"{self.where}/{path}: {self._excerpt(json.dumps(value['error']))}")
        return value

    def _excerpt(self, text: str) -> str:
        """The beginning of what the service said, on one line, without secrets."""
        # Redacted before it is cut: half a key would not be recognised.
        told = " ".join(self._redact(text).split())
        return told if len(told) <= _MAX_EXCERPT else told[:_MAX_EXCERPT] + "…"


def retry_after(header: str, now: float) -> float | None:
    """Seconds to wait according to a ``Retry-After`` header: a number or an HTTP date; null if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
        except ValueError:
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = max(0.0, date.timestamp() - now)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _address(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url.strip())
    except httpx.InvalidURL as error:
        # Its own words may quote a password.
        raise ValueError("the model's address is no URL") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError("the model's address must begin with http:// or https:// and name a host")
    return url if url.path.strip("/") else url.copy_with(path="/v1")


def _checked_key(api_key: str) -> str:
    key = api_key.strip()
    if not (key.isascii() and key.isprintable()):
        # The HTTP library would refuse it later, with the key in its message.
        raise ValueError("the model's API key has characters that no HTTP header can carry")
    return key


def _redactor(*secrets: str) -> Callable[[str], str]:
    """A function that blackens ``secrets``, and what looks like one."""
    known = [secret for secret in secrets if secret]

    def redact(text: str) -> str:
        for secret in known:
            text = text.replace(secret, "***")
        return _SECRET.sub("***", text)

    return redact
