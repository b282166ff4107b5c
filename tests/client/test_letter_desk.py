"""The dead letters over the bus: an operator asks with the client alone, and a service works on the box."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clew_schema import topics
from clew_schema.dead_letters import DeadLetterRequest, DeadLetterResponse
from clew_schema.errors import DeadLetter, Error
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.client import Client
from clew_services.dead_letters import DeadLetters, keep_letters
from clew_services.letter_desk import TOLD_EVERY, WorkOnLetters, letters_failed
from clew_services.ports import Outgoing
from clew_services.runtime.clock import SystemClock
from clew_services.runtime.consume import Consumer
from clew_services.runtime.observe import Observer
from clew_services.runtime.pack import Packer
from clew_services.runtime.process import Processor
from clew_services.runtime.step import Step
from clew_translators import bus as wire
from tests.runtime.world import Log

SPACE = TopicSpace()
TOPIC = SPACE.full("document-rag-request")


class Office:
    """The service and its operator, on a bus in memory."""

    def __init__(self) -> None:
        self.bus = MemoryBus(SystemClock())
        self.dead = DeadLetters(self.bus, SPACE, quiet=0.02)
        self.log = Log()
        observer = Observer(log=self.log)
        step = Step(
            name="dead-letters.work",
            topic=topics.DEAD_LETTER_REQUEST,
            progress=WorkOnLetters(dead=self.dead, clock=SystemClock(), observer=observer),
            on_failure=letters_failed,
            width=1,
        )
        processor = Processor(
            bus=self.bus,
            ledger=MemoryLedger(),
            clock=SystemClock(),
            packer=Packer(space=SPACE),
            observer=observer,
        )
        self.consumer = Consumer(step, processor)
        self.client = Client(self.bus, SPACE)

    async def post(self, name: str, **fields: Any) -> DeadLetter:
        values = {
            "letter_id": name,
            "topic": TOPIC,
            "payload": f"body of {name}",
            "step": "document-rag.plan",
            "service": "document-rag",
            "collection": "default",
            "buried_at": f"2026-11-{len(name):02}T00:00:00Z",
            "error": Error(type="unreadable", message="no JSON"),
        }
        letter = DeadLetter.model_validate(values | fields)
        await self.bus.publish(Outgoing(topic=SPACE.full("dead-letter"), payload=wire.encode(letter)))
        return letter

    async def ask(self, **fields: Any) -> list[DeadLetterResponse]:
        request = DeadLetterRequest.model_validate(fields)
        return [heard.body async for heard in self.client.dead_letters(request, timeout=10)]

    async def told(self, **fields: Any) -> DeadLetterResponse:
        return (await self.ask(**fields))[-1]

    def sent(self) -> list[bytes]:
        return [message.payload for message in self.bus.messages(TOPIC)]


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    made = Office()
    await keep_letters(made.bus, SPACE)
    await made.consumer.start()
    yield made
    await made.client.close()
    await made.consumer.stop()
    await made.bus.close()


async def test_a_list_leaves_out_what_callers_wrote_and_show_tells_it(office: Office) -> None:
    letter = await office.post("a", properties={"x": "y"})
    answer = await office.told(action="list")
    assert answer.letters == (letter.model_copy(update={"payload": "", "properties": {}}),)
    assert (answer.matched, answer.more, answer.error) == (1, False, None)
    assert (await office.told(action="show", letter_id="a")).letters == (letter,)


async def test_without_a_word_about_collections_the_default_one_is_meant(office: Office) -> None:
    await office.post("a")
    await office.post("bb", collection="theirs")
    await office.post("ccc", collection="")

    async def listed(**wanted: Any) -> list[str]:
        return [letter.letter_id for letter in (await office.told(**wanted)).letters]

    assert await listed() == ["a"]
    assert await listed(collection="theirs") == ["bb"]
    assert await listed(all_collections=True) == ["a", "bb", "ccc"]
    for action in ("show", "requeue", "drop"):
        refused = await office.told(action=action, letter_id="bb", collection="default")
        assert refused.error is not None
        assert refused.error.type == "bad-request"
    assert (await office.told(action="drop", every=True)).done == 1
    assert await listed(all_collections=True) == ["bb", "ccc"]
    assert office.sent() == []


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"step": "grading.grade"}, ["ccc"]),
        ({"step": "document-rag"}, ["a", "bb"]),
        ({"error_type": "model-failed"}, ["bb"]),
        ({"newer": "2026-11-02T00:00:00Z"}, ["bb", "ccc"]),
        ({"older": "2026-11-02"}, ["a"]),
        ({"newer": "2026-11-01T12:00:00+00:00", "older": "2026-11-03"}, ["bb"]),
        ({"limit": 2}, ["a", "bb"]),
        ({"step": "nobody's"}, []),
    ],
)
async def test_a_filter_means_the_letters_that_meet_all_of_it(
    office: Office, wanted: dict[str, Any], expected: list[str]
) -> None:
    await office.post("a")
    await office.post("bb", error=Error(type="model-failed"))
    await office.post("ccc", step="grading.grade", service="grading")
    answer = await office.told(action="requeue", every=True, **wanted)
    assert (answer.done, answer.matched, answer.failed) == (len(expected), len(expected), {})
    assert office.sent() == [f"body of {name}".encode() for name in expected]
    left = [letter.letter_id for letter in (await office.told(all_collections=True)).letters]
    assert left == [name for name in ("a", "bb", "ccc") if name not in expected]


async def test_a_letter_is_edited_and_then_sent_as_it_is_now(office: Office) -> None:
    await office.post("a", properties={"id": "caller", "x": "old", "gone": "yes"}, attempt=3)
    body = b64encode(b"mended \xff").decode()
    answer = await office.told(
        action="edit",
        letter_id="a",
        payload=body,
        encoding="base64",
        properties={"x": "new", "gone": ""},
        user="ada",
    )
    assert (answer.error, answer.done) == (None, 1)
    (letter,) = (await office.told(action="show", letter_id="a")).letters
    assert (letter.payload, letter.encoding, letter.edited_by) == (body, "base64", "ada")
    assert (letter.properties, letter.attempt) == ({"id": "caller", "x": "new"}, 3)
    assert office.sent() == []
    assert (await office.told(action="requeue", letter_id="a")).done == 1
    (message,) = office.bus.messages(TOPIC)
    assert message.payload == b"mended \xff"
    assert (message.properties["x"], message.properties["id"]) == ("new", "caller")
    assert ("info", "letters_settled") in [(level, name) for level, name, _ in office.log.events]


@pytest.mark.parametrize(
    "wrong",
    [
        {"action": "requeue"},
        {"action": "drop"},
        {"action": "edit", "letter_id": "a"},
        {"action": "edit", "every": True},
        {"action": "show", "letter_id": ""},
        {"action": "show", "letter_id": "nobody"},
        {"action": "edit", "letter_id": "a", "payload": "§", "encoding": "base64"},
        {"action": "list", "newer": "yesterday"},
        {"action": "drop", "every": True, "older": "9999-99-99"},
    ],
)
async def test_what_makes_no_sense_is_told_and_changes_nothing(office: Office, wrong: dict[str, Any]) -> None:
    letter = await office.post("a")
    answer = await office.told(**wrong)
    assert answer.error is not None
    assert (answer.error.type, answer.action, answer.end) == ("bad-request", wrong["action"], True)
    assert office.sent() == []
    assert await office.dead.letters() == [letter]


async def test_one_that_cannot_be_sent_stays_and_stops_no_other(office: Office) -> None:
    await office.post("a", topic="")
    await office.post("bb", topic="persistent://other/tenant/document-rag-request")
    await office.post("ccc", truncated=True)
    await office.post("dddd")
    answer = await office.told(action="requeue", every=True)
    assert (answer.done, answer.matched) == (1, 4)
    assert {name: error.type for name, error in answer.failed.items()} == {
        "a": "unreadable",
        "bb": "unreadable",
        "ccc": "too-large",
    }
    assert office.sent() == [b"body of dddd"]
    assert [letter.letter_id for letter in await office.dead.letters()] == ["a", "bb", "ccc"]


async def test_a_long_work_tells_how_far_it_is(office: Office) -> None:
    for number in range(2 * TOLD_EVERY + 1):
        await office.post(f"letter-{number:03}", buried_at="")
    answers = await office.ask(action="requeue", every=True)
    assert [(one.done, one.matched, one.end) for one in answers] == [
        (100, 201, False),
        (200, 201, False),
        (201, 201, True),
    ]
    assert len(set(office.sent())) == 201


async def test_a_list_that_fits_into_no_answer_says_that_there_is_more(office: Office) -> None:
    for number in range(30):
        await office.post("x" * (number + 1), error=Error(type="t", message="m" * 100_000), buried_at="")
    answer = await office.told(action="list")
    assert answer.more
    assert 0 < len(answer.letters) < 30
    assert answer.matched == 30


async def test_the_box_of_others_is_not_answered_from_a_topic_that_is_read() -> None:
    assert SPACE.answerable("dead-letter-response") is not None
    assert SPACE.answerable("dead-letter-request") is None
    assert SPACE.answerable("dead-letter") is None
