"""A batch of a run that was told elsewhere is refused, nothing of it is kept, and the log says so: nobody else hears it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from clew_schema.rdf import Triples
from clew_services.ports import Outgoing
from clew_services.runtime.observe import Observer
from clew_translators import bus as wire
from tests.flow.house import House
from tests.runtime.world import Log
from tests.translators import runs


async def test_a_batch_for_another_collection_is_refused_where_it_can_be_seen(tmp_path: Path) -> None:
    log = Log()
    stolen = runs.told(runs.DOCUMENT_STEPS, collection="other")[0]

    async def publish(house: House, batch: Triples) -> None:
        topic = house.settings.space.full("explainability")
        await house.bus.publish(Outgoing(topic=topic, payload=wire.encode(batch)))

    async with House(tmp_path, observer=Observer(log=log), proves=False) as house:
        for batch in runs.DOCUMENT_BATCHES:
            await publish(house, batch)
        uri = f"urn:trustgraph:docrag:{runs.SESSION}"
        async with asyncio.timeout(10):
            while len(await house.traces.run("manuals", uri)) < len(
                {quad.model_dump_json() for quad in runs.quads_of(runs.DOCUMENT_BATCHES)}
            ):
                await asyncio.sleep(0.01)
        await publish(house, stolen)
        async with asyncio.timeout(10):
            while "step_refused" not in log.names():
                await asyncio.sleep(0.01)
        assert await house.traces.run("other", uri) == ()
        assert not house.published("dead-letter")
    assert [level for level, name, _ in log.events if name == "step_refused"] == ["warning"]
