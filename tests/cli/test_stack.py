"""Everything that a person does while ``clew up`` runs: documents in, questions, the agent, traces."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from clew_schema.agent import AgentResponse
from clew_schema.documents import DocumentStatus
from clew_schema.limits import MAX_MESSAGE_BYTES
from clew_schema.retrieval import DocumentRagResponse
from tests.cli.shell import INTERRUPTIBLE, Shell, Up

pytestmark = pytest.mark.slow

QUESTION = "What is a clew?"
ANSWER = "A clew is a ball of thread. [1]"


def test_up_says_where_everything_is(stack: Up) -> None:
    told = stack.told
    assert "document-rag, grading, agent, ingest, trace-store" in told
    for value in (stack.run_file["broker"], stack.run_file["ops"], str(stack.data)):
        assert value in told
    ready = httpx.get(f"{stack.run_file['ops']}/readyz", trust_env=False)
    assert (ready.status_code, ready.json()["status"]) == (200, "ok")
    assert stack.data.stat().st_mode & 0o077 == 0, "documents and questions are nobody else's to read"


# --- ingest ---------------------------------------------------------------------------------------


def test_a_folder_is_taken_in_and_the_second_time_nothing_changes(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "a.md").write_text("# One\n\nFirst text.")
    (tmp_path / "deep" / "er" / "a.md").write_text("# Two\n\nSecond text.")
    (tmp_path / "page.html").write_text("<html><body><p>Third text.</p></body></html>")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main")
    (tmp_path / ".hidden.txt").write_text("not meant")
    first = shell.run("ingest", tmp_path, "-c", "folder")
    assert (first.code, first.out) == (0, "")
    for name in ("a.md", "deep/er/a.md", "page.html"):
        assert re.search(rf"^  ✓ {name} +ready, 1 chunks, \d+\.\d s$", first.err, re.MULTILINE)
    assert "3 documents, 3 chunks in collection folder" in first.err
    assert "HEAD" not in first.err
    assert "hidden" not in first.err
    second = shell.run("ingest", tmp_path, "-c", "folder")
    assert second.code == 0
    assert second.err.count("unchanged") == 3


def test_a_file_that_cannot_be_read_fails_alone(shell: Shell, tmp_path: Path) -> None:
    good, bad, odd = tmp_path / "good.txt", tmp_path / "bad.pdf", tmp_path / "odd.xyz"
    good.write_text("A good text.")
    bad.write_bytes(b"%PDF-1.4 this is none")
    odd.write_bytes(b"\x00\x01")
    said = shell.run("ingest", bad, odd, good, "-c", "mixed")
    assert said.code == 1
    assert "✓ good.txt  ready" in said.err
    assert "✗ bad.pdf   document-unreadable: bad.pdf: not a readable PDF" in said.err
    assert "✗ odd.xyz   document-unreadable" in said.err
    assert "2 failed" in said.err
    assert said.err.count("\n") == 4, said.err


def test_ingest_as_json_is_statuses_and_nothing_else(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("A good text.")
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 this is none")
    said = shell.run("ingest", tmp_path, "-c", "json", "--json")
    assert (said.code, said.err) == (1, "")
    statuses = [DocumentStatus.model_validate(line) for line in said.lines]
    last = {status.name: status for status in statuses}
    assert (last["good.txt"].state, last["good.txt"].chunks) == ("ready", 1)
    assert last["bad.pdf"].error is not None
    assert last["bad.pdf"].error.type == "document-unreadable"


def test_a_large_file_that_fits_a_message_is_sent_and_a_larger_one_fails_alone(
    shell: Shell, tmp_path: Path
) -> None:
    as_base64 = MAX_MESSAGE_BYTES * 3 // 4
    (tmp_path / "fits.txt").write_bytes(b"\x00" * (as_base64 - 64 * 1024))
    (tmp_path / "over.txt").write_bytes(b"\x00" * as_base64)
    (tmp_path / "small.txt").write_text("A small text.")
    said = shell.run("ingest", tmp_path, "-c", "sizes", "--json")
    assert said.code == 1
    last = {line["name"]: line for line in said.lines}
    assert last["fits.txt"]["error"]["type"] == "document-unreadable", "it arrived, and is no text"
    assert last["over.txt"]["error"]["type"] == "too-large"
    assert last["small.txt"]["state"] == "ready"


def test_nothing_to_take_in(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    said = shell.run("ingest", tmp_path)
    assert said.code == 2
    assert ".txt, .md, .html, .csv, .tsv, .pdf" in said.err
    said = shell.run("ingest", tmp_path / "missing")
    assert said.code == 2
    assert "missing" in said.err


def test_a_file_name_that_is_not_unicode(shell: Shell, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("Coffee.")
    said = shell.run("ingest", tmp_path, "-c", "names")
    assert said.code == 0
    assert "✓ caf?.txt  ready" in said.err


# --- ask ------------------------------------------------------------------------------------------


def test_the_answer_is_on_standard_output_and_the_steps_are_not(shell: Shell) -> None:
    said = shell.run("ask", QUESTION)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].startswith(ANSWER)
    assert lines[1] == "  [1] clew.md, characters 8–35"
    assert lines[2] == "      “A clew is a ball of thread.”"
    assert re.search(r"^● +\d+\.\d\d s  Retrieval: 1 chunk$", said.err, re.MULTILINE)
    assert re.search(r"^● +\d+\.\d\d s  Grade: strong / sufficient → answer$", said.err, re.MULTILINE)
    assert "Retrieval" not in said.out
    assert ANSWER not in said.err
    assert "\x1b" not in said.out + said.err


def test_the_session_that_is_named_is_the_one_that_is_traced(shell: Shell) -> None:
    session = str(uuid4())
    said = shell.run("ask", QUESTION, "--session", session, "-d", shell.data)
    command = said.err.splitlines()[-1].removeprefix("trace: ")
    assert session in command
    again = shell.sh(command, CLEW_DATA="/nowhere")
    assert again.code == 0
    assert QUESTION in again.out


def test_explained_it_shows_the_tree(shell: Shell) -> None:
    said = shell.run("ask", QUESTION, "-x")
    assert said.code == 0
    assert said.out.startswith(ANSWER)
    tree = said.out[said.out.index(f"\n\n{QUESTION}\n") :]
    assert "├── Retrieval: 1 chunk" in tree
    assert "rule I01-supported-answer" in tree
    assert "clew.md 8–35" in tree
    assert max(map(len, said.out.splitlines())) <= 100


def test_ask_as_json_is_responses_and_nothing_else(shell: Shell) -> None:
    said = shell.run("ask", QUESTION, "--json")
    assert (said.code, said.err) == (0, "")
    bodies = [DocumentRagResponse.model_validate(line) for line in said.lines]
    assert [body.end_of_session for body in bodies] == [False] * (len(bodies) - 1) + [True]
    assert sum(body.message_type == "explain" for body in bodies) == 3
    assert bodies[-1].response is not None
    assert bodies[-1].response.startswith(ANSWER)
    assert bodies[-1].citations[0].quote == "A clew is a ball of thread."


def test_an_empty_question_is_refused(shell: Shell) -> None:
    said = shell.run("ask", "  ")
    assert (said.code, said.out) == (1, "")
    assert "error bad-request: the question is empty" in said.err


def test_an_unknown_collection_is_an_error_that_names_it(shell: Shell) -> None:
    said = shell.run("ask", QUESTION, "-c", "nowhere")
    assert (said.code, said.out) == (1, "")
    assert "error unknown-collection: there is no collection 'nowhere'" in said.err
    as_json = shell.run("ask", QUESTION, "-c", "nowhere", "--json")
    assert (as_json.code, as_json.err) == (1, "")
    assert as_json.lines[-1]["error"]["type"] == "unknown-collection"
    explained = shell.run("ask", QUESTION, "-c", "nowhere", "-x")
    assert explained.code == 1
    assert "failed" in explained.out, "the tree says how far it came"


def test_a_question_nothing_here_answers_is_said_to_be_one(shell: Shell) -> None:
    said = shell.run("ask", "Who won the world cup in 1974?")
    assert said.code == 0
    assert said.out.strip()
    assert "→ no_knowledge" in said.err


def test_text_of_documents_and_questions_cannot_paint_the_terminal(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "evil[red].md").write_text(
        "An evil clew is [bold red]\x1b[31mred\x1b[0m[/] and rings \x07 twice."
    )
    assert shell.run("ingest", tmp_path, "-c", "[evil]").code == 0
    said = shell.run("ask", "What is an evil [red]clew[/] \x1b[31m?", "-c", "[evil]", "-x")
    assert said.code == 0
    assert "\x1b" not in said.out + said.err
    assert "\x07" not in said.out
    assert "[bold red]" in said.out
    assert "evil[red].md" in said.out


def test_asking_ends_with_the_signal_or_with_patience_and_leaves_nothing_behind(alone: Shell) -> None:
    with alone.up(CLEW_SERVICES="trace-store"):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with subprocess.Popen(
                [*INTERRUPTIBLE, "ask", QUESTION],
                env=alone.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as asking:
                time.sleep(1.5)
                asking.send_signal(number)
                try:
                    assert asking.communicate(timeout=20) == (b"", b"")
                finally:
                    asking.kill()
            assert asking.returncode == code
        said = alone.run("ask", QUESTION, "--timeout", "0.3")
    assert said.code == 1
    assert "error timeout: nobody answered in time" in said.err


# --- agent ----------------------------------------------------------------------------------------


def test_the_agent_thinks_aloud_on_standard_error(shell: Shell) -> None:
    said = shell.run("agent", QUESTION)
    assert said.code == 0
    assert said.out.startswith(ANSWER)
    assert said.err.count("thought  ") == 2
    assert said.err.count("observation  ") == 1


def test_the_agent_as_json_is_responses_and_nothing_else(shell: Shell) -> None:
    said = shell.run("agent", QUESTION, "--json")
    assert (said.code, said.err) == (0, "")
    bodies = [AgentResponse.model_validate(line) for line in said.lines]
    assert bodies[-1].end_of_dialog
    assert {"thought", "observation", "answer", "explain"} <= {body.message_type for body in bodies}
    refused = shell.run("agent", " ")
    assert (refused.code, refused.out) == (1, "")
    assert "error bad-request" in refused.err


# --- trace ----------------------------------------------------------------------------------------


def test_what_was_asked_is_listed_and_shown_while_it_runs_and_afterwards(
    alone: Shell, tmp_path: Path
) -> None:
    (tmp_path / "clew.md").write_text("A clew is a ball of thread.")
    session, agent = str(uuid4()), str(uuid4())
    with alone.up() as running:
        alone.run("ingest", tmp_path / "clew.md")
        alone.run("ask", QUESTION, "--session", session)
        alone.run("agent", QUESTION, "--session", agent)
        limit = time.monotonic() + 10
        while len(rows := alone.run("trace", "list", "--json").lines) < 2 and time.monotonic() < limit:
            time.sleep(0.1)
        shown = alone.run("trace", "show", session)
        assert running.stop() == 0
    assert [(row["mechanism"], row["state"]) for row in rows] == [
        ("agent", "answered"),
        ("document-rag", "answered"),
    ]
    assert alone.run("trace", "list", "--json").lines == rows, "the folder tells the same as the ops server"
    assert alone.run("trace", "show", session).out == shown.out
    assert "├── Retrieval: 1 chunk" in shown.out
    assert [row["session_uri"] for row in alone.run("trace", "list", "-n", "1", "--json").lines] == [
        rows[0]["session_uri"]
    ]
    tree = alone.run("trace", "show", agent, "--json").lines[0]
    assert tree["mechanism"] == "agent"
    assert "document-rag" in str(tree["steps"]), "the run of its tool stands in its place"
    assert alone.run("trace", "show", rows[0]["session_uri"]).out == alone.run("trace", "show", agent).out


def test_another_collection_sees_none_of_it(shell: Shell) -> None:
    session = str(uuid4())
    assert shell.run("ask", QUESTION, "--session", session).code == 0
    limit = time.monotonic() + 10
    while shell.run("trace", "show", session).code and time.monotonic() < limit:
        time.sleep(0.1)
    assert shell.run("trace", "show", session).code == 0
    said = shell.run("trace", "show", session, "-c", "other")
    assert (said.code, said.out) == (1, "")
    assert "unknown-run" in said.err
    assert session not in shell.run("trace", "list", "-c", "other").out
    assert shell.run("trace", "list", "-c", "never", "--json").out == ""


@pytest.mark.parametrize("name", ["nope", "../../etc/%2e%2e/?x=#", "\x1b[31m"])
def test_an_unknown_run_is_an_error_that_names_it(shell: Shell, name: str) -> None:
    said = shell.run("trace", "show", name, "--json")
    assert (said.code, said.out) == (1, "")
    assert "error unknown-run" in said.err
    assert "\x1b" not in said.err


def test_a_proxy_of_the_machine_is_not_asked_for_what_is_here(shell: Shell) -> None:
    nowhere = "http://127.0.0.1:9"
    assert shell.run("trace", "list", HTTP_PROXY=nowhere, http_proxy=nowhere, ALL_PROXY=nowhere).code == 0


# --- what else ------------------------------------------------------------------------------------


def test_doctor_finds_everything_well_while_it_runs(shell: Shell, stack: Up) -> None:
    said = shell.run("doctor", "--json")
    assert (said.code, said.err) == (0, "")
    checks = {check["check"]: check for check in said.lines}
    assert {check["state"] for check in checks.values()} == {"ok"}
    assert {"python", "packages", "folder", "broker", "latency", "database", "vectors", "embedder"} <= set(
        checks
    )
    assert f"process {stack.process.pid}" in checks["broker"]["message"]
    assert re.fullmatch(r"one hop takes \d+\.\d ms", checks["latency"]["message"])


def test_nothing_went_wrong_in_all_of_this(stack: Up) -> None:
    """Last of this file: documents that could not be read are errors in the log, and nothing else is printed."""
    said = stack.told.split("ready; stop with Ctrl-C\n", 1)[1]
    assert [line for line in said.splitlines() if "step_buried" not in line] == []
