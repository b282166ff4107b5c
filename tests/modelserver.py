"""A small model service for tests: OpenAI's chat and embeddings, and rerank, with faults on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one call: a status, a wait, a body that is sent as it is, a connection that breaks."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    delay: float = 0.0
    drop_after: int | None = None
    """Break the stream after so many pieces."""


@dataclass
class ModelServer:
    """Answers each call with the next of ``script`` (a text, a whole answer, or a Fault), and keeps what was asked."""

    script: list[str | dict[str, Any] | Fault]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    schemas: bool = True
    """Whether response_format is understood."""

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/{rest:path}", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        self.requests.append({"path": request.url.path, **asked})
        self.headers.append(dict(request.headers))
        if not self.schemas and "response_format" in asked:
            return JSONResponse({"error": {"message": "response_format is not supported"}}, 400)
        reply = self.script.pop(0)
        if isinstance(reply, Fault):
            await asyncio.sleep(reply.delay)
            if reply.drop_after is not None:
                return StreamingResponse(_dropped(reply.drop_after), media_type="text/event-stream")
            body = reply.body if reply.body is not None else b'{"error": {"message": "made to fail"}}'
            return Response(body, reply.status, reply.headers)
        if isinstance(reply, dict):
            return JSONResponse(reply)
        if asked.get("stream"):
            return StreamingResponse(_stream(reply), media_type="text/event-stream")
        return JSONResponse(completion(reply))


def completion(text: str | None, *, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A whole chat answer."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": finish,
    }
    return {"model": "tiny-1", "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


def sse(*events: Any) -> bytes:
    """Events as a service sends them: objects as JSON, texts as they are."""
    lines = [event if isinstance(event, str) else json.dumps(event, ensure_ascii=False) for event in events]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def delta(text: str | None, finish: str | None = None) -> dict[str, Any]:
    """One event of a chat stream."""
    return {"model": "tiny-1", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


USAGE = {"model": "tiny-1", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


async def _stream(text: str) -> AsyncIterator[bytes]:
    """The text word by word, in chunks of five bytes, which cut characters and lines."""
    words = text.split(" ")
    pieces = [
        word if last else word + " "
        for word, last in zip(words, [False] * (len(words) - 1) + [True], strict=True)
    ]
    body = sse(*(delta(piece) for piece in pieces), delta("", "stop"), USAGE, "[DONE]")
    for start in range(0, len(body), 5):
        yield body[start : start + 5]


async def _dropped(pieces: int) -> AsyncIterator[bytes]:
    for number in range(pieces):
        yield sse(delta(f"piece {number} "))


@asynccontextmanager
async def served(server: ModelServer) -> AsyncIterator[str]:
    """The server on a loopback port of its own; its address, up to ``/v1``."""
    running = uvicorn.Server(uvicorn.Config(server.app(), port=0, log_level="error", lifespan="off"))
    task = asyncio.create_task(running.serve())
    while not running.started:
        await asyncio.sleep(0.01)
    port = running.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        running.should_exit = True
        await task
