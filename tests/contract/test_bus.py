"""The contract of the Bus port, on the bus in memory, on pulsar-lite, and on a real Pulsar 4.

Where brokers differ stands in ``bus_brokers.DIFFERENCES``. Traps that others fell into, and what keeps us out:

=====================================================  =============================================================
trap                                                   kept out by
=====================================================  =============================================================
a cancelled receive swallows a message                 test_a_cancelled_receive_loses_nothing, test_a_receive_that_…
a pending receive aborts the process at exit           test_a_process_that_forgets_to_close_ends_in_order
unsubscribing on shutdown loses the backlog            test_messages_wait_for_a_subscription_whose_last_consumer_left
two clients with one consumer id (pulsar-lite, B1)     test_three_clients_share_300_messages_exactly_once
Exclusive, Failover, Key_Shared, Reader (B2, B3, B8)   test_the_library_is_used_as_measured: Shared only
seek, batch index acks, schemas, regex (B4, B5, B7)    not used; test_a_batch_of_a_foreign_producer_…
an error closes the connection for all (B6)            a client per consumer on pulsar-lite; redelivery_count unread
delays are ignored (B10)                               test_deliver_at_is_a_hint
open ports, silent configuration errors (B13)          tests/adapters/test_pulsar_lite.py
producer names that collide (B14)                      test_the_library_is_used_as_measured
a producer per message grows memory                    test_producers_are_kept_and_bounded
10 ms of batching per message                          test_the_library_is_used_as_measured
the library's logger locks up or prints to stdout      test_a_process_that_forgets_… (stdout), no ``logger=`` of Python
fork is not safe                                       the child broker is started without ``preexec_fn``
too many sends in flight                               test_more_sends_than_the_library_would_queue
no token is a timeout                                  test_a_missing_token_is_named
a cancelled subscribe leaves a consumer behind         test_a_cancelled_subscribe_leaves_no_consumer
=====================================================  =============================================================
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite(
    *(f"tests.contract.bus_{name}" for name in ("basics", "brokers", "durability", "traps"))
)

from clew_services.adapters.bus.pulsar import PulsarBus  # noqa: E402 - what is imported below has assertions
from clew_services.adapters.bus.pulsar_lite import PulsarLite  # noqa: E402
from tests.contract.bus_basics import Basics  # noqa: E402
from tests.contract.bus_brokers import Broker, InMemory, Lite, Real  # noqa: E402
from tests.contract.bus_durability import Durability  # noqa: E402
from tests.contract.bus_traps import GuardedPulsar, PulsarTraps, TokenTraps  # noqa: E402
from tests.servers.pulsar import Pulsar  # noqa: E402


@pytest.fixture
def killable() -> Iterator[Pulsar]:
    """A server of each test's own: the shared one is in use by others, and one that was killed may load topics late."""
    with Pulsar() as server:
        yield server


@pytest.fixture(scope="module")
def guarded() -> Iterator[Pulsar]:
    with GuardedPulsar() as server:
        yield server


class TestMemory(Basics, Durability):
    @pytest.fixture
    def broker(self) -> Broker:
        return InMemory()

    @pytest.fixture
    def mortal(self, broker: Broker) -> Broker:
        return broker


class TestPulsarLite(Basics, Durability, PulsarTraps):
    @pytest.fixture
    async def broker(self, tmp_path: Path) -> AsyncIterator[Broker]:
        server = PulsarLite(tmp_path / "broker")
        await server.start()
        yield Lite(server)
        await server.stop()

    @pytest.fixture
    def mortal(self, broker: Broker) -> Broker:
        return broker


@pytest.mark.servers
class TestPulsar(Basics, Durability, PulsarTraps):
    @pytest.fixture
    def broker(self) -> Broker:
        return Real(os.environ["CLEW_TEST_PULSAR_URL"])

    @pytest.fixture
    async def mortal(self, killable: Pulsar) -> Broker:
        # A broker that has just started may take longer for its first topic than the suite's clients wait.
        bus = PulsarBus(killable.service_url, lite=False, operation_timeout=60, log_path=Path(os.devnull))
        await (await bus.subscribe("persistent://public/default/warm-up", "s", width=1)).close()
        await bus.close()
        return Real(killable.service_url, killable)


@pytest.mark.servers
class TestPulsarWithTokens(TokenTraps):
    @pytest.fixture
    def server(self, guarded: Pulsar) -> Pulsar:
        return guarded
