"""``clew dead``: garbage that somebody published with the Pulsar client alone, looked at, repaired, sent again."""

from __future__ import annotations

import os
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pulsar
import pytest

from clew_schema.errors import DeadLetter
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from tests.cli.shell import Shell, Up

pytestmark = pytest.mark.slow

TOPIC = "persistent://public/default/document-rag-request"
RESPONSES = "persistent://public/default/document-rag-response"


@contextmanager
def client(stack: Up) -> Iterator[Any]:
    quiet = pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull)
    connected = pulsar.Client(stack.run_file["broker"], logger=quiet)
    try:
        yield connected
    finally:
        connected.close()


def publish(stack: Up, body: bytes, topic: str = TOPIC, **properties: str) -> None:
    with client(stack) as connected:
        connected.create_producer(topic, batching_enabled=False).send(body, properties=properties)


def letters(shell: Shell) -> list[DeadLetter]:
    return [DeadLetter.model_validate(line) for line in shell.run("dead", "list", "--json").lines]


def letters_about(shell: Shell, text: str, expected: int = 1) -> list[DeadLetter]:
    """The letters whose payload holds ``text``, once there are as many as expected."""
    limit = time.monotonic() + 15
    while True:
        found = [letter for letter in letters(shell) if text in letter.payload]
        if len(found) == expected or time.monotonic() > limit:
            return found
        time.sleep(0.1)


def test_garbage_is_listed_shown_repaired_and_answered_to_who_asked_first(
    shell: Shell, stack: Up, tmp_path: Path
) -> None:
    publish(stack, b"not json, one", id="the-caller", **{"session-id": "S", "x-theirs": "kept"})
    (letter,) = letters_about(shell, "not json, one")
    assert (letter.topic, letter.step, letter.error.type) == (TOPIC, "document-rag.plan", "unreadable")
    shown = DeadLetter.model_validate_json(shell.run("dead", "show", letter.letter_id[:12], "--json").out)
    assert shown == letter, "the beginning of an id will do"
    assert shown.payload == "not json, one"
    assert (shown.properties["id"], shown.properties["x-theirs"]) == ("the-caller", "kept")
    (attempt,) = shown.attempts
    assert (attempt.number, attempt.at, attempt.error) == (1, shown.buried_at, shown.error)
    told = shell.run("dead", "show", letter.letter_id).out
    for text in ("not json, one", "x-theirs = kept", "unreadable: ", f"1  {attempt.at}", shown.trace):
        assert text in told
    assert shell.run("dead", "show", letter.letter_id, "--body").out == "not json, one"
    for_people = shell.run("dead", "list")
    assert letter.letter_id[:8] in for_people.out
    assert "unreadable" in for_people.out

    repaired = tmp_path / "repaired.json"
    repaired.write_text(DocumentRagQuery(query="What is a clew?").model_dump_json())
    with client(stack) as connected:
        listening = connected.subscribe(
            RESPONSES, "a-test", pulsar.ConsumerType.Shared, initial_position=pulsar.InitialPosition.Latest
        )
        said = shell.run("dead", "requeue", letter.letter_id, "--payload", repaired)
        assert (said.code, said.err) == (0, f"sent again to {TOPIC}\n")
        while (message := listening.receive(10_000)).properties().get("id") != "the-caller":
            listening.acknowledge(message)
        listening.acknowledge(message)
        time.sleep(0.2)  # an unsubscribe that overtakes an acknowledgement ends the connection
        listening.unsubscribe()
    body = DocumentRagResponse.model_validate_json(message.data())
    assert body.response is not None
    assert body.response.startswith("A clew is a ball of thread.")
    assert letters_about(shell, "not json, one", 0) == []


def test_a_letter_is_dropped_and_only_that_one(shell: Shell, stack: Up) -> None:
    publish(stack, b"\xff\xfe\x00 two")
    publish(stack, b"I am no letter, three", topic="persistent://public/default/dead-letter")
    (foreign,) = letters_about(shell, "I am no letter, three")
    limit = time.monotonic() + 15
    while not (found := [x for x in letters(shell) if x.encoding == "base64"]) and time.monotonic() < limit:
        time.sleep(0.1)
    (binary,) = found
    assert b64decode(binary.payload) == b"\xff\xfe\x00 two"
    refused = shell.run("dead", "requeue", foreign.letter_id)
    assert refused.code == 1
    assert "does not say where it belongs" in refused.err
    said = shell.run("dead", "drop", binary.letter_id)
    assert (said.code, said.err) == (0, f"dropped {binary.letter_id}\n")
    left = letters(shell)
    assert foreign in left
    assert binary not in left
    for name in (binary.letter_id, "", "\x1b[31m"):
        said = shell.run("dead", "drop", name)
        assert (said.code, said.out) == (1, "")
        assert "error unknown-letter" in said.err
        assert "\x1b" not in said.err
    assert letters(shell) == left
