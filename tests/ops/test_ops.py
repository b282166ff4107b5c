"""What an orchestrator sees: alive, ready, or why not."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rdflib import OWL, RDF, Graph, URIRef
from starlette.applications import Starlette

from clew_schema.envelope import Envelope
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.ports import Outgoing
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.ops import ops_app
from clew_services.runtime.trace_api import trace_routes
from tests.flow.house import CLEW, House

NAMES = {
    "clew_step_seconds": {"step", "le"},
    "clew_messages": {"step", "outcome"},
    "clew_in_flight": {"step"},
    "clew_oldest_in_flight_seconds": {"step"},
    "clew_brake_on": {"step"},
    "clew_consumer_stuck": {"step"},
}
"""The documented metrics (docs/reference/metrics-and-events.md) with their labels."""


def app(house: House) -> Starlette:
    routes = trace_routes(house.traces)
    return ops_app(house.service, house.bus, house.parts.observer.metrics, routes)


def asking(application: Starlette) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://ops")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with House(tmp_path) as built:
        yield built


async def eventually(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(10):
        while not await holds():
            await asyncio.sleep(0.01)


async def test_alive_and_ready_with_every_step_named(house: House) -> None:
    async with asking(app(house)) as ops:
        live, ready = await ops.get("/livez"), await ops.get("/readyz")
    assert (live.status_code, live.json()) == (200, {"status": "ok"})
    assert ready.status_code == 200
    body = ready.json()
    assert (body["status"], body["broker"]) == ("ok", "ok")
    assert set(body["steps"]) == {c.step.name for c in house.service.consumers}
    assert {step["ready"] for step in body["steps"].values()} == {True}


async def test_a_brake_that_is_on_fails_readiness_and_names_the_step(house: House) -> None:
    first = house.service.consumers[0]
    for _ in range(first.brake.limit):
        first.brake.pull()
    async with asking(app(house)) as ops:
        ready = await ops.get("/readyz")
        assert ready.status_code == 503
        assert {name for name, step in ready.json()["steps"].items() if step["brake"]} == {first.step.name}
        assert (await ops.get("/livez")).status_code == 200, "a restart would not mend it"


async def test_a_consumer_that_is_lost_fails_readiness_until_it_is_back(house: House) -> None:
    async with asking(app(house)) as ops:

        async def is_ready() -> bool:
            return (await ops.get("/readyz")).status_code == 200

        async def is_not() -> bool:
            return not await is_ready()

        house.bus.crash()
        await eventually(is_not)
        await eventually(is_ready)


async def test_services_that_stopped_are_not_ready(house: House) -> None:
    await house.service.stop()
    async with asking(app(house)) as ops:
        assert (await ops.get("/readyz")).status_code == 503


async def test_a_broker_that_is_away_fails_readiness_and_not_liveness(house: House) -> None:
    house.bus.broker.stop()
    async with asking(app(house)) as ops:
        ready = await ops.get("/readyz")
        assert ready.status_code == 503
        assert "stopped" in ready.json()["broker"]
        assert (await ops.get("/livez")).status_code == 200
    house.bus.broker.start()


class SilentBus(MemoryBus):
    """A broker that takes the question and never answers."""

    async def ping(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.slow
async def test_a_broker_that_does_not_answer_in_two_seconds_fails_readiness(tmp_path: Path) -> None:
    async with House(tmp_path, bus=SilentBus(SystemClock())) as house, asking(app(house)) as ops:
        began = asyncio.get_running_loop().time()
        ready = await ops.get("/readyz")
        assert 1.9 < asyncio.get_running_loop().time() - began < 4
        assert (ready.status_code, ready.json()["broker"]) == (503, "the broker did not answer in 2 s")


async def test_metrics_are_prometheus_with_the_documented_names_and_labels_alone(house: House) -> None:
    await house.load("clew.md", CLEW)
    await house.ask("What is a clew?", session_id="a-session-that-must-not-be-a-label")
    await house.ask("What is a clew?", collection="nowhere")
    garbage = Outgoing(
        topic=house.settings.space.full("document-rag-request"),
        payload=b"garbage",
        properties=Envelope(message_id="m").properties(),
    )
    await house.bus.publish(garbage)
    async with asking(app(house)) as ops:

        async def buried() -> bool:
            return 'outcome="buried"' in (await ops.get("/metrics")).text

        await eventually(buried)
        reply = await ops.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {family.name: family for family in text_string_to_metric_families(reply.text)}
    ours = {name: family for name, family in families.items() if not name.endswith("_created")}
    assert set(ours) == set(NAMES)
    steps = {consumer.step.name for consumer in house.service.consumers}
    for name, family in families.items():
        assert family.documentation
        for sample in family.samples:
            assert set(sample.labels) <= NAMES.get(name, {"step", "outcome"})
            assert sample.labels["step"] in steps
    counts = {
        (s.labels["step"], s.labels["outcome"]): s.value
        for s in ours["clew_messages"].samples
        if s.name.endswith("_total")
    }
    assert counts["document-rag.answer", "done"] == 1
    assert counts["document-rag.plan", "refused"] == 1
    assert counts["document-rag.plan", "buried"] == 1
    assert {outcome for _, outcome in counts} <= {
        "done", "replayed", "refused", "retried", "buried", "settle_failed",
    }  # fmt: skip
    assert "a-session-that-must-not-be-a-label" not in reply.text


def test_the_reference_documents_these_metrics() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "metrics-and-events.md").read_text()
    documented = set(re.findall(r"clew_[a-z_]+", page))
    assert {
        name.removesuffix("_total") for name in documented if not name.startswith("clew_services")
    } == set(NAMES)


async def test_the_trace_api_is_mounted_beside(house: House) -> None:
    await house.load("clew.md", CLEW)
    answer = await house.ask("What is a clew?")
    async with asking(app(house)) as ops:

        async def told() -> bool:
            return bool((await ops.get("/api/traces")).json()["traces"])

        await eventually(told)
        (row,) = (await ops.get("/api/traces")).json()["traces"]
        assert row["session_uri"].endswith(answer.session_id)
        run = await ops.get(f"/api/traces/{row['session_uri']}")
        assert run.json()["triples"]
        other = await ops.get(f"/api/traces/{row['session_uri']}", params={"collection": "b"})
        assert (other.status_code, other.json()["error"]["type"]) == (404, "unknown-trace")


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
@pytest.mark.parametrize("path", ["/livez", "/readyz", "/metrics", "/api/traces"])
async def test_everything_is_read_only(house: House, method: str, path: str) -> None:
    async with asking(app(house)) as ops:
        assert (await ops.request(method, path)).status_code == 405
        assert (await ops.get("/nothing")).status_code == 404


async def test_readiness_answers_many_at_once(house: House) -> None:
    async with asking(app(house)) as ops:
        replies = await asyncio.gather(*(ops.get("/readyz") for _ in range(50)))
    assert {reply.status_code for reply in replies} == {200}
    assert json.loads(replies[0].text)["steps"]


async def test_the_vocabulary_of_traces_is_served_as_turtle(house: House) -> None:
    async with asking(app(house)) as ops:
        served = await ops.get("/ns")
    assert (served.status_code, served.headers["content-type"]) == (200, "text/turtle; charset=utf-8")
    graph = Graph().parse(data=served.text, format="turtle")
    assert len(set(graph.subjects(RDF.type, OWL.Ontology))) == 1
    assert (URIRef("urn:clew:ns#Claim"), RDF.type, OWL.Class) in graph


async def test_an_operator_takes_brakes_off(tmp_path: Path) -> None:
    async with House(tmp_path) as house, asking(app(house)) as client:
        assert (await client.post("/brake/release", json={})).json() == {"released": []}
        consumers = {consumer.step.name: consumer for consumer in house.service.consumers}
        for name in ("grading.grade", "agent.think"):
            consumers[name].brake.on = True
        assert (await client.get("/readyz")).status_code == 503
        told = await client.post("/brake/release", json={"steps": ["grading.grade"]})
        assert told.json() == {"released": ["grading.grade"]}
        assert (await client.post("/brake/release", json={"steps": []})).json() == {
            "released": ["agent.think"]
        }
        assert (await client.get("/readyz")).status_code == 200
        bodies: tuple[object, ...] = ({"steps": ["no.such"]}, [], {"steps": 5})
        for body in bodies:
            refused = await client.post("/brake/release", json=body)
            assert (refused.status_code, refused.json()["error"]["type"]) == (400, "bad-request")
        assert (await client.post("/brake/release", content=b"no json")).status_code == 400
