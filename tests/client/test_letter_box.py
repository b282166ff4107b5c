"""What the box promises beyond one letter: large ones, many, edited ones, interrupted work, a slow broker."""

from __future__ import annotations

import asyncio
import os
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest

from clew_schema.dead_letters import LetterFilter
from clew_schema.envelope import Envelope
from clew_schema.errors import DeadLetter
from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.bus.pulsar import PulsarBus
from clew_services.dead_letters import DeadLetters, Repair, Settled, keep_letters, unreadable
from clew_services.errors import BadRequest, BusFailed, ModelFailed, TooLarge, Unreadable
from clew_services.ports import Outgoing
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.letter import parts_of, text_of
from clew_translators import bus as wire
from tests.client.test_dead_letters import BOX, SPACE, Office, letter
from tests.runtime.test_process import QUERY, failing
from tests.runtime.world import World

EVERY = LetterFilter(all_collections=True)


async def opened(bus: MemoryBus | None = None) -> Office:
    bus = bus or MemoryBus(SystemClock())
    await keep_letters(bus, SPACE)
    return Office(bus)


async def deaf(_: Settled) -> None:
    """Nobody listens."""


def large(name: str, body: bytes) -> list[DeadLetter]:
    payload, encoding = text_of(body)
    fields = {"payload": payload, "encoding": encoding, "payload_bytes": len(body)}
    return list(parts_of(letter(name, payload_sha256=sha256(body).hexdigest(), **fields)))


@pytest.mark.parametrize(
    "body", [os.urandom(4_500_000), ("线团\x00" * 700_000).encode()], ids=["bytes", "text"]
)
async def test_a_body_in_parts_comes_back_whole_in_any_order(body: bytes) -> None:
    parts = large("a", body)
    assert len(parts) > 1
    assert max(len(wire.encode(part)) for part in parts) <= MAX_MESSAGE_BYTES
    office = await opened()
    await office.post(parts[-1], *parts, letter("bb"))
    found = await office.dead.find("a")
    assert found is not None
    assert (found.part, found.parts, found.truncated) == (1, 1, False)
    assert (found.payload, found.encoding) == text_of(body)
    assert await office.dead.drop("a") is not None
    assert await office.names() == ["bb"]


async def test_a_letter_that_misses_a_part_says_so_and_is_not_sent_cut() -> None:
    parts = large("a", os.urandom(4_500_000))
    office = await opened()
    await office.post(parts[0], *parts[2:])
    found = await office.dead.find("a")
    assert found is not None
    assert found.truncated
    with pytest.raises(TooLarge, match="holds the beginning of a message of 4500000 bytes"):
        await office.dead.requeue("a")
    await office.dead.requeue("a", b"whole")
    assert [payload for payload, _ in office.sent()] == [b"whole"]
    assert await office.names() == []


async def test_a_part_that_is_no_base64_hides_no_other_letter() -> None:
    office = await opened()
    await office.post(letter("a", part=1, parts=2, encoding="base64", payload="§"), letter("bb"))
    assert await office.names() == ["a", "bb"]


async def test_more_letters_than_a_page_are_all_seen_and_sent_in_their_order() -> None:
    office = await opened()
    await office.post(*(letter(f"{n:04}", buried_at=f"2026-01-01T{n:08}") for n in reversed(range(2_500))))
    assert await office.names() == [f"{n:04}" for n in range(2_500)]
    await office.dead.requeue_all(EVERY, deaf)
    assert [payload for payload, _ in office.sent()] == [f"body of {n:04}".encode() for n in range(2_500)]
    assert await office.names() == []


async def test_work_that_a_broken_bus_interrupts_goes_on_where_it_was() -> None:
    left = {"acks": 10}

    def fail_ack(_: object) -> bool:
        left["acks"] -= 1
        return left["acks"] == 0

    office = await opened(MemoryBus(SystemClock(), fail_ack=fail_ack))
    await office.post(*(letter(f"{n:02}") for n in range(25)))
    told: list[str] = []

    async def hear(one: Settled) -> None:
        told.append(one.letter.letter_id)

    with pytest.raises(BusFailed):
        await office.dead.requeue_all(EVERY, hear)
    assert told == [f"{n:02}" for n in range(9)]
    await office.dead.requeue_all(EVERY, hear)
    assert told == [f"{n:02}" for n in range(25)], "the tenth had been sent, and was sent again"
    names = [Envelope.of(properties).message_id for _, properties in office.sent()]
    assert (len(names), len(set(names))) == (26, 25)


async def test_a_message_that_was_sent_again_twice_is_handled_once_and_its_caller_answered() -> None:
    async with World(handler=failing(*(ModelFailed("down") for _ in range(5)))) as world:
        await keep_letters(world.bus, world.space)
        await world.ask(QUERY.model_copy(update={"session_id": ""}), id="waits", other={"x": "v" * 900})
        for _ in range(6):
            await world.settle()
            await world.clock.advance(61)
        (one,) = world.letters()
        dead = DeadLetters(world.bus, world.space, quiet=0.02)
        await dead.requeue(one.letter_id)
        (copy,) = world.bus.messages(one.topic)[1:]
        await world.bus.publish(copy)
        await world.settle()
        assert len(world.asked) == 6
        (refused, _), *answers = world.told()
        assert refused.session_id == one.session_id
        assert {(body.response, body.session_id) for body, _ in answers} == {("yes", one.session_id)}
        assert len({envelope.message_id for _, envelope in answers}) == 1
        assert {envelope.id for _, envelope in answers} == {"waits"}
        assert copy.properties["x"] == "v" * 900


async def test_properties_that_nobody_reads_are_sent_again_as_they_came() -> None:
    came = {f"x{n}": "v" * 1_500 for n in range(40)} | {"empty": ""}
    office = await opened()
    await office.post(letter("a", properties=came, session_id="S", started_at="2026-01-01T00:00:00Z"))
    await office.dead.requeue("a")
    ((_, properties),) = office.sent()
    assert {name: properties[name] for name in came} == came
    assert (properties["session-id"], properties["asked-at"]) == ("S", "2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    "topic",
    [
        "",
        "document-rag-request",
        "persistent://other/default/document-rag-request",
        "persistent://acme/default/nobody-reads-this",
        "persistent://acme/default/grading-request.grading.retry",
    ],
)
async def test_a_letter_that_names_no_topic_of_ours_is_sent_nowhere(topic: str) -> None:
    office = await opened()
    await office.post(letter("a", topic=topic))
    with pytest.raises(Unreadable, match="does not say where it belongs"):
        await office.dead.requeue("a")
    assert office.bus.topics() == [BOX]


async def test_the_newest_edition_of_a_letter_is_the_letter() -> None:
    office = await opened()
    await office.post(letter("a", properties={"x": "1", "y": "2"}))
    first = Repair(payload=b"first", properties={"x": "", "z": "3"})
    edited = await office.dead.edit("a", first, by="ada", at="2026-12-01T00:00:00Z")
    assert edited is not None
    assert (edited.payload, edited.properties, edited.edited_by) == ("first", {"y": "2", "z": "3"}, "ada")
    assert (edited.payload_bytes, edited.payload_sha256) == (5, sha256(b"first").hexdigest())
    await office.post(letter("a"))
    assert await office.dead.letters() == [edited], "an older copy that comes late does not undo it"
    await office.dead.requeue("a")
    assert [payload for payload, _ in office.sent()] == [b"first"]
    assert await office.names() == []


async def test_an_edit_that_is_interrupted_is_made_and_the_letter_is_one() -> None:
    fail = True
    office = await opened(MemoryBus(SystemClock(), fail_ack=lambda _: fail))
    await office.post(letter("a"))
    with pytest.raises(BusFailed):
        await office.dead.edit("a", Repair(payload=b"mended"), by="", at="2026-12-01T00:00:00Z")
    fail = False
    (one,) = await office.dead.letters()
    assert one.payload == "mended"
    await office.dead.drop("a")
    assert await office.names() == []


async def test_another_property_is_another_message() -> None:
    ids = set()
    for value in ("one", "two"):
        office = await opened()
        await office.post(letter("a", properties={"id": "c"}))
        await office.dead.requeue("a", properties={"x": value})
        ids |= {properties["message-id"] for _, properties in office.sent()}
    assert len(ids) == 2


async def test_two_at_once_lose_nothing_and_send_nothing_twice() -> None:
    office = await opened()
    await office.post(*(letter(f"{n:03}") for n in range(100)))
    others = [DeadLetters(office.bus, SPACE, quiet=0.02) for _ in range(3)]
    done = await asyncio.gather(*(dead.requeue_all(EVERY, deaf) for dead in others))
    assert sum(map(len, done)) == 100
    assert len({payload for payload, _ in office.sent()}) == len(office.sent()) == 100
    assert await office.names() == []


class _Late(MemoryBus):
    """A broker that takes its time to answer, and gives a letter while it is asked whether it is there."""

    late: DeadLetter | None = letter("late")

    async def ping(self) -> None:
        await asyncio.sleep(0.06)
        if self.late is not None:
            await self.publish(Outgoing(topic=BOX, payload=wire.encode(self.late)))
            self.late = None


async def test_silence_of_a_slow_broker_is_not_taken_for_an_empty_box() -> None:
    office = await opened(_Late(SystemClock()))
    await office.post(letter("a"))
    assert await office.names() == ["a", "late"]


async def test_a_broker_that_is_gone_is_not_taken_for_an_empty_box() -> None:
    office = await opened()
    await office.post(letter("a"))

    class Gone(MemoryBus):
        async def ping(self) -> None:
            raise BusFailed("gone")

    gone = Gone(SystemClock(), broker=office.bus.broker)
    with pytest.raises(BusFailed):
        await DeadLetters(gone, SPACE, quiet=0.02).letters()
    assert await office.names() == ["a"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"payload": "garbage"}, "grading-request: "),
        ({"payload": '{"query": {}, "passages": []}'}, ""),
        ({"payload": "§", "encoding": "base64"}, "grading-request: letter a says that its body is base64"),
        ({"payload": "garbage", "topic": "persistent://acme/default/unknown"}, ""),
    ],
)
def test_what_its_service_cannot_read_is_told_before_it_is_sent(changes: dict[str, Any], why: str) -> None:
    told = unreadable(letter("a", **changes), Repair())
    assert told.startswith(why)
    assert bool(told) == bool(why)


async def test_a_time_that_is_none_is_told() -> None:
    office = await opened()
    await office.post(letter("a"))
    with pytest.raises(BadRequest, match="newer 'yesterday' is no time"):
        await office.dead.letters(EVERY.model_copy(update={"newer": "yesterday"}))


@pytest.mark.servers
async def test_a_real_broker_gives_more_than_a_thousand_letters_and_takes_their_messages_again() -> None:
    name, space = f"box-{uuid4().hex}", TopicSpace()
    ours = EVERY.model_copy(update={"step": name})
    bus = PulsarBus(os.environ["CLEW_TEST_PULSAR_URL"], lite=False)
    try:
        await keep_letters(bus, space)
        topic = space.full("graph-rag-request")
        sent = await bus.subscribe(topic, name, width=2_000, position="latest")
        letters = [letter(f"{name}-{n:04}", step=name, topic=topic) for n in range(1_500)]
        box = space.full("dead-letter")
        await asyncio.gather(*(bus.publish(Outgoing(topic=box, payload=wire.encode(one))) for one in letters))
        dead = DeadLetters(bus, space)
        assert list(await dead.letters(ours)) == letters
        settled = await dead.requeue_all(ours, deaf)
        assert [one.error for one in settled] == [None] * 1_500
        async with asyncio.timeout(30):
            got = [(await sent.receive()).payload for _ in letters]
        assert sorted(got) == sorted(one.payload.encode() for one in letters)
        assert await dead.letters(ours) == []
        await bus.unsubscribe(topic, name)
    finally:
        await bus.close()
