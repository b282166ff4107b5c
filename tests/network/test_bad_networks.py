"""Two hundred questions over a bad network between the services and their broker: the siege's own judgement."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from clew_services.adapters.bus.pulsar_lite import PulsarLite
from tests.chaos.siege import Siege
from tests.network.proxy import (
    CUT,
    DEAF_CLIENT,
    DEAF_SERVER,
    DRIP,
    LATE,
    PAUSED,
    REFUSING,
    WELL,
    Ill,
    between,
)
from tests.servers.pulsar import Pulsar

pytestmark = pytest.mark.slow

ILLS = {
    "pause": (PAUSED, 3.0),
    "deaf server": (DEAF_SERVER, 3.0),
    "deaf client": (DEAF_CLIENT, 3.0),
    "reset": (REFUSING, 1.0),
    "late": (LATE, 4.0),
    "cut": (CUT, 4.0),
    "drip": (DRIP, 4.0),
}
"""What is wrong, and for how many seconds, twice in a run."""


async def besiege(folder: Path, broker: str, kind: str, ill: Ill, seconds: float) -> None:
    host, port = broker.removeprefix("pulsar://").split(":")
    async with between(host, int(port), lookups=True) as proxy:

        async def accident() -> None:
            before = sum(proxy.passed)
            proxy.ail(ill)
            await asyncio.sleep(seconds)
            proxy.ail(WELL)
            assert before, "all that the services say to the broker goes through the proxy"

        siege = Siege(folder, (f"pulsar://127.0.0.1:{proxy.listens}", kind))
        await siege.run(accident, accidents=2, rng=random.Random(7))
        assert proxy.passed[0] > 200_000
        assert proxy.passed[1] > 200_000
        await siege.check()


@pytest.mark.parametrize("name", ["pause", "deaf client"])
async def test_between_services_and_pulsar_lite(name: str, tmp_path: Path) -> None:
    """Not resets and cuts: pulsar-lite keeps a consumer whose connection was reset (decision 0007), and is not made
    to have a network between itself and who embeds it."""
    broker = PulsarLite(tmp_path / "broker")
    await broker.start()
    try:
        await besiege(tmp_path, broker.url, "lite", *ILLS[name])
    finally:
        await broker.stop()


@pytest.mark.servers
@pytest.mark.parametrize("name", os.environ.get("CLEW_BAD_NETWORKS", "reset cut").split())
async def test_between_services_and_pulsar(name: str, tmp_path: Path) -> None:
    """CLEW_BAD_NETWORKS names others; a broker each, because a siege counts everything on its topics."""
    with Pulsar() as broker:
        await besiege(tmp_path, broker.service_url, "real", *ILLS[name])
