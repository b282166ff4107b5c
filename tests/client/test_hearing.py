"""What a client makes of a bus that repeats, mixes up, breaks and forgets: a test answers in the service's place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clew_schema.envelope import SEQUENCE, STREAM, Envelope
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_schema.topics import TopicSpace
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.client import Client, Heard
from clew_services.errors import BusFailed
from clew_services.ports import Delivery, Outgoing, Subscription
from clew_services.runtime.clock import SystemClock
from clew_translators import bus as wire

SPACE = TopicSpace()
REQUESTS, RESPONSES = SPACE.full("document-rag-request"), SPACE.full("document-rag-response")
END = DocumentRagResponse(response="whole", message_type="end", end_of_stream=True, end_of_session=True)


def chunk(text: str) -> DocumentRagResponse:
    return DocumentRagResponse(response=text, message_type="chunk")


class Stage:
    """A client, and a test that plays the service behind it."""

    def __init__(self, bus: MemoryBus, requests: Subscription) -> None:
        self.bus = bus
        self.client = Client(bus, SPACE)
        self._requests = requests

    def ask(self, timeout: float = 5.0) -> asyncio.Task[list[Heard[DocumentRagResponse]]]:
        async def all_of_it() -> list[Heard[DocumentRagResponse]]:
            return [heard async for heard in self.client.ask(DocumentRagQuery(query="?"), timeout=timeout)]

        return asyncio.create_task(all_of_it())

    async def asked(self) -> str:
        """The correlation id of the next question."""
        delivery = await asyncio.wait_for(self._requests.receive(), 5)
        await self._requests.ack(delivery)
        return Envelope.of(delivery.properties).id

    async def say(
        self, to: str, body: DocumentRagResponse | bytes, message_id: str = "", **more: str
    ) -> None:
        payload = body if isinstance(body, bytes) else wire.encode(body)
        properties = Envelope(id=to, message_id=message_id).properties() | more
        await self.bus.publish(Outgoing(topic=RESPONSES, payload=payload, properties=properties))

    def private(self) -> int:
        """Subscriptions on the response topic."""
        return len(self.bus.broker._topic(RESPONSES).groups)

    def unsettled(self) -> int:
        return sum(group.unsettled for group in self.bus.broker._topic(RESPONSES).groups.values())


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    bus = MemoryBus(SystemClock())
    requests = await bus.subscribe(REQUESTS, "service", width=100)
    scene = Stage(bus, requests)
    yield scene
    await scene.client.close()
    await bus.close()


def texts(heard: list[Heard[DocumentRagResponse]]) -> list[str | None]:
    return [h.body.response for h in heard]


async def test_a_response_delivered_twice_is_heard_once(stage: Stage) -> None:
    asking = stage.ask()
    to = await stage.asked()
    for _ in range(2):
        await stage.say(to, chunk("a"), "m1", **{STREAM: "s", SEQUENCE: "0"})
        await stage.say(to, chunk("b"), "m1", **{STREAM: "s", SEQUENCE: "1"})
    for _ in range(2):
        await stage.say(to, END, "m2")
    assert texts(await asking) == ["a", "b", "whole"]


async def test_equal_texts_of_different_messages_are_both_heard(stage: Stage) -> None:
    asking = stage.ask()
    to = await stage.asked()
    await stage.say(to, chunk("ha"), "m1", **{STREAM: "s", SEQUENCE: "0"})
    await stage.say(to, chunk("ha"), "m1", **{STREAM: "s", SEQUENCE: "1"})
    await stage.say(to, END, "m2")
    assert texts(await asking) == ["ha", "ha", "whole"]


async def test_responses_without_a_message_id_are_told_apart(stage: Stage) -> None:
    asking = stage.ask()
    to = await stage.asked()
    await stage.say(to, chunk("a"))
    await stage.say(to, chunk("b"))
    await stage.say(to, END)
    assert texts(await asking) == ["a", "b", "whole"]


async def test_an_execution_that_begins_again_shows_in_its_stream(stage: Stage) -> None:
    asking = stage.ask()
    to = await stage.asked()
    await stage.say(to, chunk("lost"), "m1", **{STREAM: "first", SEQUENCE: "0"})
    await stage.say(to, chunk("kept"), "m1", **{STREAM: "second", SEQUENCE: "0"})
    await stage.say(to, END, "m2")
    heard = await asking
    assert [(h.stream, h.body.response) for h in heard] == [
        ("first", "lost"),
        ("second", "kept"),
        ("", "whole"),
    ]


@pytest.mark.parametrize("number", ["", "x", "-1", "٣", "9" * 40])
async def test_a_sequence_that_is_no_number_counts_as_none(stage: Stage, number: str) -> None:
    asking = stage.ask()
    to = await stage.asked()
    await stage.say(to, END, "m", **{SEQUENCE: number})
    assert [h.sequence for h in await asking] == [0]


@pytest.mark.parametrize(
    "garbage", [b"", b"\xff\xfe", b"[]", b'{"end_of_session": "yes"}', b'{"response":1}', b'{"in_token":NaN}']
)
async def test_garbage_among_the_responses_is_passed_over(stage: Stage, garbage: bytes) -> None:
    asking = stage.ask()
    to = await stage.asked()
    await stage.say(to, garbage, "m1")
    await stage.say(to, END, "m2")
    assert texts(await asking) == ["whole"]
    second = stage.ask()
    await stage.say(await stage.asked(), END, "m3")
    assert texts(await second) == ["whole"], "the client goes on hearing"


async def test_responses_to_nobody_and_to_others_are_settled(stage: Stage) -> None:
    asking = stage.ask()
    to = await stage.asked()
    for stranger in ("", "somebody-else", "x" * 1000):
        await stage.say(stranger, END, "m")
        await stage.say(stranger, b"garbage")
    await stage.say(to, END, "m")
    await asking
    for _ in range(50):
        await asyncio.sleep(0)
    assert stage.unsettled() == 0


async def test_silence_ends_in_a_timeout_and_the_next_question_is_answered(stage: Stage) -> None:
    with pytest.raises(TimeoutError):
        await stage.ask(timeout=0.05)
    await stage.asked()
    asking = stage.ask()
    await stage.say(await stage.asked(), END, "m")
    assert texts(await asking) == ["whole"]


async def test_the_timeout_counts_from_the_last_sign_of_life(stage: Stage) -> None:
    asking = stage.ask(timeout=0.3)
    to = await stage.asked()
    for number in range(5):
        await asyncio.sleep(0.1)
        await stage.say(to, chunk("."), f"m{number}")
    await stage.say(to, END, "m")
    assert len(await asking) == 6


async def test_a_late_answer_to_a_question_given_up_disturbs_nobody(stage: Stage) -> None:
    with pytest.raises(TimeoutError):
        await stage.ask(timeout=0.05)
    late = await stage.asked()
    asking = stage.ask()
    await stage.say(late, END.model_copy(update={"response": "late"}), "m1")
    await stage.say(await stage.asked(), END, "m2")
    assert texts(await asking) == ["whole"]


async def test_close_takes_the_private_subscription_away(stage: Stage) -> None:
    asking = stage.ask()
    await stage.say(await stage.asked(), END, "m")
    await asking
    assert stage.private() == 1
    await stage.client.close()
    assert stage.private() == 0
    await stage.say("anybody", END, "m")
    assert stage.unsettled() == 0, "nothing is kept for a client that is gone"


async def test_close_may_be_called_again_and_at_once(stage: Stage) -> None:
    asking = stage.ask()
    await stage.say(await stage.asked(), END, "m")
    await asking
    await asyncio.gather(stage.client.close(), stage.client.close())
    await stage.client.close()
    await Client(stage.bus).close()
    assert stage.private() == 0


async def test_who_waits_when_the_client_is_closed_is_told_so(stage: Stage) -> None:
    asking = stage.ask(timeout=60)
    await stage.asked()
    await stage.client.close()
    with pytest.raises(BusFailed, match="client was closed"):
        await asyncio.wait_for(asking, 5)


async def test_first_questions_at_once_share_one_subscription(stage: Stage) -> None:
    asking = [stage.ask() for _ in range(20)]
    for number in range(20):
        await stage.say(await stage.asked(), END, f"m{number}")
    assert [texts(await one) for one in asking] == [["whole"]] * 20
    assert stage.private() == 1


async def test_a_broker_that_refuses_the_question_is_an_error_of_the_bus() -> None:
    def refuse(message: Outgoing) -> bool:
        return message.topic == REQUESTS

    bus = MemoryBus(SystemClock(), fail_publish=refuse)
    async with Client(bus) as client:
        with pytest.raises(BusFailed):
            await client.answer(DocumentRagQuery(query="?"), timeout=5)
    await bus.close()


async def test_an_acknowledgement_that_fails_costs_no_response() -> None:
    failures = 3

    def fail(delivery: Delivery) -> bool:
        nonlocal failures
        failures -= delivery.topic == RESPONSES
        return delivery.topic == RESPONSES and failures >= 0

    bus = MemoryBus(SystemClock(), fail_ack=fail)
    scene = Stage(bus, await bus.subscribe(REQUESTS, "service", width=10))
    asking = scene.ask()
    to = await scene.asked()
    await scene.say(to, chunk("a"), "m1")
    await scene.say(to, chunk("b"), "m2")
    await scene.say(to, END, "m3")
    assert sorted(map(str, texts(await asking))) == ["a", "b", "whole"]
    await scene.client.close()
    await bus.close()


async def test_a_broker_that_was_away_is_heard_again(stage: Stage) -> None:
    asking = stage.ask()
    to = await stage.asked()
    await stage.say(to, chunk("a"), "m1")
    stage.bus.broker.stop()
    await asyncio.sleep(0.3)
    stage.bus.broker.start()
    await stage.say(to, END, "m2")
    assert texts(await asking) == ["a", "whole"]


async def test_a_subscription_that_broke_is_opened_again(stage: Stage) -> None:
    asking = stage.ask()
    to = await stage.asked()
    stage.bus.crash()  # every consumer of this bus is gone; subscriptions stay
    await stage.say(to, END, "m")
    assert texts(await asking) == ["whole"]


async def test_ids_of_the_question_are_new_each_time(stage: Stage) -> None:
    for _ in range(2):
        asking = stage.ask()
        await stage.say(await stage.asked(), END, "m")
        await asking
    seen: list[Any] = [Envelope.of(m.properties) for m in stage.bus.messages(REQUESTS)]
    assert len({e.id for e in seen}) == len({e.message_id for e in seen}) == 2
