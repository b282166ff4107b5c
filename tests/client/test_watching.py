"""Following the explainability topic: each batch once, of the collection that is wanted, and no subscription left behind."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from clew_schema.rdf import Triples
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.cli.trace_watch import as_json, lines
from clew_services.ports import Outgoing
from clew_services.runtime.clock import SystemClock
from clew_services.watching import Watched, watch
from clew_translators import bus as wire
from tests.translators import courses, runs

SPACE = TopicSpace()
TOPIC = SPACE.full("explainability")


async def publish(bus: MemoryBus, payload: bytes, name: str) -> None:
    await bus.publish(Outgoing(topic=TOPIC, payload=payload, properties={"message-id": name}))


async def watched(
    bus: MemoryBus, payloads: list[tuple[bytes, str]], count: int, collection: str = ""
) -> list[Watched]:
    opened = asyncio.Event()

    async def follow() -> list[Watched]:
        found: list[Watched] = []
        async with aclosing(watch(bus, SPACE, collection=collection, opened=opened.set)) as told:
            async for one in told:
                found.append(one)
                if len(found) == count:
                    break
        return found

    task = asyncio.create_task(follow())
    await asyncio.wait_for(opened.wait(), 5)
    for payload, name in payloads:
        await publish(bus, payload, name)
    return await asyncio.wait_for(task, 5)


def encoded(batches: list[Triples]) -> list[tuple[bytes, str]]:
    return [(wire.encode(batch), f"m-{n}") for n, batch in enumerate(batches)]


async def test_every_step_once_from_now_on() -> None:
    bus = MemoryBus(SystemClock())
    await publish(bus, wire.encode(runs.DOCUMENT_BATCHES[0]), "before")
    payloads = encoded(runs.DOCUMENT_BATCHES)
    told = await watched(bus, [payloads[0], payloads[0], *payloads[1:]], 3)
    assert [tuple(fact.kind for fact in one.facts) for one in told] == [
        ("question_asked", "evidence_retrieved"), ("evidence_graded",), ("answer_written",),
    ]  # fmt: skip
    assert {one.run for one in told} == {f"urn:trustgraph:docrag:{runs.SESSION}"}
    assert not bus.broker._topic(TOPIC).groups, "nothing is kept for a watcher that is gone"


async def test_what_is_no_batch_of_a_run_and_what_is_of_another_collection() -> None:
    bus = MemoryBus(SystemClock())
    other = runs.told(runs.DOCUMENT_STEPS, session_id="x", collection="elsewhere")
    payloads = [(b"{", "a"), (b"\xff", "b"), (wire.encode(Triples()), "c"), (wire.encode(other[0]), "d")]
    (told,) = await watched(bus, [*payloads, *encoded(runs.DOCUMENT_BATCHES)], 1, collection="manuals")
    assert told.collection == "manuals"


async def test_a_batch_of_another_system_has_no_facts() -> None:
    first = runs.DOCUMENT_BATCHES[0]
    retrieval = first.model_copy(
        update={"triples": tuple(t for t in first.triples if t.g == "urn:graph:retrieval")}
    )
    (told,) = await watched(MemoryBus(SystemClock()), encoded([retrieval]), 1)
    assert (told.facts, as_json(told)["quads"]) == ((), len(retrieval.triples))


async def test_how_a_step_is_shown() -> None:
    told = await watched(MemoryBus(SystemClock()), encoded(courses.REWRITTEN_BATCHES), 5)
    shown = [line.plain for one in told for line in lines(one)]
    assert shown[0] == "12:00:00.000  11111111  Asked: What is the return policy?  manuals"
    assert shown[-1].startswith("12:00:04.000  11111111  Answer")
    assert shown[-1].endswith("Within 30 days [1]. For free [2].")
    assert len(shown) == sum(map(len, courses.REWRITTEN_STEPS))
