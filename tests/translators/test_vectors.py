"""TrustGraph's vectors, every one of them: what it does with an input, and that we do the same or better."""

import json
from typing import Any

import pytest

import clew_schema
from clew_schema import AgentRequest, Term, Triple, Triples, library, services
from clew_schema.base import Message
from clew_schema.topics import queue_topic
from clew_translators import bus, gateway, uris
from clew_translators.quads import from_nquads
from clew_translators.refusal import NotThisMessage
from clew_translators.terms import term_from_compact, term_to_compact, triple_from_compact, triple_to_compact
from tests.translators.reference import Vector, vectors

RUN = {"session_id", "collection"}
SURPLUS: dict[str, set[str]] = {
    "AgentRequest": {"user", "parent_uri", "trail"},
    "AgentResponse": RUN,
    "DocumentRagQuery": {"session_id", "parent_uri", "reply", "ticket", "answer", "cancel", "user"},
    "DocumentRagResponse": RUN
    | {
        "message_id",
        "outcome",
        "citations",
        "claims",
        "checks",
        "coverage",
        "ticket",
        "options",
        "expires_at",
    }
    | {"rag_trace", "ext", "state"},
    "GraphRagQuery": {"session_id", "reply"},
    "GraphRagResponse": RUN | {"message_id", "state"},
}
"""The fields that are ours, by message; every other message is exactly TrustGraph's."""

REFUSED: dict[str, tuple[str, str]] = {
    "no-type-check": ("question", "TrustGraph takes a number for a question; we refuse wrong types"),
    '{"t": "z"}': ("t", "TrustGraph keeps a kind of term that nobody can use; we refuse it"),
    "agent:{}": ("question", "TrustGraph fails with KeyError; we name the key"),
    "document-rag:{}": ("query", "TrustGraph fails with KeyError; we name the key"),
    'document-rag:{"query": "q", "doc-limit": null}': (
        "doc-limit",
        "TrustGraph fails in int(); we name the key",
    ),
}
"""Vectors that we refuse: the key that we name, and why we differ."""

ANSWERED: dict[str, dict[str, Any]] = {
    "agent:AgentResponse": {
        "response": {
            "message_type": "error",
            "content": "x",
            "end_of_message": True,
            "end_of_dialog": True,
            "error": {"type": "agent-error", "message": "x"},
        },
        "complete": True,
    },
}
"""Vectors on which TrustGraph's translator fails, and what stands there instead (its error has no ``code``)."""


def each(*areas: str) -> pytest.MarkDecorator:
    rows = vectors(*areas)
    return pytest.mark.parametrize("vector", rows, ids=[f"{row.area}-{row.id}" for row in rows])


def model_named(name: str) -> type[Message]:
    model: type[Message] = next(
        vars(module)[name] for module in (clew_schema, services, library) if name in vars(module)
    )
    return model


def on_the_bus(message: Message) -> Any:
    return json.loads(bus.encode(message))


def assert_superset(message: Message, expected: dict[str, Any]) -> None:
    written = on_the_bus(message)
    surplus = SURPLUS.get(type(message).__name__, set())
    assert set(written) - set(expected) == surplus
    assert {key: value for key, value in written.items() if key not in surplus} == expected


@each("pulsar-wire")
def test_bus_json(vector: Vector) -> None:
    if vector.id.startswith("default:"):
        message = model_named(vector.input["construct"]).model_validate(vector.input["args"])
        assert_superset(message, vector.expected)
    elif vector.id == "triples-batch":
        batch = Triples.model_validate(
            {"metadata": vector.input["metadata"], "triples": from_nquads(vector.input["triple"] + " .")}
        )
        assert on_the_bus(batch) == vector.expected
    elif vector.id == "quoted-triple":
        (triple,) = from_nquads(vector.input.replace("tg:edge", "<https://trustgraph.ai/ns/edge>") + " .")
        assert on_the_bus(triple) == vector.expected
    elif vector.id in REFUSED:
        with pytest.raises(NotThisMessage) as refused:
            bus.decode(AgentRequest, json.dumps(vector.input).encode())
        assert refused.value.field == REFUSED[vector.id][0]
    else:
        assert_superset(bus.decode(AgentRequest, json.dumps(vector.input).encode()), vector.expected)


@each("gateway-decode")
def test_gateway_request(vector: Vector) -> None:
    name, request = vector.input["service"], vector.input["request"]
    if vector.id in REFUSED:
        assert "raises" in vector.expected
        with pytest.raises(NotThisMessage) as refused:
            gateway.decode_request(name, request)
        assert (refused.value.message_type, refused.value.field) == (name, REFUSED[vector.id][0])
    else:
        assert_superset_of_request(gateway.decode_request(name, request), vector.expected["ok"])


def assert_superset_of_request(message: Message, expected: dict[str, Any]) -> None:
    assert_superset(message, expected)
    ours = SURPLUS.get(type(message).__name__, set())
    defaults = type(message).model_fields
    assert all(getattr(message, field) == defaults[field].get_default() for field in ours)


@each("gateway-encode")
def test_gateway_response(vector: Vector) -> None:
    name = vector.input["service"]
    model = gateway.service(name).response.model
    message = bus.decode(model, json.dumps(vector.input["pulsar"]).encode())
    expected = vector.expected.get("ok") or ANSWERED[vector.id]
    response, complete = gateway.encode_response(name, message)
    assert {"response": response, "complete": complete} == expected


@each("term-wire")
def test_term(vector: Vector) -> None:
    if vector.id in REFUSED:
        with pytest.raises(NotThisMessage) as refused:
            term_from_compact(vector.input)
        assert refused.value.field == REFUSED[vector.id][0]
    else:
        term = term_from_compact(vector.input)
        assert term == Term.model_validate(vector.expected["pulsar"])
        assert term_to_compact(term) == vector.expected["re-encoded"]


@each("triple-wire")
def test_triple(vector: Vector) -> None:
    triple = triple_from_compact(vector.input)
    assert triple == Triple.model_validate(vector.expected["pulsar"])
    assert triple_to_compact(triple) == vector.expected["re-encoded"]


@each("queue-map")
def test_queue(vector: Vector) -> None:
    if "raises" in vector.expected:
        assert vector.expected["raises"] == "ValueError"
        with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole text is compared
            queue_topic(vector.input)
        assert str(refused.value) == vector.expected["message"]
    else:
        assert queue_topic(vector.input) == vector.expected["ok"]


@each("uri")
def test_uri(vector: Vector) -> None:
    assert getattr(uris, vector.id)(*vector.input) == vector.expected
