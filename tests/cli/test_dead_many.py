"""``clew dead`` with many letters: chosen by what they tell, sent again in spite of kill -9, edited, dropped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pulsar
import pytest

from clew_schema.dead_letters import DeadLetterResponse
from clew_schema.errors import DeadLetter, Error
from clew_schema.retrieval import DocumentRagResponse
from tests.cli.shell import CLEW, Shell, Up
from tests.cli.test_dead import RESPONSES, client, letters_about, publish

pytestmark = pytest.mark.slow

QUIET = "persistent://public/default/graph-rag-request"
"""A topic of ours that no service of this test reads."""
BOX = "persistent://public/default/dead-letter"
MANY = 1_200


def post(stack: Up, step: str, count: int, **fields: object) -> None:
    """Put letters of ``step`` into the box."""
    with client(stack) as connected:
        producer = connected.create_producer(BOX, batching_enabled=False, max_pending_messages=2_000)
        for number in range(count):
            values: dict[str, object] = {
                "letter_id": f"{step}-{number:04}",
                "topic": QUIET,
                "step": step,
                "session_id": f"run-{number}",
                "properties": {"id": f"caller-{number}"},
                "payload": f'{{"query": "{step} {number}"}}',
                "collection": "default",
                "error": Error(type="model-failed", message="down"),
                "buried_at": f"2026-11-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
            }
            letter = DeadLetter.model_validate(values | fields)
            producer.send_async(letter.model_dump_json().encode(), lambda *_: None)
        producer.flush()


@pytest.fixture
def sent(stack: Up) -> Iterator[pulsar.Consumer]:
    """Whatever is published on the quiet topic from now on."""
    with client(stack) as connected:
        listening = connected.subscribe(
            QUIET, "a-test", pulsar.ConsumerType.Shared, initial_position=pulsar.InitialPosition.Latest
        )
        yield listening
        time.sleep(0.2)  # an unsubscribe that overtakes an acknowledgement ends the connection
        listening.unsubscribe()


def heard(listening: pulsar.Consumer, expected: int) -> list[pulsar.Message]:
    """Messages until as many different ones came as expected, and what comes within a moment after them."""
    found: list[pulsar.Message] = []
    while True:
        enough = len({message.properties()["message-id"] for message in found}) >= expected
        try:
            message = listening.receive(500 if enough else 15_000)
        except pulsar.Timeout:
            return found
        listening.acknowledge(message)
        found.append(message)


def test_a_thousand_are_sent_again_once_each_although_the_first_command_is_killed(
    shell: Shell, stack: Up, sent: pulsar.Consumer
) -> None:
    post(stack, "killed", MANY)
    command = [str(CLEW), "dead", "requeue", "--all", "--step", "killed", "--json"]
    with subprocess.Popen(command, env=shell.environment, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        for _ in range(MANY // 3):
            assert b'"done": "sent again"' in first.stdout.readline()
        first.send_signal(signal.SIGKILL)
        first.wait(10)
    again = shell.run("dead", "requeue", "--all", "--step", "killed")
    assert again.code == 0, again.err
    assert f"{MANY}" not in again.err, "some had left the box before"
    assert "100 of " in again.err
    messages = heard(sent, MANY)
    names = {message.properties()["message-id"] for message in messages}
    assert len(names) == MANY
    assert len({message.data() for message in messages}) == MANY
    assert {message.properties()["id"] for message in messages} == {f"caller-{n}" for n in range(MANY)}
    assert {message.properties()["session-id"] for message in messages} == {f"run-{n}" for n in range(MANY)}
    assert shell.run("dead", "list", "--step", "killed", "--json").lines == []


def test_two_operators_at_once_send_each_letter_once(shell: Shell, stack: Up, sent: pulsar.Consumer) -> None:
    post(stack, "shared", 300)
    command = [str(CLEW), "dead", "requeue", "--all", "--step", "shared", "--json"]
    both = [subprocess.Popen(command, env=shell.environment, stdout=subprocess.PIPE) for _ in range(2)]
    lines = [process.communicate(timeout=60)[0].splitlines() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    rest = shell.run("dead", "requeue", "--all", "--step", "shared", "--json").lines
    assert sum(map(len, lines)) + len(rest) == 300
    messages = heard(sent, 300)
    assert len({message.properties()["message-id"] for message in messages}) == len(messages) == 300


def test_letters_are_chosen_by_tenant_error_time_and_number(shell: Shell, stack: Up) -> None:
    post(stack, "chosen", 3)
    post(stack, "chosen", 2, collection="theirs", letter_id="chosen-t", error=Error(type="too-large"))

    def listed(*options: str) -> list[str]:
        found = shell.run("dead", "list", "--step", "chosen", "--json", *options)
        assert found.code == 0, found.err
        return [line["letter_id"] for line in found.lines]

    ours = [f"chosen-{n:04}" for n in range(3)]
    assert sorted(listed()) == [*ours, "chosen-t"]
    assert listed("--collection", "theirs") == ["chosen-t"]
    assert listed("--collection", "default", "--limit", "2") == ours[:2]
    assert listed("--error", "too-large") == ["chosen-t"]
    assert listed("--newer", "2026-11-01T00:00:01Z", "--collection", "default") == ours[1:]
    assert listed("--older", "1s", "--newer", "2026-11-01T00:00:02Z", "--error", "model-failed") == ours[2:]
    assert listed("--newer", "1h") == []
    dry = shell.run("dead", "drop", "--all", "--step", "chosen", "-c", "theirs", "--dry-run")
    assert (dry.code, dry.err) == (0, "would be dropped: 1 letters\n")
    refused = shell.run("dead", "drop", "--all", "--step", "chosen", "-c", "theirs")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    said = shell.run("dead", "drop", "--all", "--step", "chosen", "-c", "theirs", "--yes", "--json")
    assert (said.code, [line["letter_id"] for line in said.lines]) == (0, ["chosen-t"])
    assert listed() == ours
    said = shell.run("dead", "drop", ours[0], ours[2])
    assert (said.code, said.err) == (0, f"dropped {ours[0]}\ndropped {ours[2]}\n")
    assert listed() == [ours[1]]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("requeue",), 2, "name letters by their ids, or say --all"),
        (("drop", "x", "--all"), 2, "one of the two"),
        (("requeue", "x", "--step", "y"), 2, "go with --all"),
        (("requeue", "--all", "--payload", __file__), 2, "--payload is the body of one letter"),
        (("list", "--newer", "yesterday"), 2, "neither a time"),
        (("show", "nobody's"), 1, "there is no dead letter"),
        (("edit", "nobody's"), 1, "there is no dead letter"),
        (("requeue", "--all", "--step", "nobody's"), 0, "sent again: 0 of 0 letters"),
        (("list", "--step", "nobody's"), 0, ""),
    ],
)
def test_what_makes_no_sense_is_told(
    shell: Shell, stack: Up, options: tuple[str, ...], code: int, words: str
) -> None:
    del stack
    said = shell.run("dead", *options)
    assert (said.code, words in said.err) == (code, True), said.err
    assert "Traceback" not in said.err


def test_one_that_cannot_be_sent_stays_and_the_exit_code_says_so(shell: Shell, stack: Up) -> None:
    post(stack, "stuck", 1, topic="persistent://public/elsewhere/topic")
    said = shell.run("dead", "requeue", "--all", "--step", "stuck")
    assert said.code == 1
    assert "stuck-0000 stays: unreadable: " in said.err
    assert "sent again: 0 of 1 letters" in said.err
    assert len(shell.run("dead", "list", "--step", "stuck", "--json").lines) == 1
    assert shell.run("dead", "drop", "--all", "--step", "stuck", "--yes").code == 0


def test_a_body_is_repaired_in_an_editor_and_its_caller_gets_the_answer(
    shell: Shell, stack: Up, tmp_path: Path
) -> None:
    publish(stack, b'{"query":5}', id="waits", **{"x-mark": "edit-me"})
    (letter,) = letters_about(shell, '{"query":5}')
    editor = 'sed -i s/5/\\"What-is-a-clew?\\"/'
    dry = shell.run("dead", "edit", letter.letter_id, "--dry-run", EDITOR=editor)
    assert (dry.code, dry.err) == (0, "a dry run: nothing was done\n")
    assert dry.out.splitlines()[-4:] == [" {", '-  "query": 5', '+  "query": "What-is-a-clew?"', " }"]
    with client(stack) as connected:
        listening = connected.subscribe(
            RESPONSES, "an-editor", pulsar.ConsumerType.Shared, initial_position=pulsar.InitialPosition.Latest
        )
        said = shell.run(
            "dead", "edit", letter.letter_id, VISUAL=editor, EDITOR="false", TMPDIR=str(tmp_path)
        )
        assert (said.code, said.err) == (0, f"sent again to {letter.topic}\n")
        while (message := listening.receive(10_000)).properties().get("id") != "waits":
            listening.acknowledge(message)
        listening.acknowledge(message)
        time.sleep(0.2)
        listening.unsubscribe()
    answer = DocumentRagResponse.model_validate_json(message.data())
    assert answer.error is None
    assert answer.session_id == letter.session_id, "the run keeps its name"
    assert list(tmp_path.iterdir()) == [], "what a person wrote lies nowhere"
    assert letters_about(shell, '{"query":5}', 0) == []


def test_an_edit_may_be_kept_and_what_cannot_be_sent_is_not_lost(
    shell: Shell, stack: Up, tmp_path: Path, sent: pulsar.Consumer
) -> None:
    post(stack, "edited", 1, payload="§ no json")
    (name,) = (line["letter_id"] for line in shell.run("dead", "list", "--step", "edited", "--json").lines)
    for editor, code, words in (
        ("", 1, "error no-editor: set VISUAL or EDITOR"),
        ("/no/such/editor", 1, "cannot be started"),
        ("false", 1, "the editor ended with 1"),
        ("true", 0, "nothing changed"),
        ("sed -i s/no/still-no/", 1, "--force sends it all the same; what you wrote is in"),
    ):
        said = shell.run("dead", "edit", name, EDITOR=editor, TMPDIR=str(tmp_path))
        assert (said.code, words in said.err) == (code, True), said.err
    kept = [path.read_text() for path in tmp_path.iterdir()]
    assert sorted(kept) == ["§ no json", "§ still-no json"]
    body = tmp_path / "body"
    body.write_bytes(b"\xff\x00 as it is")
    said = shell.run(
        "dead", "edit", name, "--body", body, "--set-property", "x=1", "--set-property", "id=",
        "--keep", "--user", "ada", "--json",
    )  # fmt: skip
    (told,) = said.lines
    assert (said.code, told["done"]) == (0, "kept")
    (letter,) = shell.run("dead", "list", "--step", "edited", "--json").lines
    assert (letter["encoding"], letter["edited_by"], letter["properties"]) == ("base64", "ada", {"x": "1"})
    assert shell.run("dead", "edit", name, "--set-property", "nothing").code == 2
    assert shell.run("dead", "requeue", name).code == 0
    (message,) = heard(sent, 1)
    assert message.data() == b"\xff\x00 as it is"
    assert message.properties()["x"] == "1"
    assert "id" not in message.properties()


def test_a_body_beyond_one_message_comes_back_byte_for_byte(shell: Shell, stack: Up, tmp_path: Path) -> None:
    body = os.urandom(3_500_000)
    publish(stack, body, id="large")
    limit = time.monotonic() + 20
    while not (found := shell.sh('clew dead list --json | grep \'"id": "large"\' || true').lines):
        assert time.monotonic() < limit
    (letter,) = found
    assert (letter["payload_bytes"], letter["truncated"], letter["parts"]) == (len(body), False, 1)
    file = tmp_path / "body"
    assert shell.sh(f"clew dead show {letter['letter_id']} --body > {file}").code == 0
    assert file.read_bytes() == body
    assert shell.run("dead", "drop", letter["letter_id"]).code == 0
    assert shell.sh("clew dead list --json | grep -c large || true").out.strip() == "0"


def test_any_program_asks_over_the_bus_with_a_pulsar_client_alone(shell: Shell, stack: Up) -> None:
    post(stack, "asked", 2)

    def told(listening: pulsar.Consumer, **request: object) -> DeadLetterResponse:
        publish(stack, json.dumps(request).encode(), topic=f"{BOX}-request", id="an-operator")
        while True:
            message = listening.receive(15_000)
            listening.acknowledge(message)
            if message.properties().get("id") == "an-operator":
                return DeadLetterResponse.model_validate_json(message.data())

    with client(stack) as connected:
        listening = connected.subscribe(
            f"{BOX}-response", "a-test", initial_position=pulsar.InitialPosition.Latest
        )
        listed = told(listening, action="list", step="asked")
        assert [letter.letter_id for letter in listed.letters] == ["asked-0000", "asked-0001"]
        shown = told(listening, action="show", letter_id="asked-0001")
        assert [letter.payload for letter in shown.letters] == ['{"query": "asked 1"}']
        refused = told(listening, action="drop")
        assert refused.error is not None
        assert refused.error.type == "bad-request"
        assert told(listening, action="drop", every=True, step="asked").done == 2
        assert told(listening, action="list", step="asked").matched == 0
        time.sleep(0.2)
        listening.unsubscribe()
    assert shell.run("dead", "list", "--step", "asked", "--json").lines == []
