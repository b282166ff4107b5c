"""The box of dead letters, on a bus in memory: nothing leaves it unasked, and nothing is mixed up."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Mapping

import pytest

from clew_schema import topics
from clew_schema.envelope import Envelope
from clew_schema.errors import DeadLetter, Error
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.dead_letters import INBOX, DeadLetters, keep_letters
from clew_services.errors import BadRequest, BusFailed, Unreadable
from clew_services.ports import Outgoing
from clew_services.runtime.clock import SystemClock
from clew_translators import bus as wire

SPACE = TopicSpace(tenant="acme")
TOPIC, BOX = SPACE.full("grading-request"), SPACE.full("dead-letter")


def letter(name: str, **fields: object) -> DeadLetter:
    return DeadLetter.model_validate(
        {
            "letter_id": name,
            "topic": TOPIC,
            "payload": f"body of {name}",
            "buried_at": f"2026-01-0{len(name)}T00:00:00Z",
            "key": "run",
            "error": Error(type="unreadable", message="no JSON"),
        }
        | fields
    )


class Office:
    def __init__(self, bus: MemoryBus) -> None:
        self.bus = bus
        self.dead = DeadLetters(bus, SPACE, quiet=0.02)

    async def post(self, *letters: DeadLetter | bytes) -> None:
        for one in letters:
            payload = one if isinstance(one, bytes) else wire.encode(one)
            await self.bus.publish(Outgoing(topic=BOX, payload=payload, properties={"from": "test"}))

    async def names(self) -> list[str]:
        return [one.letter_id for one in await self.dead.letters()]

    def sent(self) -> list[tuple[bytes, Mapping[str, str]]]:
        return [(message.payload, message.properties) for message in self.bus.messages(TOPIC)]


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    bus = MemoryBus(SystemClock())
    await keep_letters(bus, SPACE)
    yield Office(bus)
    await bus.close()


async def test_the_box_keeps_letters_before_anybody_looks() -> None:
    bus = MemoryBus(SystemClock())
    await keep_letters(bus, SPACE)
    await keep_letters(bus, SPACE)
    office = Office(bus)
    await office.post(letter("a"))
    assert bus.backlog(BOX, INBOX) == 1
    assert await office.names() == ["a"]


async def test_an_empty_box(office: Office) -> None:
    assert await office.dead.letters() == []
    assert await office.dead.find("a") is None
    assert await office.dead.drop("a") is None
    assert await office.dead.requeue("a") is None


async def test_looking_leaves_every_letter_in_the_box_in_its_order(office: Office) -> None:
    await office.post(letter("ccc"), letter("a"), letter("bb"))
    for _ in range(3):
        assert await office.names() == ["a", "bb", "ccc"], "by the time of burial"
    assert office.bus.backlog(BOX, INBOX) == 3


async def test_a_letter_that_came_twice_is_one_and_leaves_whole(office: Office) -> None:
    await office.post(letter("a"), letter("a"), letter("bb"))
    assert await office.names() == ["a", "bb"]
    assert (await office.dead.drop("a")) == letter("a")
    assert await office.names() == ["bb"]
    assert office.bus.backlog(BOX, INBOX) == 1


async def test_the_beginning_of_an_id_will_do_while_only_one_letter_has_it(office: Office) -> None:
    await office.post(letter("abc1"), letter("abd2"), letter("abc1-and-more"))
    assert await office.dead.find("abd") == letter("abd2")
    assert await office.dead.find("abc1") == letter("abc1"), "a whole id is that letter's"
    for work in (office.dead.find, office.dead.drop, office.dead.requeue):
        with pytest.raises(BadRequest, match="3 letters have an id that begins with 'ab'"):
            await work("ab")
    assert len(await office.names()) == 3
    assert office.sent() == []


async def test_an_empty_id_names_no_letter(office: Office) -> None:
    await office.post(letter("a"))
    assert await office.dead.drop("") is None
    assert await office.dead.requeue("") is None
    assert await office.names() == ["a"]


async def test_a_message_is_sent_again_where_it_came_from(office: Office) -> None:
    old = Envelope(
        id="caller",
        session_id="S",
        message_id="old",
        attempt=5,
        due=99,
        deadline=100,
        reply_to="r",
        other={"x": "y"},
    )
    await office.post(letter("a", properties=old.properties()), letter("bb"))
    assert (await office.dead.requeue("a")) is not None
    ((payload, properties),) = office.sent()
    now = Envelope.of(properties)
    assert payload == b"body of a"
    assert (now.id, now.session_id, now.reply_to, now.other) == ("caller", "S", "r", {"x": "y"})
    assert (now.attempt, now.due, now.deadline) == (1, 0, 0)
    assert now.message_id not in {"", "old"}, "the old one is recorded as failed"
    assert office.bus.messages(TOPIC)[0].key == "run"
    assert await office.names() == ["bb"]


@pytest.mark.parametrize(
    ("fields", "repaired", "expected"),
    [
        ({}, None, b"body of a"),
        ({}, b"repaired \xff", b"repaired \xff"),
        ({}, b"", b""),
        ({"payload": b64encode(b"\xff\x00").decode(), "encoding": "base64"}, None, b"\xff\x00"),
        ({"payload": "线团"}, None, "线团".encode()),
    ],
)
async def test_the_body_is_its_own_or_the_repaired_one(
    office: Office, fields: dict[str, str], repaired: bytes | None, expected: bytes
) -> None:
    await office.post(letter("a", **fields))
    await office.dead.requeue("a", repaired)
    assert [payload for payload, _ in office.sent()] == [expected]


async def test_base64_that_is_none_is_refused_unless_it_is_repaired(office: Office) -> None:
    await office.post(letter("a", payload="§", encoding="base64"))
    with pytest.raises(Unreadable, match="base64"):
        await office.dead.requeue("a")
    assert await office.names() == ["a"]
    await office.dead.requeue("a", b"mended")
    assert [payload for payload, _ in office.sent()] == [b"mended"]


async def test_interrupted_between_sending_and_dropping_it_has_no_second_effect() -> None:
    fail = True

    def no_acks(_: object) -> bool:
        return fail

    bus = MemoryBus(SystemClock(), fail_ack=no_acks)
    await keep_letters(bus, SPACE)
    office = Office(bus)
    await office.post(letter("a"))
    with pytest.raises(BusFailed):
        await office.dead.requeue("a")
    assert await office.names() == ["a"], "still there to be tried again"
    fail = False
    await office.dead.requeue("a")
    first, second = (Envelope.of(properties).message_id for _, properties in office.sent())
    assert first == second, "the ledger takes the second for a copy of the first"
    assert await office.names() == []


async def test_another_repair_is_another_message(office: Office) -> None:
    ids = set()
    for body in (b"one", b"two"):
        await office.post(letter("a"))
        await office.dead.requeue("a", body)
        ids = {Envelope.of(properties).message_id for _, properties in office.sent()}
    assert len(ids) == 2


async def test_a_broker_that_takes_no_message_keeps_the_letter() -> None:
    bus = MemoryBus(SystemClock(), fail_publish=lambda message: message.topic == TOPIC)
    await keep_letters(bus, SPACE)
    office = Office(bus)
    await office.post(letter("a"))
    with pytest.raises(BusFailed):
        await office.dead.requeue("a")
    assert await office.names() == ["a"]


@pytest.mark.parametrize("garbage", [b"", b"\xff", b"[]", b'{"letter_id": 1}'])
async def test_what_is_no_letter_hides_no_other_and_can_be_dropped(office: Office, garbage: bytes) -> None:
    await office.post(garbage, letter("a"), garbage)
    first, second, real = await office.dead.letters()
    assert real == letter("a")
    assert first.letter_id != second.letter_id
    assert first.error.type == "unreadable"
    assert dict(first.properties) == {"from": "test"}
    with pytest.raises(Unreadable, match="does not say where it belongs"):
        await office.dead.requeue(first.letter_id)
    assert await office.dead.drop(first.letter_id) == first
    assert await office.names() == [second.letter_id, "a"], "its id is the same at every look"


async def test_a_letter_of_an_older_or_newer_clew_is_read_by_what_it_has(office: Office) -> None:
    await office.post(b'{"letter_id": "a", "topic": "%s", "payload": "x", "new_field": 1}' % TOPIC.encode())
    (found,) = await office.dead.letters()
    assert (found.letter_id, found.attempt) == ("a", 1)
    assert topics.DEAD_LETTER.body is DeadLetter
