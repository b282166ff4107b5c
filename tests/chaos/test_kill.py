"""kill -9 at any moment loses nothing, repeats nothing that was decided, and leaves every trace whole."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from pathlib import Path

import pytest

from clew_services.adapters.bus.pulsar_lite import PulsarLite
from tests.chaos.siege import REQUESTS, STEPS, Siege
from tests.servers.pulsar import Pulsar

pytestmark = pytest.mark.slow


async def kill_the_process_again_and_again(siege: Siege) -> None:
    """Kill all services five times, and check that a recorded step's model is never asked again."""
    asked_when_recorded: Counter[tuple[str, str]] = Counter()

    async def accident() -> None:
        await siege.kill_worker()
        calls = siege.calls()
        for step in await siege.recorded():
            asked_when_recorded[step] = calls[step]
        await siege.start_worker()

    await siege.run(accident, accidents=5, rng=random.Random(int(time.time())))
    await siege.check()
    assert siege.kills == 5
    final = siege.calls()
    models = {step: count for step, count in asked_when_recorded.items() if step[0] in STEPS}
    assert models, "the kills came while records existed"
    assert {step: final[step] for step in models} == models
    assert sum(final.values()) < 2 * REQUESTS * 1.6, "at most what was in hand at each kill is asked twice"


async def test_the_whole_process_its_broker_included(tmp_path: Path) -> None:
    await kill_the_process_again_and_again(Siege(tmp_path))


async def test_the_broker_pulsar_lite(tmp_path: Path) -> None:
    broker = PulsarLite(tmp_path / "broker")
    await broker.start()

    async def accident() -> None:
        broker.kill()
        await asyncio.sleep(0.2)
        await broker.ready()

    try:
        siege = Siege(tmp_path, (broker.url, "lite"))
        await siege.run(accident, accidents=4, rng=random.Random(int(time.time())))
        await siege.check()
        assert broker.restarts == 4
        assert max(siege.calls().values()) == 1, "a broker's death makes nobody ask again"
    finally:
        await broker.stop()


@pytest.mark.servers
async def test_the_process_on_real_pulsar(tmp_path: Path) -> None:
    with Pulsar() as broker:
        await kill_the_process_again_and_again(Siege(tmp_path, (broker.service_url, "real")))


@pytest.mark.servers
async def test_the_broker_real_pulsar(tmp_path: Path) -> None:
    with Pulsar() as broker:

        async def accident() -> None:
            broker.kill()
            await asyncio.to_thread(broker.start)

        siege = Siege(tmp_path, (broker.service_url, "real"))
        await siege.run(accident, accidents=2, rng=random.Random(int(time.time())))
        await siege.check()
