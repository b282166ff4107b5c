"""``clew brake``: over a process that runs, over one that does not, as JSON."""

from __future__ import annotations

from tests.cli.shell import Shell


def test_brakes_are_listed_and_none_is_on(shell: Shell) -> None:
    said = shell.run("brake", "list")
    assert said.code == 0
    assert any(line.split() == ["grading.grade", "off"] for line in said.out.splitlines())
    rows = shell.run("brake", "list", "--json").lines
    assert {row["brake"] for row in rows} == {False}
    said = shell.run("brake", "release", "grading.grade", "--json")
    assert (said.code, said.lines) == (0, [{"released": []}])
    assert "no brake was on" in shell.run("brake", "release").err


def test_what_cannot_be_done_is_said(shell: Shell, alone: Shell) -> None:
    said = shell.run("brake", "release", "no.such")
    assert (said.code, said.out) == (1, "")
    assert said.err == "error bad-request: there is no step 'no.such' here\n"
    said = alone.run("brake", "list")
    assert said.code == 1
    assert "nothing runs over" in said.err
    said = alone.run("brake", "list", "--ops", "http://127.0.0.1:1")
    assert said.code == 1
    assert "no answer from http://127.0.0.1:1" in said.err
