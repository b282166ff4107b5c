"""``clew ledger check`` and ``compact``: over a ledger that is sound, one with a bad row, a damaged file, none."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path

import pytest

from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.ports import Outgoing, Record
from tests.cli.shell import Shell

DAY = 86_400.0


def fill(shell: Shell, *ages: float, size: int = 2_000) -> Path:
    """A ledger with one row of each age, in seconds."""
    shell.data.mkdir(parents=True, exist_ok=True)

    async def write() -> None:
        ledger = SqlLedger(f"sqlite:///{shell.data}/ledger.sqlite3")
        for number, age in enumerate(ages):
            payload = bytes(number * 7 % 251 for _ in range(size))
            row = Record(
                step="grading.grade" if number % 2 else "agent.think",
                message_id=f"m{number}",
                outputs=(Outgoing(topic="t", payload=payload),),
                recorded_at=time.time() - age,
            )
            await ledger.record(row)
        await ledger.close()

    asyncio.run(write())
    return shell.data / "ledger.sqlite3"


def test_a_sound_ledger_is_described(alone: Shell) -> None:
    fill(alone, 10, 20, 2 * DAY)
    said = alone.run("ledger", "check")
    assert (said.code, said.err) == (0, "")
    assert "3 rows" in said.out
    assert "agent.think" in said.out
    (told,) = alone.run("ledger", "check", "--json").lines
    assert (told["well"], told["integrity"], told["unreadable"]) == (True, "ok", [])
    assert {row["step"]: row["rows"] for row in told["steps"]} == {"agent.think": 2, "grading.grade": 1}


def test_rows_that_cannot_be_read_are_named(alone: Shell) -> None:
    file = fill(alone, *range(700))
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE ledger SET outputs = x'02' WHERE message_id = 'm3'")
        connection.execute("UPDATE ledger SET outputs = x'0100000005' WHERE message_id = 'm600'")
    connection.close()
    said = alone.run("ledger", "check")
    assert said.code == 1
    assert "grading.grade m3: a ledger row has format 02" in said.err
    assert "agent.think m600" in said.err
    (told,) = alone.run("ledger", "check", "--json").lines
    assert (told["well"], told["unreadable_rows"]) == (False, 2)


def test_a_damaged_file_is_no_endless_wait(alone: Shell) -> None:
    file = fill(alone, *range(300))
    data = bytearray(file.read_bytes())
    data[4096 * 5 : 4096 * 12] = b"\xee" * (4096 * 7)
    file.write_bytes(data)
    for name in ("ledger.sqlite3-wal", "ledger.sqlite3-shm"):
        (alone.data / name).unlink(missing_ok=True)
    said = alone.run("ledger", "check", patience=30)
    assert said.code in {1, 2}
    assert "Traceback" not in said.err
    assert any(word in said.err for word in ("damaged", "malformed", "cannot be read"))


def test_what_is_old_goes_and_its_space_comes_back(alone: Shell) -> None:
    file = fill(alone, *[2 * DAY] * 300, 10, 20, size=9_000)
    before = file.stat().st_size
    (told,) = alone.run("ledger", "compact", "--dry-run", "--json").lines
    assert (told["dry_run"], told["rows"], told["bytes_after"]) == (True, 300, told["bytes_before"])
    assert file.stat().st_size == before
    said = alone.run("ledger", "compact")
    assert said.code == 0
    assert "300 rows older than 24 hours went" in said.out
    assert file.stat().st_size < before / 10
    (told,) = alone.run("ledger", "compact", "--older-than", "0", "--json").lines
    assert told["rows"] == 2
    (told,) = alone.run("ledger", "check", "--json").lines
    assert told["steps"] == []


def test_while_services_write_to_it(shell: Shell) -> None:
    said = shell.run("ledger", "compact", "--older-than", "1000")
    assert said.code == 0
    assert shell.run("ask", "What is a clew?").code == 0
    (told,) = shell.run("ledger", "check", "--json").lines
    assert told["well"]


@pytest.mark.parametrize("command", ["check", "compact"])
def test_where_there_is_none(alone: Shell, command: str) -> None:
    said = alone.run("ledger", command)
    assert said.code in {1, 2}
    assert "there is no ledger in" in said.err
    assert not alone.data.exists()
