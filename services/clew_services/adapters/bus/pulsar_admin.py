"""Tenants, namespaces, topics and subscriptions of a real Pulsar, over its admin REST API.

A broker makes topics by itself but neither tenants nor namespaces, and a subscription that nobody made
keeps nothing: so `clew topics create` makes all of them before the first service starts. pulsar-lite has
no such API and needs none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx

from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

EARLIEST = {"ledgerId": -1, "entryId": -1, "partitionIndex": -1}
"""Pulsar's MessageId.earliest as the API reads it. Without it a subscription begins with what comes next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionStats:
    """Counts of one subscription: messages not acknowledged, those of them handed out, consumers connected."""

    backlog: int
    unacked: int
    consumers: int
    delayed: int = 0
    """Of the backlog, what is not due yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStats:
    """Counts of one topic."""

    subscriptions: Mapping[str, SubscriptionStats]
    producers: int
    storage_bytes: int


@dataclass(frozen=True, slots=True)
class TopicName:
    """A full topic name, taken apart."""

    kind: str
    tenant: str
    namespace: str
    name: str

    @classmethod
    def parse(cls, topic: str) -> TopicName:
        """From ``persistent://tenant/namespace/name``; raises ValueError for anything else."""
        kind, _, rest = topic.partition("://")
        parts = rest.split("/", 2)
        if kind not in {"persistent", "non-persistent"} or len(parts) != 3 or not all(parts):
            raise ValueError(f"topic {topic!r}: expected persistent://TENANT/NAMESPACE/NAME")
        return cls(kind, *parts)

    @property
    def path(self) -> str:
        """Its part of an admin URL."""
        return "/".join([self.kind, *(quote(p, safe="") for p in (self.tenant, self.namespace, self.name))])


@dataclass(slots=True)
class Ensured:
    """What ``PulsarAdmin.ensure`` had to make; what existed before is not listed."""

    tenants: list[str] = field(default_factory=list)
    namespaces: list[str] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    subscriptions: list[tuple[str, str]] = field(default_factory=list)


class PulsarAdmin:
    """The admin API of one cluster. Every method raises BusFailed, whose text says what to do.

    Args:
        url: ``http://host:8080``.
        token: sent as a bearer token.
        timeout: seconds for one request.
        transport: another way to carry requests, for tests.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.AsyncClient(
            base_url=f"{self._url}/admin/v2/", headers=headers, timeout=timeout, transport=transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    async def create_tenant(self, tenant: str) -> bool:
        """Make a tenant that may use all clusters; false if it exists."""
        clusters = (await self._request("GET", "clusters")).json()
        body = {"adminRoles": [], "allowedClusters": clusters}
        return await self._create(f"tenants/{quote(tenant, safe='')}", body)

    async def create_namespace(self, tenant: str, namespace: str) -> bool:
        """Make a namespace; false if it exists."""
        return await self._create(f"namespaces/{quote(tenant, safe='')}/{quote(namespace, safe='')}")

    async def create_topic(self, topic: str) -> bool:
        """Make a topic without partitions; false if it exists."""
        return await self._create(TopicName.parse(topic).path)

    async def create_subscription(self, topic: str, subscription: str) -> bool:
        """Make a durable subscription that begins with the oldest message kept; false if it exists."""
        name = TopicName.parse(topic)
        return await self._create(f"{name.path}/subscription/{quote(subscription, safe='')}", EARLIEST)

    async def topics(self, tenant: str, namespace: str) -> list[str]:
        """Full names of the persistent topics of a namespace."""
        found = await self._request("GET", f"persistent/{quote(tenant, safe='')}/{quote(namespace, safe='')}")
        return sorted(found.json())

    async def stats(self, topic: str) -> TopicStats:
        """Counts of a topic."""
        body = (await self._request("GET", f"{TopicName.parse(topic).path}/stats")).json()
        return TopicStats(
            subscriptions={
                name: SubscriptionStats(
                    backlog=found.get("msgBacklog", 0),
                    unacked=found.get("unackedMessages", 0),
                    consumers=len(found.get("consumers", [])),
                    delayed=found.get("msgDelayed", 0),
                )
                for name, found in body.get("subscriptions", {}).items()
            },
            producers=len(body.get("publishers", [])),
            storage_bytes=body.get("storageSize", 0),
        )

    async def ensure(self, topics: Iterable[str], subscriptions: Iterable[tuple[str, str]] = ()) -> Ensured:
        """Make whatever is missing: tenants, namespaces, topics, and (topic, subscription) pairs.

        A non-persistent topic gets its tenant and namespace only: it exists when it is used.
        Running it again changes nothing. Raises ValueError for a topic that is not a full name.
        """
        made = Ensured()
        pairs = list(subscriptions)
        names = {topic: TopicName.parse(topic) for topic in [*topics, *(topic for topic, _ in pairs)]}
        for tenant in dict.fromkeys(name.tenant for name in names.values()):
            if await self._missing(f"tenants/{quote(tenant, safe='')}") and await self.create_tenant(tenant):
                made.tenants.append(tenant)
        for tenant, namespace in dict.fromkeys((name.tenant, name.namespace) for name in names.values()):
            if await self.create_namespace(tenant, namespace):
                made.namespaces.append(f"{tenant}/{namespace}")
        for topic, name in names.items():
            if name.kind == "persistent" and await self.create_topic(topic):
                made.topics.append(topic)
        for topic, subscription in pairs:
            if names[topic].kind == "persistent" and await self.create_subscription(topic, subscription):
                made.subscriptions.append((topic, subscription))
        return made

    async def close(self) -> None:
        """Release the connections. Idempotent."""
        await self._http.aclose()

    async def _missing(self, path: str) -> bool:
        return (await self._request("GET", path, accept=frozenset({404}))).status_code == 404

    async def _create(self, path: str, body: Any = None) -> bool:
        reply = await self._request("PUT", path, body=body, accept=frozenset({409}))
        return reply.status_code != 409

    async def _request(
        self, method: str, path: str, *, body: Any = None, accept: frozenset[int] = frozenset()
    ) -> httpx.Response:
        what = f"{method} {self._url}/admin/v2/{path}"
        try:
            reply = await self._http.request(method, path, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise BusFailed(
                f"{what} failed ({type(error).__name__}: {error}): is this the address of Pulsar's web service, "
                "and does it run? pulsar-lite has none and needs no topics made"
            ) from error
        if reply.is_success or reply.status_code in accept:
            return reply
        raise BusFailed(f"{what} failed ({reply.status_code} {_reason(reply)}): {_advice(reply.status_code)}")


def _reason(reply: httpx.Response) -> str:
    try:
        return str(reply.json()["reason"])
    except (ValueError, KeyError, TypeError):
        return reply.text[:200]


def _advice(status: int) -> str:
    if status in {401, 403}:
        return "give a token of a role that may administer this tenant"
    if status == 404:
        return "it does not exist; make its tenant and namespace first, or run `clew topics create`"
    if status == 412:
        return "the name or the settings are not what Pulsar accepts"
    return "see the broker's log"
