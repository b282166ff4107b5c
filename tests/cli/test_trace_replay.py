"""``clew trace replay`` and ``clew trace watch`` against services that run."""

from __future__ import annotations

import json
import subprocess
import time

from tests.cli.shell import CLEW, Shell

QUESTION = "What is a clew?"


def asked(shell: Shell, *options: str) -> str:
    """The session of a question whose trace is stored."""
    said = shell.run("ask", QUESTION, "--json", *options)
    assert said.code == 0, said.err
    session: str = said.lines[-1]["session_id"]
    for _ in range(100):
        if shell.run("trace", "show", session, "--json").code == 0:
            tree = shell.run("trace", "show", session, "--json").lines[0]
            if tree["state"] == "answered":
                return session
        time.sleep(0.1)
    raise AssertionError("the run was not stored")


def test_from_the_recording_it_comes_out_the_same(shell: Shell) -> None:
    session = asked(shell)
    said = shell.run("trace", "replay", session)
    assert (said.code, said.out, said.err) == (0, "it comes out the same\n", "")
    assert shell.run("trace", "replay", session, "--json").out == ""


def test_live_it_is_asked_again_under_a_session_of_its_own(shell: Shell) -> None:
    session = asked(shell)
    said = shell.run("trace", "replay", session, "--live")
    assert said.code == 0, said.out + said.err
    assert said.out == "it comes out the same\n"
    new = said.err.removeprefix("the new run is ").strip()
    assert new != session
    assert shell.run("trace", "diff", session, new).out == "the runs say the same\n"


def test_an_agents_run_is_run_again_with_that_of_its_tool(shell: Shell) -> None:
    said = shell.run("agent", QUESTION, "--json")
    session = said.lines[-1]["session_id"]
    for _ in range(100):
        if shell.run("trace", "why", session, "--json").code == 0:
            break
        time.sleep(0.1)
    again = shell.run("trace", "replay", session)
    assert (again.code, again.out) == (0, "it comes out the same\n"), again.err


def test_a_run_that_there_is_not(shell: Shell) -> None:
    said = shell.run("trace", "replay", "nobody")
    assert (said.code, said.out) == (2, "")
    assert "unknown-run" in said.err


def test_live_without_services_says_what_to_start(alone: Shell) -> None:
    said = alone.run("trace", "replay", "x", "--live")
    assert said.code == 2
    assert "clew up" in said.err


def test_steps_are_shown_while_they_are_told(shell: Shell) -> None:
    watching = subprocess.Popen(
        [CLEW, "trace", "watch", "--json", "--count", "3"],
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert watching.stderr is not None
        assert "watching" in watching.stderr.readline()
        session = asked(shell)
        out, _ = watching.communicate(timeout=30)
    finally:
        watching.kill()
    told = [json.loads(line) for line in out.splitlines()]
    assert watching.returncode == 0
    assert {one["run"] for one in told} == {f"urn:trustgraph:docrag:{session}"}
    kinds = [fact["kind"] for one in told for fact in one["facts"]]
    assert (kinds[0], kinds[-1]) == ("question_asked", "answer_written")
