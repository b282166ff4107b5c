"""asyncapi.yaml: the topics as an AsyncAPI 3 document, with the messages' JSON Schemas and Pulsar's bindings."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

import yaml
from pydantic.json_schema import models_json_schema

from clew_schema import envelope
from clew_schema.topics import RESPONSES, TOPICS, Topic, TopicSpace
from clew_services.subscriptions import READERS
from generators import topics
from generators.markdown import doc
from generators.properties import MEANING

HEAD = "# Made by `python docs/generate.py` from clew_schema.topics and the messages. Change it there.\n"
ABOUT = (
    "Questions over documents, with agents, as services on Apache Pulsar. "
    "Operations are Clew's own: it receives what callers send."
)
SPACE = TopicSpace()
TEXT = {"type": "string"}


def render() -> str:
    """The document."""
    return HEAD + yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=120)


def document() -> dict[str, Any]:
    """The document as a value."""
    bodies = sorted({topic.body for topic in TOPICS}, key=lambda body: body.__name__)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Clew",
            "version": version("clew-schema"),
            "description": ABOUT,
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {"pulsar": _server()},
        "channels": {topic.name: _channel(topic) for topic in TOPICS},
        "operations": _operations(),
        "components": {
            "messages": {body.__name__: _message(body) for body in bodies},
            "schemas": {"Properties": _headers()} | _schemas(bodies),
            "correlationIds": {
                "id": {
                    "description": "The caller's own id; it comes back on every response.",
                    "location": f"$message.header#/{envelope.ID}",
                }
            },
        },
    }


def _server() -> dict[str, Any]:
    return {
        "host": "{host}:{port}",
        "protocol": "pulsar",
        "description": "Tenant and namespace are settings (CLEW_TENANT, CLEW_NAMESPACE).",
        "variables": {"host": {"default": "localhost"}, "port": {"default": "6650"}},
        "bindings": {"pulsar": {"tenant": SPACE.tenant}},
    }


def _channel(topic: Topic[Any]) -> dict[str, Any]:
    name = topic.body.__name__
    return {
        "address": SPACE.full(topic.name),
        "description": f"{topic.about[0].upper()}{topic.about[1:]}. Partition key: {topic.key}.",
        "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        "bindings": {"pulsar": {"namespace": SPACE.namespace, "persistence": "persistent"}},
    }


def _operations() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for step, topic in READERS:
        found[f"receive.{step}"] = _operation("receive", topic, f"Step {step}, subscription of that name.")
        answer = next((r for r in RESPONSES if r.name == topic.name.replace("-request", "-response")), None)
        if answer and answer is not topic:
            found[f"receive.{step}"]["reply"] = {
                "address": {
                    "description": "The caller's own topic, if it named one.",
                    "location": f"$message.header#/{envelope.REPLY_TO}",
                },
                "channel": {"$ref": f"#/channels/{answer.name}"},
            }
    for topic in TOPICS:
        if names := [name for name in topics.publishers(topic) if name != "callers"]:
            found[f"send.{topic.name}"] = _operation("send", topic, f"Published by {', '.join(names)}.")
    return found


def _operation(action: str, topic: Topic[Any], text: str) -> dict[str, Any]:
    channel = f"#/channels/{topic.name}"
    return {
        "action": action,
        "channel": {"$ref": channel},
        "description": text,
        "messages": [{"$ref": f"{channel}/messages/{topic.body.__name__}"}],
    }


def _message(body: type[Any]) -> dict[str, Any]:
    return {
        "summary": doc(body).split("\n\n")[0].replace("\n", " "),
        "headers": {"$ref": "#/components/schemas/Properties"},
        "correlationId": {"$ref": "#/components/correlationIds/id"},
        "payload": {"$ref": f"#/components/schemas/{body.__name__}"},
    }


def _headers() -> dict[str, Any]:
    properties = {
        getattr(envelope, name): TEXT | {"description": text} for name, (_, text) in MEANING.items()
    }
    return {
        "type": "object",
        "description": "Properties of a message; all are text.",
        "properties": properties,
    }


def _schemas(bodies: list[Any]) -> dict[str, Any]:
    _, schema = models_json_schema(
        [(body, "validation") for body in bodies], ref_template="#/components/schemas/{model}"
    )
    return {name: _plain(value) for name, value in sorted(schema["$defs"].items())}


def _plain(value: Any) -> Any:
    """A JSON Schema in AsyncAPI's dialect: a discriminator is the name of a field; docstrings without markup."""
    if isinstance(value, dict):
        cleaned = {key: _plain(inner) for key, inner in value.items()}
        match cleaned.get("discriminator"):
            case {"propertyName": name}:
                cleaned["discriminator"] = name
        if isinstance(text := cleaned.get("description"), str):
            cleaned["description"] = re.sub(r":\w+:`([^`]+)`", r"\1", text).replace("``", "`")
        return cleaned
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
