"""A rolling upgrade: messages that an earlier release published are read, handled and answered by this one."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from clew_schema import topics
from clew_services.ports import Outgoing
from clew_translators import bus as wire
from tests.flow.house import CLEW, House
from tests.upgrade.kept import NOT_OURS, Kept, kept, looking, releases

EVERY = [message for release in releases() for message in kept(release)]
BY_NAME = {topic.name: topic for topic in topics.TOPICS}
ENDS = {
    "document-rag-request": "document-rag-response",
    "grading-request": "grading-response",
    "grading-response": "document-rag-response",
    "agent-request": "agent-response",
    "agent-observation": "agent-response",
    "document-load": "document-status",
    "cancel-request": "cancel-response",
    "dead-letter-request": "dead-letter-response",
}
"""Topics that services read, and where something has to come of it."""
HANDLED = [each for each in EVERY if each.topic in ENDS and not json.loads(each.payload).get("ticket")]


def test_this_release_and_every_topic_of_it_is_kept() -> None:
    assert version("clew-schema") in releases()
    for release in releases():
        assert {each.topic for each in kept(release)} >= set(ENDS) | {"explainability", "dead-letter"}
    newest = {each.topic for each in kept(releases()[-1])}
    assert newest == set(BY_NAME) - NOT_OURS, "python -m tests.upgrade.kept, for a topic of a new release"


@pytest.mark.parametrize("message", EVERY, ids=repr)
def test_a_kept_message_is_read_and_nothing_of_it_is_lost(message: Kept) -> None:
    body = wire.decode(BY_NAME[message.topic].body, message.payload)
    again = json.loads(wire.encode(body))
    assert {name: again[name] for name in json.loads(message.payload)} == json.loads(message.payload)


def asked_by_an_agent(message: Kept) -> bool:
    """Whether its answer goes to an agent's tool, by return address, and the agent ends it."""
    return message.topic == "agent-observation" or '"topic": "agent-observation"' in message.payload.decode()


def end_of(message: Kept) -> str:
    """The topic where what comes of it is told."""
    return "agent-response" if asked_by_an_agent(message) else ENDS[message.topic]


def of_a_newer_release(message: Kept) -> Kept:
    """As a release would publish it that knows more than this one."""
    payload = json.dumps(json.loads(message.payload) | {"new_in_two_years": {"a": [1]}}).encode()
    return replace(message, payload=payload, properties={**message.properties, "new-property": "x"})


@pytest.mark.parametrize("newer", [False, True], ids=["as it was", "with more"])
@pytest.mark.parametrize("message", HANDLED, ids=repr)
async def test_a_kept_message_is_handled_to_its_end(message: Kept, newer: bool, tmp_path: Path) -> None:
    given = of_a_newer_release(message) if newer else message
    thoughts = looking()[1:] if asked_by_an_agent(message) else looking()
    async with House(tmp_path, thinker=thoughts, proves=False) as house:
        await house.load("clew.md", CLEW)
        space = house.settings.space
        end = end_of(message)
        before = len(house.bus.messages(space.full(end)))
        await house.bus.publish(
            Outgoing(
                topic=space.full(message.topic),
                payload=given.payload,
                key=given.key,
                properties=dict(given.properties),
            )
        )
        async with asyncio.timeout(10):
            while len(house.bus.messages(space.full(end))) <= before or not _ended(house, end):
                await asyncio.sleep(0.01)
        assert not house.published("dead-letter")
        assert not [body for body in house.published(end) if getattr(body, "error", None)]


def _ended(house: House, end: str) -> bool:
    """Whether the last of the answers that were due is there."""
    answers = house.published(end)
    ends = {"document-rag-response": "end_of_session", "agent-response": "end_of_dialog"}.get(end)
    return bool(answers) and (ends is None or any(getattr(body, ends) for body in answers))
