"""``clew dead``: garbage that somebody published with the Pulsar client alone, looked at, repaired, sent again."""

from __future__ import annotations

import json
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
    quiet = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
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


def test_garbage_becomes_a_letter_that_is_listed_and_shown_whole(shell: Shell, stack: Up) -> None:
    publish(stack, b"not json, one", id="caller", **{"session-id": "S", "x-theirs": "kept"})
    (letter,) = letters_about(shell, "not json, one")
    assert (letter.topic, letter.step, letter.error.type) == (TOPIC, "document-rag.plan", "unreadable")
    shown = DeadLetter.model_validate_json(shell.run("dead", "show", letter.letter_id).out)
    assert shown == letter
    assert shown.payload == "not json, one"
    assert (shown.properties["id"], shown.properties["x-theirs"]) == ("caller", "kept")
    assert shell.run("dead", "show", letter.letter_id[:12]).code == 0, "the beginning of an id will do"
    for_people = shell.run("dead", "list")
    assert letter.letter_id[:8] in for_people.out
    assert "unreadable" in for_people.out
    assert letters_about(shell, "not json, one") == [letter], "looking takes nothing away"


def test_bytes_that_are_no_text_are_kept(shell: Shell, stack: Up, tmp_path: Path) -> None:
    publish(stack, b"\xff\xfe\x00binary")
    limit = time.monotonic() + 15
    while not (found := [x for x in letters(shell) if x.encoding == "base64"]) and time.monotonic() < limit:
        time.sleep(0.1)
    assert [b64decode(letter.payload) for letter in found] == [b"\xff\xfe\x00binary"]
    assert shell.run("dead", "drop", found[0].letter_id).code == 0


def test_a_letter_is_repaired_and_its_message_answered_to_who_asked_first(
    shell: Shell, stack: Up, tmp_path: Path
) -> None:
    publish(stack, b"not json, two", id="the-caller")
    (letter,) = letters_about(shell, "not json, two")
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
    assert letters_about(shell, "not json, two", 0) == []


def test_a_message_sent_again_unrepaired_becomes_another_letter(shell: Shell, stack: Up) -> None:
    publish(stack, b"not json, three")
    (letter,) = letters_about(shell, "not json, three")
    assert shell.run("dead", "requeue", letter.letter_id).code == 0
    limit = time.monotonic() + 15
    while (found := letters_about(shell, "not json, three")) == [letter] and time.monotonic() < limit:
        time.sleep(0.1)
    (again,) = found
    assert again.letter_id != letter.letter_id
    assert again.attempt == 1


def test_a_letter_is_dropped_and_only_that_one(shell: Shell, stack: Up) -> None:
    publish(stack, b"not json, four")
    publish(stack, b"not json, five")
    (four,), (five,) = letters_about(shell, "not json, four"), letters_about(shell, "not json, five")
    said = shell.run("dead", "drop", four.letter_id)
    assert (said.code, said.err) == (0, f"dropped {four.letter_id}\n")
    assert letters_about(shell, "not json, four", 0) == []
    assert letters_about(shell, "not json, five") == [five]
    assert shell.run("dead", "drop", four.letter_id).code == 1


@pytest.mark.parametrize(
    ("command", "name"),
    [("show", "zzz"), ("requeue", "zzz"), ("drop", ""), ("drop", "*"), ("drop", "\x1b[31m")],
)
def test_a_letter_that_is_not_there(shell: Shell, stack: Up, command: str, name: str) -> None:
    publish(stack, f"not json, {command} {name}".encode())
    before = letters_about(shell, f"not json, {command} {name}")
    assert len(before) == 1
    said = shell.run("dead", command, name)
    assert (said.code, said.out) == (1, "")
    assert "error unknown-letter" in said.err
    assert "clew dead list" in said.err
    assert "\x1b" not in said.err
    assert letters_about(shell, f"not json, {command} {name}") == before


def test_what_is_no_letter_can_be_seen_and_dropped(shell: Shell, stack: Up) -> None:
    publish(stack, b"I am no letter", topic="persistent://public/default/dead-letter")
    (found,) = letters_about(shell, "I am no letter")
    assert found.error.type == "unreadable"
    assert json.loads(shell.run("dead", "show", found.letter_id).out)["payload"] == "I am no letter"
    refused = shell.run("dead", "requeue", found.letter_id)
    assert refused.code == 1
    assert "does not say where it belongs" in refused.err
    assert shell.run("dead", "drop", found.letter_id).code == 0
    assert letters_about(shell, "I am no letter", 0) == []
