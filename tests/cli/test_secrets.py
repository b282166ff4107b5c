"""Secrets of the settings, and everything a run writes: none of it holds one, however things end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from pydantic import SecretStr, ValidationError

from clew_services.errors import StoreFailed, told
from clew_services.redaction import HIDDEN, SECRETS, Secrets, secrets_of, without_secrets
from clew_services.setting_checks import ADDRESSES
from clew_services.settings import Settings
from tests.cli.conftest import CLEW
from tests.cli.shell import Shell
from tests.modelserver import Fault, ModelServer, served

HEADERS = "otlp_headers"
URLS = {
    "database_url": "postgresql+psycopg://asker:{}@127.0.0.1:{}/clew",
    "milvus_uri": "http://asker:{}@127.0.0.1:{}",
}
"""How an address holds a password; the others are HTTP addresses."""


def canary(name: str) -> str:
    """Another one each time, with what addresses and JSON write in another way."""
    return f'canary-{name}-{os.urandom(6).hex()}/"%'


def planted(name: str, secret: str, port: int = 1) -> str:
    """The value of a setting that holds ``secret``."""
    if Settings.model_fields[name].annotation is SecretStr:
        return f"authorization={secret}" if name == HEADERS else secret
    return URLS.get(name, "http://asker:{}@127.0.0.1:{}").format(quote(secret, safe=""), port)


SECRET_SETTINGS = sorted({*Settings.secret_fields(), *ADDRESSES, "milvus_uri"} - {"pulsar_url"})
"""Found, not listed: a setting that is new is looked at as well. An address without a password is none of them."""


@pytest.mark.parametrize("name", SECRET_SETTINGS)
def test_whoever_has_settings_hides_what_they_hold(name: str) -> None:
    secret = canary(name)
    other = {"trace_sparql_query": "trace_sparql_update", "trace_sparql_update": "trace_sparql_query"}
    values = {name: planted(name, secret)} | ({other[name]: "http://h"} if name in other else {})
    made = Settings.model_validate(values)
    assert secret in {each for each in secrets_of(made.__dict__) if each}
    for text in (repr(made), str(made), f"{made}"):
        assert secret not in text
        assert planted(name, secret) not in text
    spelled = (secret, planted(name, secret))
    for text in spelled:
        assert (
            "canary"
            not in told(StoreFailed(f"cannot reach {text} now")).message.partition("authorization")[0]
        )
        assert secret not in SECRETS.hide(text)


def test_every_setting_that_looks_like_a_secret_is_one() -> None:
    """A name that says secret and a type that does not is a mistake of whoever adds it."""
    telling = ("token", "password", "secret", "_key", "headers")
    for name, field in Settings.model_fields.items():
        if name.endswith(telling):
            assert field.annotation is SecretStr, name


def test_a_setting_that_is_wrong_is_refused_without_its_secret() -> None:
    secret = canary("wrong")
    with pytest.raises(ValidationError) as wrong:
        Settings.model_validate({HEADERS: SecretStr(secret)})
    assert secret not in str(wrong.value)
    with pytest.raises(ValidationError, match="CLEW_PULSAR_TOKEN") as wrong:
        Settings.model_validate({"pulsar_url": f"pulsar://asker:{quote(secret, safe='')}@127.0.0.1:1"})
    assert "canary" not in str(wrong.value)


def test_the_longest_is_hidden_first_and_what_is_too_short_is_left() -> None:
    some = Secrets()
    some.learn(["abcd", "abcdefgh", "x", ""])
    assert some.hide("abcdefgh abcd x") == f"{HIDDEN} {HIDDEN} x"
    assert without_secrets("postgresql://u:p%40ss@h/db?sslpassword=other1&a=b") == (
        f"postgresql://u:{HIDDEN}@h/db?sslpassword={HIDDEN}&a=b"
    )
    assert without_secrets("http://[broken") == "http://[broken"


# --- a run, and all that it wrote -----------------------------------------------------------------


def written(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file of a run: stores, the broker's, logs."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield file, file.read_bytes()


def commands_over(folder: Path) -> bytes:
    """The command lines of everything that runs over ``folder``: anybody on the machine may read them."""
    told = b""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (place / "environ").read_bytes():
                told += (place / "cmdline").read_bytes()
        except OSError:
            continue
    return told


def assert_nowhere(secrets: dict[str, str], where: str, text: bytes) -> None:
    """No secret is in ``text``, however it is spelled: the first part is the same in all ways."""
    for name, secret in secrets.items():
        found = text.find(secret.split("/")[0].encode())
        assert found < 0, f"{name} in {where}: {text[max(0, found - 200) : found + 100]!r}"


async def test_a_run_with_every_secret_set_writes_none_of_them(tmp_path: Path) -> None:
    """Models that refuse, a tracing backend that is down, an answer, a dead letter, a crash: searched byte by byte."""
    server = ModelServer([Fault(status=401, body=b'{"error": {"message": "bad key"}}')] * 40)
    secrets = {name: canary(name) for name in Settings.secret_fields()}
    env = {f"CLEW_{name.upper()}": planted(name, secret) for name, secret in secrets.items()}
    async with served(server) as url:
        env |= {"CLEW_CHAT_URL": url, "CLEW_CHAT_MODEL": "m"}
        env |= {"CLEW_OTLP_ENDPOINT": "http://127.0.0.1:1", "CLEW_LOG_LEVEL": "debug"}
        said = await asyncio.to_thread(_whole_run, tmp_path, env, secrets)
    keys = {headers.get("authorization", "") for headers in server.headers}
    assert any(secrets["model_key"] in key for key in keys), "the key was in use, or this shows nothing"
    for where, text in said:
        assert_nowhere(secrets, where, text)
    assert any(b"model-refused" in text for _, text in said), "something failed because of a secret"


def _whole_run(folder: Path, env: dict[str, str], secrets: dict[str, str]) -> list[tuple[str, bytes]]:
    shell = Shell(folder / "data", env)
    (folder / "docs").mkdir()
    (folder / "docs" / "clew.md").write_text(CLEW)
    said: list[tuple[str, bytes]] = []

    def run(*arguments: object) -> None:
        done = shell.run(*arguments)
        said.append((" ".join(map(str, arguments)), (done.out + done.err).encode()))

    with shell.up() as running:
        run("ingest", folder / "docs")
        run("ask", "What is a clew?", "--json")
        run("agent", "What is a clew?")
        run("dead", "list", "--json")
        run("trace", "list", "--json")
        run("trace", "list")
        run("doctor")
        ops = running.run_file["ops"]
        for path in ("/livez", "/readyz", "/metrics"):
            said.append((path, _answer(ops + path)))
        said.append(("command lines", commands_over(shell.data)))
        running.process.send_signal(signal.SIGABRT)  # a crash, with whatever Python tells of it
        running.process.wait(20)
    said += [(str(file), text) for file, text in written(folder)]
    assert secrets
    return said


def _answer(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        return error.read()


@pytest.mark.parametrize("name", ["database_url", "milvus_uri", "trace_sparql_query", "chat_url"])
def test_a_server_that_is_not_there_is_named_without_the_password(name: str, alone: Shell) -> None:
    secret = canary(name)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]  # taken, and nobody listens
        env = {f"CLEW_{name.upper()}": planted(name, secret, port)}
        if name == "trace_sparql_query":
            env["CLEW_TRACE_SPARQL_UPDATE"] = planted("trace_sparql_update", secret, port)
        said = [
            Shell(alone.data, env).run(*command)
            for command in (
                ("doctor",),
                ("trace", "list"),
                ("documents", "list"),
                ("ask", "x", "--timeout", "1"),
            )
        ]
        with alone.started(**env) as running, suppress(subprocess.TimeoutExpired):
            running.process.wait(8)  # or it goes on, and tries again
    assert any(each.code for each in said)
    for each in said:
        assert_nowhere({name: secret}, name, (each.out + each.err).encode())
    for file, text in written(alone.data.parent):
        assert_nowhere({name: secret}, str(file), text)


def test_an_exception_that_nobody_catches_is_printed_without_secrets(alone: Shell) -> None:
    secret = canary("crash")
    script = (
        "import threading; from clew_services.redaction import guard_tracebacks; "
        "from clew_services.settings import Settings; s = Settings(); guard_tracebacks(); "
        "t = threading.Thread(target=lambda: 1 / int(s.model_key.get_secret_value())); t.start(); t.join(); "
        "raise RuntimeError(s.model_key.get_secret_value())"
    )
    said = alone.sh(f"{sys.executable} -c '{script}'", CLEW_MODEL_KEY=secret)
    assert said.code == 1
    assert said.err.count(HIDDEN) >= 2
    assert_nowhere({"key": secret}, "traceback", said.err.encode())
