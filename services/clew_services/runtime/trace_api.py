"""The trace store over HTTP: what the command line asks while a process has the datasets open.

======================================================  ===============================================================
``GET /api/traces?collection=C&limit=N``                ``{"collection", "traces": [row, ...], "next"}``, newest first
``GET /api/traces/{question URI}?collection=C``         ``{"collection", "session_uri", "triples": [quad, ...]}``
``GET /api/collections``                                ``{"collections": [name, ...]}``, those that have runs
``POST /api/traces/query``                              as :mod:`clew_services.core.sparql_json` has it
``POST /api/traces/erase``                              ``{"collection", "erased": number of runs}``
======================================================  ===============================================================

A row has the fields of :class:`clew_services.ports.TraceRow`, a quad is a Triple as on the bus. ``collection`` may be
left out for the default one, ``limit`` (1 to 10000) for 50. A list is narrowed by ``mechanism`` and ``state`` (each may
be given again), ``person``, ``since``, ``until``, ``text`` and ``tools=true``; ``after`` is the ``next`` of the page
before, which is empty where nothing may follow.

What is posted is a JSON object, said to be ``application/json``, and not by a page in a browser, whatever its site. A
query has ``query``, ``seconds`` (up to 600) and ``limit`` (up to 100000); it ends when its caller goes away. An erasing
has ``runs``, a list of question URIs, or ``all: true``. Errors are ``{"error": {"type", "message"}}``: 400
``bad-request``, 403 ``forbidden``, 404 ``unknown-trace``, 408 ``deadline-exceeded``, 503 ``store-failed``. The routes
ask for no token: whoever mounts them on more than the loopback puts one in front.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from clew_schema.errors import Error
from clew_schema.facts import Mechanism
from clew_schema.rdf import Triples
from clew_services.core.sparql_json import write_result
from clew_services.errors import BadRequest, ClewError, DeadlineExceeded, Forbidden, Refused
from clew_services.ports import TraceFilter
from clew_translators.trace_digest import collection_of
from clew_translators.trace_tree import RunState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from clew_services.ports import TraceStore

    Endpoint = Callable[[Request], Awaitable[Response]]

PATH = "/api/traces"
COLLECTIONS = "/api/collections"
DEFAULT_LIMIT = 50
MAX_LIMIT = 10_000
MAX_BODY = 4 * 2**20
"""Bytes of what is posted."""

_STATUS = ((DeadlineExceeded, 408), (Forbidden, 403), (Refused, 400))


class _Query(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    collection: str = ""
    query: str
    seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    limit: Annotated[int, Field(ge=0, le=100_000)] = 1_000


class _Erasing(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    collection: str = ""
    runs: list[str] = []
    all: bool = False


T = TypeVar("T")
Posted = TypeVar("Posted", bound=BaseModel)


def trace_routes(store: TraceStore) -> list[Route]:
    """The routes, to be mounted in an application."""
    api = _Api(store)
    return [
        Route(PATH, _told(api.listed), methods=["GET"]),
        Route(COLLECTIONS, _told(api.collections), methods=["GET"]),
        Route(PATH + "/query", _told(api.asked), methods=["POST"]),
        Route(PATH + "/erase", _told(api.erased), methods=["POST"]),
        Route(PATH + "/{uri:path}", _told(api.shown), methods=["GET"]),
    ]


class _Api:
    def __init__(self, store: TraceStore) -> None:
        self._store = store

    async def listed(self, request: Request) -> Response:
        given = request.query_params
        collection = collection_of(given.get("collection", ""))
        limit = _limit(given.get("limit", str(DEFAULT_LIMIT)))
        rows = await self._store.list(
            collection, limit=limit, where=_filter(given), after=given.get("after", "")
        )
        after = rows[-1].cursor if len(rows) == limit else ""
        return JSONResponse(
            {"collection": collection, "traces": [asdict(row) for row in rows], "next": after}
        )

    async def collections(self, _: Request) -> Response:
        return JSONResponse({"collections": list(await self._store.collections())})

    async def shown(self, request: Request) -> Response:
        collection = collection_of(request.query_params.get("collection", ""))
        uri = request.path_params["uri"]
        quads = await self._store.run(collection, uri)
        if not quads:
            return _refusal(
                404, "unknown-trace", f"no trace {uri} in collection {collection}: list them first"
            )
        triples = Triples(triples=tuple(quads)).model_dump(mode="json", include={"triples"})
        return JSONResponse({"collection": collection, "session_uri": uri} | triples)

    async def asked(self, request: Request) -> Response:
        asked = await _posted(request, _Query)
        query = self._store.query(
            collection_of(asked.collection), asked.query, seconds=asked.seconds, limit=asked.limit
        )
        return JSONResponse(write_result(await _while_heard(request, query)))

    async def erased(self, request: Request) -> Response:
        asked = await _posted(request, _Erasing)
        collection = collection_of(asked.collection)
        if asked.all and asked.runs:
            raise BadRequest("erase either runs or all, not both")
        if asked.all:
            count = await self._store.erase_collection(collection)
        else:
            count = await self._store.erase(collection, asked.runs)
        return JSONResponse({"collection": collection, "erased": count})


def _told(endpoint: Endpoint) -> Endpoint:
    """``endpoint`` whose errors are told to the caller."""

    @wraps(endpoint)
    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ClewError as error:
            status = next((status for kind, status in _STATUS if isinstance(error, kind)), 503)
            return _refusal(status, error.type, str(error))

    return answer


async def _while_heard(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` comes to; it is cancelled when nobody waits for it any more. The body has been read."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        task.cancel()

    task = asyncio.ensure_future(work)
    watcher = asyncio.ensure_future(left())
    try:
        return await task
    except asyncio.CancelledError:
        if watcher.done() and not watcher.cancelled():
            raise DeadlineExceeded("whoever asked went away") from None
        raise
    finally:
        watcher.cancel()


async def _posted(request: Request, model: type[Posted]) -> Posted:
    if "origin" in request.headers:
        raise Forbidden("no page may post here: ask with `clew trace`, or with a program of your own")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise BadRequest("post JSON, with the header content-type: application/json")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY:
            raise BadRequest(f"more than {MAX_BODY} bytes: send less at once")
    try:
        return model.model_validate_json(bytes(body), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "body"
        raise BadRequest(f"{where}: {first['msg']}") from error


def _filter(given: QueryParams) -> TraceFilter:
    return TraceFilter(
        mechanisms=frozenset(_one_of(given, "mechanism", get_args(Mechanism))),
        states=frozenset(_one_of(given, "state", get_args(RunState))),
        person=given.get("person", ""),
        since=given.get("since", ""),
        until=given.get("until", ""),
        text=given.get("text", ""),
        tools="true" in _one_of(given, "tools", ("true", "false")),
    )


def _one_of(given: QueryParams, name: str, known: tuple[Any, ...]) -> list[Any]:
    found = given.getlist(name)
    for each in found:
        if each not in known:
            raise BadRequest(f"{name} must be one of {', '.join(known)}, found {each[:40]!r}")
    return found


def _limit(text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MAX_LIMIT:
        return int(text)
    raise BadRequest(f"limit must be a number from 1 to {MAX_LIMIT}, found {text[:20]!r}")


def _refusal(status: int, type_: str, message: str) -> Response:
    body = Error(type=type_, message=message).model_dump(mode="json")
    return JSONResponse({"error": body}, status_code=status)
