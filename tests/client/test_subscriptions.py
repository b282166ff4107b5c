"""What is made before anybody publishes is what the services read: no more, no less."""

from __future__ import annotations

from pathlib import Path

from clew_schema.topics import TopicSpace
from clew_services.subscriptions import READERS, subscriptions
from tests.flow.house import House


async def test_the_table_names_every_step_of_every_service(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        wired = {(consumer.step.name, consumer.step.topic.name) for consumer in house.service.consumers}
        assert {(step, topic.name) for step, topic in READERS} == wired
        assert len(READERS) == len(wired)


async def test_what_would_be_made_is_what_running_services_opened(tmp_path: Path) -> None:
    async with House(tmp_path, tenant="acme", namespace="prod") as house:
        wanted = subscriptions(TopicSpace(tenant="acme", namespace="prod"))
        opened = {
            name: sorted(house.bus.broker._topic(name).groups)
            for name in house.bus.topics()
            if house.bus.broker._topic(name).groups
        }
        assert wanted.pop("persistent://acme/prod/dead-letter") == ["dead-letter.inbox"]
        assert {name: sorted(readers) for name, readers in wanted.items()} == opened
