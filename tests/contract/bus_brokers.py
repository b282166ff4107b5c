"""The brokers on which the contract of the bus is checked, and where they differ."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew_services.adapters.bus.memory import MemoryBroker, MemoryBus, MemorySubscription
from clew_services.adapters.bus.pulsar import PulsarBus

if TYPE_CHECKING:
    from clew_services.adapters.bus.pulsar_lite import PulsarLite
    from clew_services.ports import Bus
    from tests.servers.pulsar import Pulsar

Sending = Callable[[], Awaitable[None]]
ROOT = Path(__file__).parents[2]
SEND_TIMEOUT = 3.0


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What a broker does unlike the others. Tests read it and expect accordingly; none is skipped."""

    delays: bool
    """Whether ``deliver_at`` is honoured."""
    namespaces: bool
    """Whether tenant and namespace must be made before a topic can be used."""
    forgets_acks: bool
    """Whether a killed broker may have forgotten acknowledgements that it took before."""


DIFFERENCES = {
    "memory": Differences(delays=True, namespaces=False, forgets_acks=False),
    # Delays: it takes the field and ignores it. Namespaces: any name is a topic.
    "pulsar-lite": Differences(delays=False, namespaces=False, forgets_acks=False),
    # Acknowledgements: the cursor is written from time to time, a kill loses what came since.
    "pulsar": Differences(delays=True, namespaces=True, forgets_acks=True),
}


class Broker(ABC):
    """One running broker, as the suite needs it."""

    kind: str

    @property
    def differences(self) -> Differences:
        return DIFFERENCES[self.kind]

    def topic(self) -> str:
        """A topic that nobody used."""
        return f"persistent://public/default/t-{uuid.uuid4().hex[:12]}"

    @abstractmethod
    def bus(self, rank: int = 0) -> Bus:
        """A new connection, as that of another process; ``rank`` tells processes on one subscription apart."""

    @abstractmethod
    async def kill(self) -> None:
        """Kill the broker, and keep it dead until `revive`."""

    @abstractmethod
    async def revive(self) -> None:
        """Start it again on the same data; return once it serves."""

    @abstractmethod
    async def die_holding(self, topic: str, subscription: str, count: int) -> None:
        """A client receives `count` messages and dies without a word before it settles one."""

    @abstractmethod
    async def consume_apart(self, clients: int, topic: str, sending: Sending, count: int) -> list[list[str]]:
        """So many clients, each a process if possible, settle `count` messages together; what each one got.

        They share the subscription "s". `sending` begins when all of them are there.
        """


class InMemory(Broker):
    kind = "memory"

    def __init__(self) -> None:
        self.broker = MemoryBroker()

    def bus(self, rank: int = 0) -> MemoryBus:
        return MemoryBus(broker=self.broker)

    async def kill(self) -> None:
        self.broker.stop()

    async def revive(self) -> None:
        self.broker.start()

    async def die_holding(self, topic: str, subscription: str, count: int) -> None:
        bus = self.bus()
        consumer = await bus.subscribe(topic, subscription, width=count)
        for _ in range(count):
            await consumer.receive()
        bus.crash()

    async def consume_apart(self, clients: int, topic: str, sending: Sending, count: int) -> list[list[str]]:
        got: list[list[str]] = [[] for _ in range(clients)]
        left = asyncio.Semaphore(0)
        consumers = [await self.bus().subscribe(topic, "s", width=8) for _ in got]

        async def work(consumer: MemorySubscription, mine: list[str]) -> None:
            while True:
                delivery = await consumer.receive()
                await asyncio.sleep(0)
                await consumer.ack(delivery)
                mine.append(delivery.payload.decode())
                left.release()

        workers = [asyncio.ensure_future(work(*pair)) for pair in zip(consumers, got, strict=True)]
        await sending()
        for _ in range(count):
            await left.acquire()
        for worker in workers:
            worker.cancel()
        return got


class OnPulsar(Broker):
    """What pulsar-lite and the real broker have in common: clients are processes."""

    url: str
    lite: bool

    def bus(self, rank: int = 0, **options: Any) -> PulsarBus:
        return PulsarBus(
            self.url,
            lite=self.lite,
            lite_rank=rank,
            operation_timeout=SEND_TIMEOUT,
            send_timeout=SEND_TIMEOUT,
            nack_delay=0.2,
            log_path=Path(os.devnull),
            **options,
        )

    async def worker(
        self, rank: int, topic: str, subscription: str, *mode: str
    ) -> asyncio.subprocess.Process:
        """A client process (`bus_worker.py`)."""
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.contract.bus_worker", self.url, str(int(self.lite)), str(rank)),
            *(topic, subscription, *mode),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

    async def die_holding(self, topic: str, subscription: str, count: int) -> None:
        worker = await self.worker(7, topic, subscription, "hold", str(count))
        assert worker.stdout is not None
        assert await asyncio.wait_for(worker.stdout.readline(), 20) == b"holding\n"
        worker.kill()
        await worker.communicate()

    async def consume_apart(self, clients: int, topic: str, sending: Sending, count: int) -> list[list[str]]:
        workers = [await self.worker(rank, topic, "s", "consume") for rank in range(clients)]
        got: list[list[str]] = [[] for _ in workers]
        done = asyncio.Semaphore(0)

        async def follow(worker: asyncio.subprocess.Process, mine: list[str]) -> None:
            assert worker.stdout is not None
            async for line in worker.stdout:
                mine.append(line.decode().strip())
                done.release()

        for worker in workers:
            assert worker.stdout is not None
            assert await asyncio.wait_for(worker.stdout.readline(), 20) == b"consuming\n"
        followers = [asyncio.ensure_future(follow(*pair)) for pair in zip(workers, got, strict=True)]
        await sending()
        for _ in range(count):
            await asyncio.wait_for(done.acquire(), 30)
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.close()
        await asyncio.gather(*followers)
        assert [await worker.wait() for worker in workers] == [0] * clients
        return got


class Lite(OnPulsar):
    kind = "pulsar-lite"
    lite = True

    def __init__(self, server: PulsarLite) -> None:
        self.server = server
        self.url = server.url

    async def kill(self) -> None:
        """A killed broker would be started again at once; only a stopped one stays away."""
        self.server.kill()
        await self.server.stop()

    async def revive(self) -> None:
        await self.server.start()


class Real(OnPulsar):
    kind = "pulsar"
    lite = False

    def __init__(self, url: str, server: Pulsar | None = None) -> None:
        self.url = url
        self.server = server

    async def kill(self) -> None:
        assert self.server is not None, "the server that all tests share is not killed"
        await asyncio.to_thread(self.server.kill)

    async def revive(self) -> None:
        assert self.server is not None
        await asyncio.to_thread(self.server.start)
