"""Runs go to a tracing backend when they rest: whole, once they are stored, and never a trace of another system."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from clew_schema.facts import Fact
from clew_schema.rdf import Triples
from clew_services.adapters.otlp_http import OtlpHttpExporter
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.errors import ExportFailed, ExportRefused, StoreFailed
from clew_services.handlers.trace_export import ExportSpans
from clew_translators.explain.seal import sealed
from clew_translators.spans import TraceSpan
from tests.translators import courses, runs


class Backend:
    def __init__(self) -> None:
        self.told: list[Sequence[TraceSpan]] = []

    async def export(self, told: Sequence[TraceSpan]) -> None:
        self.told.append(told)


def batches(steps: Sequence[Sequence[Fact]]) -> list[Triples]:
    """The batches of a run whose facts are sealed, as the runtime seals them."""
    trail: tuple[Fact, ...] = ()
    out = []
    for step in steps:
        facts = sealed(step, trail)
        trail += facts
        out.append(facts)
    return runs.told(tuple(out))


async def test_a_run_goes_out_whole_when_it_ends() -> None:
    store, backend = MemoryTraceStore(), Backend()
    export = ExportSpans(store=store, exporter=backend)
    for batch in batches(courses.REWRITTEN_STEPS):
        assert backend.told == []
        await store.add([batch])
        await export(batch)
    (told,) = backend.told
    count = sum(map(len, courses.REWRITTEN_STEPS))
    assert len(told) == count  # the question is the run's own span
    assert told[0].attributes["clew.outcome"] == "partial"


async def test_a_pause_and_an_end_are_two_exports_of_one_trace() -> None:
    store, backend = MemoryTraceStore(), Backend()
    for batch in batches(courses.RESUMED_STEPS):
        await store.add([batch])
        await ExportSpans(store=store, exporter=backend)(batch)
    first, second = backend.told
    assert {span.span_id for span in first} < {span.span_id for span in second}
    assert {span.trace_id for span in (*first, *second)} == {first[0].trace_id}


async def test_a_store_that_has_not_caught_up_is_waited_for() -> None:
    store, backend = MemoryTraceStore(), Backend()
    *before, last = batches(runs.DOCUMENT_STEPS)
    export = ExportSpans(store=store, exporter=backend)
    with pytest.raises(StoreFailed, match="not stored whole"):
        await export(last)
    await store.add([before[0], last])
    with pytest.raises(StoreFailed, match="not stored whole"):
        await export(last)
    await store.add(before)
    await export(last)
    assert len(backend.told) == 1


async def test_what_is_no_run_of_ours_is_let_pass() -> None:
    backend = Backend()
    export = ExportSpans(store=MemoryTraceStore(), exporter=backend)
    await export(Triples())
    foreign = [quad for quad in runs.quads_of(runs.DOCUMENT_BATCHES) if quad.g == "urn:graph:retrieval"]
    await export(Triples(metadata=runs.DOCUMENT_BATCHES[-1].metadata, triples=tuple(foreign)))
    assert backend.told == []


def exporter(reply: httpx.Response | Exception, seen: list[httpx.Request], **more: Any) -> OtlpHttpExporter:
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return OtlpHttpExporter("http://collector:4318/", transport=httpx.MockTransport(answer), **more)


async def told() -> Sequence[TraceSpan]:
    store, backend = MemoryTraceStore(), Backend()
    for batch in batches(runs.DOCUMENT_STEPS):
        await store.add([batch])
        await ExportSpans(store=store, exporter=backend)(batch)
    return backend.told[0]


async def test_what_is_posted() -> None:
    seen: list[httpx.Request] = []
    client = exporter(httpx.Response(200, json={}), seen, headers={"api-key": "k"}, version="1.2")
    await client.export(await told())
    await client.export(())
    (request,) = seen
    assert (str(request.url), request.headers["content-type"]) == (
        "http://collector:4318/v1/traces", "application/json",
    )  # fmt: skip
    assert request.headers["api-key"] == "k"
    (resource,) = json.loads(request.content)["resourceSpans"]
    assert {"key": "service.version", "value": {"stringValue": "1.2"}} in resource["resource"]["attributes"]
    await client.close()
    await client.close()
    with pytest.raises(ExportFailed):
        await client.export(await told())


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (httpx.Response(503, text="busy"), ExportFailed),
        (httpx.Response(429), ExportFailed),
        (httpx.Response(500), ExportFailed),
        (httpx.ConnectError("refused"), ExportFailed),
        (httpx.ReadTimeout("slow"), ExportFailed),
        (httpx.Response(400, text="no"), ExportRefused),
        (httpx.Response(401, text="who are you"), ExportRefused),
        (httpx.Response(301, headers={"location": "http://elsewhere"}), ExportRefused),
        (
            httpx.Response(200, json={"partialSuccess": {"rejectedSpans": "2", "errorMessage": "old"}}),
            ExportRefused,
        ),
    ],
)
async def test_what_a_backend_does_not_take(
    reply: httpx.Response | Exception, error: type[Exception]
) -> None:
    with pytest.raises(error, match="http://collector:4318/v1/traces"):
        await exporter(reply, []).export(await told())


@pytest.mark.parametrize(
    "reply",
    [httpx.Response(200, content=b""), httpx.Response(202, json={"partialSuccess": {"rejectedSpans": 0}})],
)
async def test_what_it_takes(reply: httpx.Response) -> None:
    await exporter(reply, []).export(await told())


@pytest.mark.parametrize(
    ("endpoint", "posted"),
    [
        ("http://c:4318", "http://c:4318/v1/traces"),
        ("http://c/otlp/", "http://c/otlp/v1/traces"),
        ("http://c/v1/traces?key=x", "http://c/v1/traces?key=x"),
    ],
)
async def test_where_it_posts(endpoint: str, posted: str) -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(str(request.url))
        return httpx.Response(200)

    await OtlpHttpExporter(endpoint, transport=httpx.MockTransport(answer)).export(await told())
    assert seen == [posted]


async def test_a_password_in_the_address_is_not_shown() -> None:
    client = OtlpHttpExporter(
        "http://user:hunter2@collector/v1/traces?key=hunter3",
        transport=httpx.MockTransport(lambda _: httpx.Response(400)),
    )
    with pytest.raises(ExportRefused) as caught:
        await client.export(await told())
    assert "hunter" not in str(caught.value)
