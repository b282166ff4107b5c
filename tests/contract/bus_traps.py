"""What only Pulsar and its client library can do wrong."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import os

import _pulsar
import httpx
import pulsar
import pulsar.asyncio
import pytest

from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.adapters.bus.pulsar_client import PulsarSecurity
from clew_services.errors import BusFailed, TooLarge
from clew_services.ports import Outgoing
from tests.contract.bus_basics import bodies, drain, numbers, send, take
from tests.contract.bus_brokers import OnPulsar
from tests.servers.pulsar import Pulsar


def quiet() -> pulsar.FileLogger:
    return pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/null")


class PulsarTraps:
    async def test_a_process_that_forgets_to_close_ends_in_order(self, broker: OnPulsar) -> None:
        bus, topic = broker.bus(), broker.topic()
        await (await bus.subscribe(topic, "s", width=1)).close()
        for round_ in numbers(3):
            await send(bus, topic, round_)
            worker = await broker.worker(1, topic, "s", "forget")
            output, errors = await asyncio.wait_for(worker.communicate(), 30)
            assert (worker.returncode, output, errors) == (0, b"forgotten 2\n", b"")
        consumer = await bus.subscribe(topic, "s", width=8)
        assert sorted(await drain(consumer)) == numbers(3)
        await bus.close()

    async def test_a_consumer_holds_no_message_twice(self, mortal: OnPulsar) -> None:
        bus, topic = mortal.bus(), mortal.topic()
        consumer = await bus.subscribe(topic, "s", width=8)
        await send(bus, topic, *numbers(3))
        held = await take(consumer, 3, ack=False)
        await mortal.kill()
        await mortal.revive()
        await send(bus, topic, "after")
        assert bodies(await take(consumer, 1)) == ["after"]
        for delivery in held:
            await consumer.ack(delivery)
        assert await drain(consumer) == []
        await bus.close()
        bus = mortal.bus()
        assert await drain(await bus.subscribe(topic, "s", width=8)) == []
        await bus.close()

    async def test_producers_are_kept_and_bounded(self, broker: OnPulsar) -> None:
        pinned = broker.topic()
        bus = broker.bus(max_producers=2, pinned=[pinned])
        topics = [pinned, *(broker.topic() for _ in range(6))]
        for topic in topics * 2:
            await bus.subscribe(topic, "keeper", width=1)
            await send(bus, topic, "x")
        assert len(bus._producers) == 3
        assert pinned in bus._producers._entries
        for topic in topics:
            assert bodies(await take(await bus.subscribe(topic, "s", width=2), 2)) == ["x", "x"]
        await bus.close()

    async def test_more_sends_than_the_library_would_queue(self, broker: OnPulsar) -> None:
        bus, topic = broker.bus(max_in_flight=20), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=64)
        await asyncio.gather(*(send(bus, topic, body) for body in numbers(500)))
        assert sorted(bodies(await take(consumer, 500))) == numbers(500)
        await bus.close()

    async def test_the_library_is_used_as_measured(self, broker: OnPulsar) -> None:
        """Names of producers differ between processes, nothing is batched, a second consumer may join."""
        first, second, topic = broker.bus(), broker.bus(1), broker.topic()
        consumers = [await first.subscribe(topic, "s", width=8), await second.subscribe(topic, "s", width=8)]
        client = pulsar.asyncio.Client(broker.url, logger=quiet())
        raw = await client.subscribe(topic, "raw", consumer_type=pulsar.ConsumerType.Shared)
        await send(first, topic, "x", "y")
        await send(second, topic, "z")
        messages = [(await raw.receive())._message for _ in range(3)]
        assert len({m.producer_name() for m in messages}) == 2
        assert {m.message_id().batch_index() for m in messages} == {-1}
        assert sum([len(await drain(consumer)) for consumer in consumers]) == 3
        await client.close()
        await first.close()
        await second.close()

    async def test_foreign_bytes_in_key_and_properties_are_no_end_of_the_consumer(
        self, broker: OnPulsar
    ) -> None:
        bus, topic = broker.bus(), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=8)
        client = pulsar.asyncio.Client(broker.url, logger=quiet())
        producer = await client.create_producer(topic, batching_enabled=False)
        builder = _pulsar.MessageBuilder()
        builder.content(b"body")
        builder.property(b"\xff", b"\xfe")
        builder.partition_key(b"\xfd")
        sent = asyncio.get_running_loop().create_future()
        producer._producer.send_async(
            builder.build(), lambda result, _: sent.get_loop().call_soon_threadsafe(sent.set_result, result)
        )
        assert await sent == _pulsar.Result.Ok
        await send(bus, topic, "after")
        got = await take(consumer, 2)
        assert [(d.payload, d.key, d.properties) for d in got] == [(b"body", "", {}), (b"after", "", {})]
        await client.close()
        await bus.close()

    async def test_a_batch_of_a_foreign_producer_is_settled_one_by_one(self, broker: OnPulsar) -> None:
        """Settling a part of a batch settles none of the rest: all six come again, and never fewer."""
        bus, topic = broker.bus(), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=8)
        client = pulsar.asyncio.Client(broker.url, logger=quiet())
        producer = await client.create_producer(
            topic, batching_enabled=True, batching_max_publish_delay_ms=100
        )
        await asyncio.gather(*(producer.send(body.encode()) for body in numbers(6)))
        held = await take(consumer, 6, ack=False)
        assert len({d.broker_id for d in held}) == 6
        await consumer.ack(held[0])
        await consumer.ack(held[1])
        await consumer.close()
        consumer = await bus.subscribe(topic, "s", width=8)
        assert set(bodies(await take(consumer, 4, ack=False))) <= set(numbers(6))
        await consumer.close()
        consumer = await bus.subscribe(topic, "s", width=8)
        assert set(await drain(consumer)) >= set(numbers(6)[2:])
        assert await drain(consumer) == []
        await client.close()
        await bus.close()

    async def test_a_cancelled_subscribe_leaves_no_consumer(self, broker: OnPulsar) -> None:
        bus, topic = broker.bus(), broker.topic()
        await (await bus.subscribe(topic, "s", width=1)).close()
        for _ in range(5):
            opening = asyncio.ensure_future(bus.subscribe(topic, "s", width=8))
            for _ in range(3):
                await asyncio.sleep(0)  # the question is under way, the answer cannot be there yet
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening
        await send(bus, topic, *numbers(20))
        got = await take(await bus.subscribe(topic, "s", width=8), 20)
        assert sorted(bodies(got)) == numbers(20)
        await bus.close()

    async def test_a_body_that_only_the_broker_refuses(self, broker: OnPulsar) -> None:
        bus, topic = broker.bus(max_bytes=20_000_000), broker.topic()
        consumer = await bus.subscribe(topic, "s", width=8)
        with pytest.raises(TooLarge, match="refuses"):
            # Random, so that the compression on the way does not make it small.
            await bus.publish(Outgoing(topic=topic, payload=os.urandom(6_000_000)))
        await send(bus, topic, "after")
        assert bodies(await take(consumer, 1)) == ["after"]
        await bus.close()

    async def test_an_address_without_a_broker_says_what_to_check(self, broker: OnPulsar) -> None:
        with pytest.raises(ValueError, match="pulsar://HOST"):
            PulsarBus("localhost:6650", lite=broker.lite)
        bus = PulsarBus("pulsar://127.0.0.1:1", lite=broker.lite, operation_timeout=1, log_path=None)
        with pytest.raises(BusFailed, match=r"127\.0\.0\.1:1 .*is it running.*token"):
            await bus.ping()
        await bus.close()


def token(secret: bytes, subject: str) -> str:
    """A JSON web token, HS256: RFC 7515 and 7519."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    claims = json.dumps({"sub": subject}).encode()
    signed = ".".join([part(b'{"alg":"HS256"}'), part(claims)])
    return f"{signed}.{part(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


SECRET = b"0123456789abcdef0123456789abcdef"


def token_settings() -> dict[str, str]:
    """Lines of a broker's configuration: tokens signed with SECRET, ``admin`` may do everything."""
    return {
        "authenticationEnabled": "true",
        "authorizationEnabled": "true",
        "authenticationProviders": "org.apache.pulsar.broker.authentication.AuthenticationProviderToken",
        "tokenSecretKey": f"data:;base64,{base64.b64encode(SECRET).decode()}",
        "superUserRoles": "admin",
        "brokerClientAuthenticationPlugin": "org.apache.pulsar.client.impl.auth.AuthenticationToken",
        "brokerClientAuthenticationParameters": f"token:{token(SECRET, 'admin')}",
    }


class GuardedPulsar(Pulsar):
    """A server that lets nobody in without a token, the launcher's own question included."""

    def __init__(self) -> None:
        super().__init__(settings=token_settings())

    def ready(self) -> bool:
        headers = {"Authorization": f"Bearer {token(SECRET, 'admin')}"}
        try:
            answers = [
                httpx.get(f"{self.admin_url}/admin/v2/{path}", headers=headers, timeout=5).status_code
                for path in ("brokers/health", "namespaces/public/default")
            ]
        except httpx.TransportError:
            return False
        return answers == [200, 200]


class TokenTraps:
    TOPIC = "persistent://public/default/guarded"

    def bus(self, server: Pulsar, secret: str = "") -> PulsarBus:
        security = PulsarSecurity(token=secret)
        assert secret not in repr(security) or not secret
        return PulsarBus(server.service_url, lite=False, security=security, operation_timeout=10)

    async def test_the_right_token_opens(self, server: Pulsar) -> None:
        bus = self.bus(server, token(SECRET, "admin"))
        consumer = await bus.subscribe(self.TOPIC, "s", width=1)
        await send(bus, self.TOPIC, "x")
        assert bodies(await take(consumer, 1)) == ["x"]
        await bus.close()

    async def test_a_missing_token_is_named(self, server: Pulsar) -> None:
        bus = self.bus(server)
        with pytest.raises(BusFailed, match="without a token"):
            await send(bus, self.TOPIC, "x")
        await bus.close()

    async def test_a_role_without_permission_is_told_so(self, server: Pulsar) -> None:
        bus = self.bus(server, token(SECRET, "stranger"))
        with pytest.raises(BusFailed, match="grant it the permission"):
            await send(bus, self.TOPIC, "x")
        await bus.close()
