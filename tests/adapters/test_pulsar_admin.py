"""The admin API: the requests that are made, and, on a real broker, what they bring about."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable

import httpx
import pytest

from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.adapters.bus.pulsar_admin import PulsarAdmin, SubscriptionStats, TopicName
from clew_services.errors import BusFailed
from clew_services.ports import Outgoing

Answer = Callable[[httpx.Request], httpx.Response]


def admin(answer: Answer, token: str | None = None) -> PulsarAdmin:
    return PulsarAdmin("http://broker:8080/", token, transport=httpx.MockTransport(answer))


async def test_what_is_made_is_what_is_missing() -> None:
    seen: list[tuple[str, str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        seen.append((request.method, request.url.raw_path.decode().removeprefix("/admin/v2/"), body))
        assert request.headers["Authorization"] == "Bearer secret"
        match request.method, seen[-1][1]:
            case "GET", "clusters":
                return httpx.Response(200, json=["here"])
            case "GET", "tenants/new":
                return httpx.Response(404, json={"reason": "Tenant does not exist"})
            case "GET", _:
                return httpx.Response(200, json={})
            case "PUT", "persistent/new/n/old":
                return httpx.Response(409, json={"reason": "This topic already exists"})
            case _:
                return httpx.Response(204)

    async with admin(answer, "secret") as api:
        made = await api.ensure(
            ["persistent://new/n/a:b", "persistent://new/n/old", "non-persistent://old/m/x"],
            [("persistent://new/n/a:b", "s/ü")],
        )
    assert made.tenants == ["new"]
    assert made.namespaces == ["new/n", "old/m"]
    assert made.topics == ["persistent://new/n/a:b"]
    assert made.subscriptions == [("persistent://new/n/a:b", "s/ü")]
    assert seen == [
        ("GET", "tenants/new", None),
        ("GET", "clusters", None),
        ("PUT", "tenants/new", {"adminRoles": [], "allowedClusters": ["here"]}),
        ("GET", "tenants/old", None),
        ("PUT", "namespaces/new/n", None),
        ("PUT", "namespaces/old/m", None),
        ("PUT", "persistent/new/n/a%3Ab", None),
        ("PUT", "persistent/new/n/old", None),
        (
            "PUT",
            "persistent/new/n/a%3Ab/subscription/s%2F%C3%BC",
            {"ledgerId": -1, "entryId": -1, "partitionIndex": -1},
        ),
    ]


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "token"),
        (403, "token"),
        (404, "clew topics create"),
        (412, "not what Pulsar accepts"),
        (500, "log"),
    ],
)
async def test_a_refusal_says_what_to_do(status: int, advice: str) -> None:
    async with admin(lambda _: httpx.Response(status, json={"reason": "because"})) as api:
        with pytest.raises(BusFailed, match=rf"PUT .*persistent/t/n/x failed \({status} because\).*{advice}"):
            await api.create_topic("persistent://t/n/x")


async def test_no_answer_and_no_json_are_errors_too() -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("slow", request=request)

    async with admin(broken) as api:
        with pytest.raises(BusFailed, match=r"ConnectTimeout: slow.*address of Pulsar's web service"):
            await api.topics("t", "n")
    async with admin(lambda _: httpx.Response(502, text="<html>")) as api:
        with pytest.raises(BusFailed, match="502 <html>"):
            await api.create_namespace("t", "n")


@pytest.mark.parametrize(
    "topic", ["x", "persistent://a/b", "kafka://a/b/c", "persistent://a//c", "persistent://a/b/"]
)
def test_a_short_name_is_refused(topic: str) -> None:
    with pytest.raises(ValueError, match="persistent://TENANT/NAMESPACE/NAME"):
        TopicName.parse(topic)


@pytest.mark.servers
async def test_on_a_real_broker_what_was_made_keeps_messages() -> None:
    tenant = f"t{uuid.uuid4().hex[:8]}"
    topic = f"persistent://{tenant}/n/a:b"
    async with PulsarAdmin(os.environ["CLEW_TEST_PULSAR_ADMIN_URL"]) as api:
        assert (await api.ensure([topic])).topics == [topic]
        bus = PulsarBus(os.environ["CLEW_TEST_PULSAR_URL"], lite=False)
        await bus.publish(Outgoing(topic=topic, payload=b"before the subscription"))
        assert (await api.ensure([topic], [(topic, "s/ü")])).subscriptions == [(topic, "s/ü")]
        assert (await api.ensure([topic], [(topic, "s/ü")])).subscriptions == []
        await bus.publish(Outgoing(topic=topic, payload=b"after"))
        stats = await api.stats(topic)
        assert stats.subscriptions == {"s/ü": SubscriptionStats(backlog=2, unacked=0, consumers=0)}
        consumer = await bus.subscribe(topic, "s/ü", width=2, position="latest")
        assert [(await consumer.receive()).payload for _ in range(2)] == [
            b"before the subscription",
            b"after",
        ]
        await bus.close()
        assert await api.topics(tenant, "n") == [topic]
        with pytest.raises(BusFailed, match="404"):
            await api.stats(topic + "-none")
