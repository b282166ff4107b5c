"""deploy/asyncapi.yaml: valid AsyncAPI 3, whole, and the same contract as the topics and their frozen schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator, Draft202012Validator

from clew_schema.evidence import Grade
from clew_schema.facts import EvidenceGraded, QuestionAsked
from clew_schema.grading import GradingResponse
from clew_schema.retrieval import DocumentRagQuery
from clew_schema.topics import TOPICS, TopicSpace
from clew_services.subscriptions import READERS

ROOT = Path(__file__).parents[2]
SPECIFICATION = json.loads((Path(__file__).parent / "data" / "asyncapi-3.0.0.json").read_text())
DOCUMENT: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "asyncapi.yaml").read_text())


def problems(document: dict[str, Any]) -> list[str]:
    """What the specification's own JSON Schema says against ``document``."""
    return [
        f"{list(error.absolute_path)}: {error.message[:200]}"
        for error in Draft7Validator(SPECIFICATION).iter_errors(document)
    ]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(target := value.get("$ref"), str):
            yield target
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def resolved(target: str) -> Any:
    value: Any = DOCUMENT
    for part in target.removeprefix("#/").split("/"):
        value = value[part.replace("~1", "/").replace("~0", "~")]
    return value


def payload(name: str) -> Draft202012Validator:
    return Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    )


def test_it_is_valid_by_the_specifications_schema() -> None:
    assert problems(DOCUMENT) == []


@pytest.mark.parametrize(
    "damage",
    [
        {"asyncapi": "2.6.0"},
        {"operations": {"x": {"action": "recv", "channel": {"$ref": "#/channels/agent-request"}}}},
        {"channels": {"x": {"address": "x", "bindings": {"pulsar": {"persistence": "for ever"}}}}},
    ],
    ids=["version", "action", "binding"],
)
def test_the_specifications_schema_does_find_mistakes(damage: dict[str, Any]) -> None:
    assert problems(DOCUMENT | damage)


def test_every_reference_leads_somewhere() -> None:
    found = set(references(DOCUMENT))
    assert len(found) > 50
    for target in found:
        assert resolved(target) is not None, target


def test_channels_are_the_topics_with_their_full_names_and_bodies() -> None:
    space = TopicSpace()
    assert {
        name: (channel["address"], list(channel["messages"]))
        for name, channel in DOCUMENT["channels"].items()
    } == {topic.name: (space.full(topic.name), [topic.body.__name__]) for topic in TOPICS}


def test_every_step_receives_from_its_topic_and_every_service_topic_is_sent_to() -> None:
    operations = DOCUMENT["operations"]
    received = {
        name: operation["channel"]["$ref"]
        for name, operation in operations.items()
        if operation["action"] == "receive"
    }
    assert received == {f"receive.{step}": f"#/channels/{topic.name}" for step, topic in READERS}
    sent = {name.removeprefix("send.") for name, o in operations.items() if o["action"] == "send"}
    outside = {"document-load", "graph-rag-request", "graph-rag-response", "cancel-request"}
    assert sent == {topic.name for topic in TOPICS} - outside


def test_questions_name_the_topic_of_their_answers() -> None:
    replies = {
        name: operation["reply"]["channel"]["$ref"]
        for name, operation in DOCUMENT["operations"].items()
        if "reply" in operation
    }
    assert replies == {
        "receive.document-rag.plan": "#/channels/document-rag-response",
        "receive.agent.think": "#/channels/agent-response",
        "receive.dead-letters.work": "#/channels/dead-letter-response",
        "receive.cancel.run": "#/channels/cancel-response",
    }


def test_payloads_are_those_of_the_frozen_schemas() -> None:
    for topic in TOPICS:
        frozen = json.loads((ROOT / "schema" / "frozen" / f"{topic.name}.json").read_text())
        mine = DOCUMENT["components"]["schemas"][topic.body.__name__]
        assert {name: field.get("default") for name, field in mine["properties"].items()} == {
            name: field.get("default") for name, field in frozen["properties"].items()
        }


def test_a_message_of_the_bus_is_valid_by_its_payload_schema() -> None:
    facts = (
        QuestionAsked(mechanism="document-rag", query="What is a clew?"),
        EvidenceGraded(
            grade=Grade(relevance="strong", answerability="sufficient", route="answer"),
            route="answer",
            status="answerable",
            resolved_by="R04-supported-answer",
        ),
    )
    message = GradingResponse(session_id="s", query=DocumentRagQuery(query="What is a clew?"), trail=facts)
    value = json.loads(message.model_dump_json())
    payload("GradingResponse").validate(value)
    value["trail"][1]["route"] = "guess"
    assert not payload("GradingResponse").is_valid(value)
