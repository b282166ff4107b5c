"""The consumer behind the Subscription port, moment by moment, on a library whose every answer the test gives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import _pulsar
import pytest

from clew_services.adapters.bus.pulsar_consumer import PulsarSubscription
from clew_services.errors import BusFailed

Ok = _pulsar.Result.Ok


class Message:
    """As the library hands it over."""

    def __init__(self, body: str) -> None:
        self.body = body

    def message_id(self) -> str:
        return f"id-{self.body}"

    def properties(self) -> dict[str, str]:
        return {}

    def partition_key(self) -> str:
        return ""

    def data(self) -> bytes:
        return self.body.encode()


class Library:
    """A consumer of the library: remembers who asked for a message, and answers when told to."""

    def __init__(self) -> None:
        self.asked: list[Callable[[Any, Any], None]] = []
        self.closing: list[Callable[[Any], None]] = []

    def receive_async(self, callback: Callable[[Any, Any], None]) -> None:
        self.asked.append(callback)

    def close_async(self, callback: Callable[[Any], None]) -> None:
        self.closing.append(callback)

    def give(self, body: str) -> None:
        self.asked.pop(0)(Ok, Message(body))


class World:
    def __init__(self, width: int = 2) -> None:
        self.library = Library()
        self.released: list[PulsarSubscription] = []
        self.consumer = PulsarSubscription(
            self.library, topic="t", name="s", width=width, release=self.note_release
        )

    async def note_release(self, consumer: PulsarSubscription) -> None:
        self.released.append(consumer)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_the_library_is_asked_for_one_message_at_a_time_whoever_is_cancelled() -> None:
    world = World()
    for _ in range(5):
        call = asyncio.ensure_future(world.consumer.receive())
        await settled()
        call.cancel()
        await settled()
    assert len(world.library.asked) == 1
    world.library.give("0")
    assert (await world.consumer.receive()).payload == b"0"


async def test_a_turn_that_is_cancelled_at_the_last_moment_goes_to_another() -> None:
    world = World()
    first, second = (asyncio.ensure_future(world.consumer.receive()) for _ in range(2))
    await settled()
    world.library.give("0")
    asyncio.get_running_loop().call_soon(first.cancel)  # after the message woke it, before it runs
    assert (await asyncio.wait_for(second, 1)).payload == b"0"
    assert first.cancelled()


async def test_nothing_is_asked_for_while_width_are_unsettled() -> None:
    world = World(width=2)
    world.library.give("0")
    await settled()
    world.library.give("1")
    await settled()
    assert world.library.asked == []


async def test_a_copy_of_what_is_held_is_swallowed_and_another_asked_for() -> None:
    world = World()
    world.library.give("0")
    await settled()
    world.library.give("0")
    await settled()
    assert (await world.consumer.receive()).broker_id == "t/id-0"
    assert len(world.library.asked) == 1
    world.library.give("1")
    assert (await world.consumer.receive()).broker_id == "t/id-1"


async def test_a_broken_consumer_says_so_to_all_and_from_then_on() -> None:
    world = World()
    calls = [asyncio.ensure_future(world.consumer.receive()) for _ in range(3)]
    await settled()
    world.library.asked.pop()(_pulsar.Result.TopicTerminated, None)
    for outcome in await asyncio.gather(*calls, return_exceptions=True):
        assert isinstance(outcome, BusFailed)
    with pytest.raises(
        BusFailed, match=r"receiving from t failed \(TopicTerminated\): the topic was closed for good"
    ):
        await world.consumer.receive()
    assert world.library.asked == []


async def test_a_close_that_fails_still_releases() -> None:
    world = World()
    closing = asyncio.ensure_future(world.consumer.close())
    await settled()
    [answer] = world.library.closing
    answer(_pulsar.Result.ConnectError)
    with pytest.raises(BusFailed, match="closing s on t failed"):
        await closing
    assert world.released == [world.consumer]


async def test_closing_what_is_closed_already_is_no_error() -> None:
    world = World()
    closing = asyncio.ensure_future(world.consumer.close())
    await settled()
    world.library.closing.pop()(_pulsar.Result.AlreadyClosed)
    await closing
    world.library.give("late")  # an answer that comes after the end
    await settled()
    with pytest.raises(BusFailed, match="closed"):
        await world.consumer.receive()
