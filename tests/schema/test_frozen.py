"""The contract: exported JSON Schemas equal the frozen ones, and yesterday's messages are still read."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew_schema.export import FROZEN, differences, main, rendered
from clew_schema.topics import TOPICS, Topic
from tests.translators.reference import Observed, captured

SCHEMAS = {name.removesuffix(".json"): json.loads(text) for name, text in rendered().items()}


def test_the_frozen_schemas_are_the_exported_ones() -> None:
    """When this fails on purpose: `python -m clew_schema.export`, and say in the changelog what changed."""
    assert differences(FROZEN, rendered()) == []


def test_there_is_one_for_every_topic() -> None:
    assert {path.stem for path in FROZEN.glob("*.json")} == {topic.name for topic in TOPICS}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_schema_names_its_topic_and_every_field(topic: Topic[Any]) -> None:
    schema = SCHEMAS[topic.name]
    assert schema["$id"] == f"urn:clew:topic:{topic.name}"
    assert schema["title"] == topic.body.__name__
    assert set(schema["properties"]) == set(topic.body.model_fields)
    assert topic.key.partition(".")[0] in schema["properties"]


def test_no_field_must_be_there_so_that_old_producers_are_read() -> None:
    assert [name for name, schema in SCHEMAS.items() if "required" in schema] == []


@pytest.mark.parametrize("seen", list(captured()), ids=lambda seen: seen.body.__name__)
def test_yesterday_s_messages_are_read(seen: Observed) -> None:
    body = json.loads(seen.payload)
    message = seen.body.model_validate_json(seen.payload)
    written = json.loads(message.model_dump_json())
    assert {key: written[key] for key in body} == body


def test_the_export_writes_compares_and_removes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--check"]) == 1
    assert "differs: agent-request.json" in capsys.readouterr().out
    assert main([str(tmp_path)]) == 0
    assert main([str(tmp_path), "--check"]) == 0
    (tmp_path / "agent-request.json").write_text("{}")
    (tmp_path / "of-old.json").write_text("{}")
    capsys.readouterr()
    assert main([str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().out == "differs: agent-request.json\ndiffers: of-old.json\n"
    assert main([str(tmp_path)]) == 0
    assert not (tmp_path / "of-old.json").exists()
    assert main([str(tmp_path), "--check"]) == 0
