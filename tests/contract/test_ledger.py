"""The ledger port: what memory, SQLite and PostgreSQL all promise, and what the databases promise beyond that."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st

from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.ledger_sql import METADATA, SqlLedger, decode_outputs, encode_outputs
from clew_services.adapters.stores.sql import Batch, SqlStore
from clew_services.errors import StoreFailed, StoreIncompatible
from clew_services.ports import Ledger, Outgoing, Record

POSTGRES = "CLEW_TEST_POSTGRES_URL"


def postgres_url() -> str:
    assert os.environ.get(POSTGRES), f"{POSTGRES} is not set; start the servers with `make servers-up`"
    return os.environ[POSTGRES]


def record(message_id: str, *, step: str = "grade", payload: bytes = b"{}", at: float = 1000.0) -> Record:
    output = Outgoing(
        topic="persistent://t/n/a", payload=payload, key="run", properties={"id": "1"}, deliver_at=7
    )
    return Record(step=step, message_id=message_id, outputs=(output,), recorded_at=at)


@pytest.fixture
def message_id() -> str:
    """An id that no other test uses, for a PostgreSQL is shared by them all."""
    return str(uuid.uuid4())


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.servers)])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, tmp_path: Path) -> str:
    return postgres_url() if kind == "postgres" else f"sqlite:///{tmp_path}/new folder/ledger.db"


@pytest.fixture
async def ledger(kind: str, url: str) -> AsyncIterator[Ledger]:
    made: Ledger = MemoryLedger() if kind == "memory" else SqlLedger(url)
    yield made
    await made.close()


# --- what every ledger promises -------------------------------------------------------------------


async def test_an_unknown_message_has_no_record(ledger: Ledger, message_id: str) -> None:
    assert await ledger.lookup("grade", message_id) is None


async def test_a_record_comes_back_whole(ledger: Ledger, message_id: str) -> None:
    outputs = (
        Outgoing(
            topic="a", payload=b"\x00\xff" * 9000, key="k", properties={"ü": "值", "": ""}, deliver_at=2**53
        ),
        Outgoing(topic="b", payload=b""),
    )
    written = Record(step="plan", message_id=message_id, outputs=outputs, recorded_at=1764535728.123456)
    assert await ledger.record(written) == written
    assert await ledger.lookup("plan", message_id) == written


async def test_a_record_without_outputs_is_a_record(ledger: Ledger, message_id: str) -> None:
    written = Record(step="plan", message_id=message_id, outputs=(), recorded_at=1000.0)
    await ledger.record(written)
    assert await ledger.lookup("plan", message_id) == written


async def test_the_first_writer_wins(ledger: Ledger, message_id: str) -> None:
    first, second = record(message_id, payload=b"1"), record(message_id, payload=b"2")
    assert await ledger.record(first) == first
    assert await ledger.record(second) == first
    assert await ledger.lookup("grade", message_id) == first


async def test_steps_do_not_share_a_message(ledger: Ledger, message_id: str) -> None:
    await ledger.record(record(message_id, step="a", payload=b"a"))
    await ledger.record(record(message_id, step="b", payload=b"b"))
    found = await ledger.lookup("b", message_id)
    assert found is not None
    assert found.outputs[0].payload == b"b"


async def test_of_many_writers_at_once_exactly_one_wins(ledger: Ledger, message_id: str) -> None:
    written = [record(message_id, payload=str(n).encode()) for n in range(40)]
    others = [record(f"{message_id}-{n}") for n in range(40)]
    got = await asyncio.gather(*(ledger.record(r) for r in [*written, *others]))
    assert len({r.outputs[0].payload for r in got[:40]}) == 1
    assert got[0] in written
    assert got[40:] == others


async def test_prune_forgets_what_is_older_and_nothing_else(ledger: Ledger, message_id: str) -> None:
    # Dates before any other test's, so that a shared database keeps theirs.
    await ledger.prune(21.0)
    await asyncio.gather(*(ledger.record(record(f"{message_id}-{n}", at=10.0)) for n in range(1203)))
    kept = await ledger.record(record(message_id, at=20.0))
    assert await ledger.prune(20.0) == 1203
    assert await ledger.lookup("grade", f"{message_id}-0") is None
    assert await ledger.lookup("grade", message_id) == kept
    assert await ledger.prune(21.0) == 1


async def test_a_closed_ledger_says_so_and_closes_twice(ledger: Ledger, message_id: str) -> None:
    await ledger.record(record(message_id))
    await asyncio.gather(ledger.close(), ledger.close())
    with pytest.raises(StoreFailed, match="closed"):
        await ledger.lookup("grade", message_id)
    await ledger.close()


async def test_a_cancelled_caller_disturbs_nobody(ledger: Ledger, message_id: str) -> None:
    tasks = [asyncio.ensure_future(ledger.record(record(f"{message_id}-{n}"))) for n in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(done[n], Record) for n in range(1, 20, 2))


# --- what the databases promise beyond that -------------------------------------------------------


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.servers)])
def sql_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return postgres_url() if request.param == "postgres" else f"sqlite:///{tmp_path}/ledger.db"


async def test_records_outlive_the_ledger(sql_url: str, message_id: str) -> None:
    first = SqlLedger(sql_url)
    written = [record(f"{message_id}-{n}") for n in range(50)]
    await asyncio.gather(*map(first.record, written))
    await first.close()
    second = SqlLedger(sql_url)
    assert await asyncio.gather(*(second.lookup("grade", r.message_id) for r in written)) == written
    await second.close()


async def test_what_waits_is_committed_before_closing(sql_url: str, message_id: str) -> None:
    first = SqlLedger(sql_url)
    waiting = [asyncio.ensure_future(first.record(record(f"{message_id}-{n}"))) for n in range(700)]
    await asyncio.sleep(0)
    await first.close()
    assert all(task.done() for task in waiting)
    second = SqlLedger(sql_url)
    assert await second.lookup("grade", f"{message_id}-699") == record(f"{message_id}-699")
    await second.close()


async def test_two_ledgers_race_and_agree_on_every_winner(sql_url: str, message_id: str) -> None:
    left, right = SqlLedger(sql_url), SqlLedger(sql_url)
    await asyncio.gather(left.open(), right.open())
    keys = [f"{message_id}-{n}" for n in range(300)]

    async def write(ledger: SqlLedger, name: bytes, seed: int) -> dict[str, bytes]:
        order = random.Random(seed).sample(keys, len(keys))
        got = await asyncio.gather(*(ledger.record(record(key, payload=name)) for key in order))
        return {r.message_id: r.outputs[0].payload for r in got}

    rounds = await asyncio.gather(write(left, b"left", 1), write(right, b"right", 2))
    assert rounds[0] == rounds[1]
    await asyncio.gather(left.close(), right.close())


WRITER = """
import asyncio, sys
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.ports import Outgoing, Record

async def main(url, prefix, name):
    ledger = SqlLedger(url)
    await ledger.open()
    print("ready", flush=True)
    sys.stdin.readline()

    async def one(n):
        output = Outgoing(topic="a", payload=name.encode() * 500)
        got = await ledger.record(Record(step="s", message_id=f"{prefix}{n}", outputs=(output,), recorded_at=1000.0))
        print(n, got.outputs[0].payload[:1].decode(), flush=True)

    for start in range(0, int(sys.argv[4]), 20):
        await asyncio.gather(*(one(n) for n in range(start, start + 20)))
    await ledger.close()

asyncio.run(main(*sys.argv[1:4]))
"""


def start_writer(url: str, prefix: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, url, prefix, name, str(count)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    writer = subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


async def test_two_processes_race_and_agree_on_every_winner(sql_url: str, message_id: str) -> None:
    writers = [start_writer(sql_url, message_id, name, 400) for name in "ab"]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    said = [dict(line.split() for line in w.communicate()[0].splitlines()) for w in writers]
    assert [w.returncode for w in writers] == [0, 0]
    assert len(said[0]) == 400
    assert said[0] == said[1]


@pytest.mark.parametrize("after", [1, 77, 500])
async def test_kill_9_loses_no_acknowledged_record(sql_url: str, message_id: str, after: int) -> None:
    with start_writer(sql_url, message_id, "a", 100_000) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
        said = [writer.stdout.readline().split()[0] for _ in range(after)]
        writer.send_signal(signal.SIGKILL)
    ledger = SqlLedger(sql_url)
    found = await asyncio.gather(*(ledger.lookup("s", f"{message_id}{n}") for n in said))
    assert all(r is not None and r.outputs[0].payload == b"a" * 500 for r in found)
    assert await ledger.record(record(f"{message_id}-after")) == record(f"{message_id}-after")
    await ledger.close()


async def test_a_poison_row_fails_alone(sql_url: str, message_id: str) -> None:
    ledger = SqlLedger(sql_url)
    good = [record(f"{message_id}-{n}") for n in range(10)]
    poison = record("\ud800")  # half a character: no database has a place for it
    got = await asyncio.gather(*map(ledger.record, [*good[:5], poison, *good[5:]]), return_exceptions=True)
    assert isinstance(got[5], StoreFailed)
    assert [*got[:5], *got[6:]] == good
    assert await ledger.lookup("grade", good[9].message_id) == good[9]
    await ledger.close()


async def test_an_operation_that_is_at_fault_tells_every_caller(tmp_path: Path) -> None:
    def broken(_: sa.Connection, items: object) -> list[int]:
        raise AssertionError(items)

    store = SqlStore(f"sqlite:///{tmp_path}/x.db", sa.MetaData(), name="x")
    with pytest.raises(AssertionError):
        await store.submit(Batch(broken), 1)
    assert await store.call(lambda c: c.execute(sa.text("select 1")).scalar()) == 1
    await store.close()


async def test_everything_that_waits_shares_one_transaction(tmp_path: Path) -> None:
    sizes: list[int] = []

    def count(_: sa.Connection, items: Sequence[int]) -> Sequence[int]:
        sizes.append(len(items))
        return items

    store = SqlStore(f"sqlite:///{tmp_path}/x.db", sa.MetaData(), name="x")
    batch: Batch[int, int] = Batch(count)
    assert await asyncio.gather(*(store.submit(batch, n) for n in range(100))) == list(range(100))
    assert sizes == [100]
    await store.close()


async def test_a_newer_schema_is_refused_and_left_alone(sql_url: str) -> None:
    name = f"ledger-{uuid.uuid4()}"
    newer = SqlStore(sql_url, METADATA, name=name, version=3)
    await newer.open()
    await newer.close()
    ours = SqlStore(sql_url, METADATA, name=name, version=2)
    with pytest.raises(StoreIncompatible, match=r"version 3.*only 2.*upgrade"):
        await ours.open()
    await ours.close()


async def test_a_lock_that_is_held_too_long_is_a_store_that_failed(tmp_path: Path) -> None:
    ledger = SqlLedger(f"sqlite:///{tmp_path}/ledger.db?timeout=0.05")
    await ledger.open()
    other = sa.create_engine(f"sqlite:///{tmp_path}/ledger.db")
    with other.connect() as holder:
        holder.exec_driver_sql("BEGIN IMMEDIATE")
        holder.exec_driver_sql("DELETE FROM ledger")
        assert await ledger.lookup("grade", "1") is None, "readers do not wait for writers"
        with pytest.raises(StoreFailed, match="locked"):
            await ledger.record(record("1"))
        holder.rollback()
    other.dispose()
    assert await ledger.record(record("1")) == record("1")
    await ledger.close()


@pytest.mark.servers
async def test_a_lost_connection_is_replaced_without_anybody_noticing(message_id: str) -> None:
    ledger = SqlLedger(postgres_url())
    backend = await ledger._store.call(lambda c: c.execute(sa.text("select pg_backend_pid()")).scalar())
    killer = SqlStore(postgres_url(), sa.MetaData(), name="killer")
    await killer.call(lambda c: c.execute(sa.text("select pg_terminate_backend(:pid)"), {"pid": backend}))
    await killer.close()
    got = await asyncio.gather(*(ledger.record(record(f"{message_id}-{n}")) for n in range(20)))
    assert got == [record(f"{message_id}-{n}") for n in range(20)]
    await ledger.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ledger.db", "not a database URL"),
        ("mysql://localhost/x", "sqlite:///PATH or postgresql"),
        ("nonsense://x", "database"),
    ],
)
def test_a_bad_url_is_refused_at_once(url: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        SqlLedger(url)


async def test_a_database_that_does_not_answer_is_a_store_that_failed() -> None:
    ledger = SqlLedger("postgresql://nobody:secret@127.0.0.1:1/none")
    with pytest.raises(StoreFailed, match=r"127\.0\.0\.1") as caught:
        await ledger.lookup("a", "b")
    assert "secret" not in str(caught.value)
    await ledger.close()


# --- the encoding ---------------------------------------------------------------------------------

outgoings = st.builds(
    Outgoing,
    topic=st.text(),
    payload=st.binary(),
    key=st.text(),
    properties=st.dictionaries(st.text(), st.text(), max_size=4),
    deliver_at=st.integers(0, 2**63),
)


@given(st.lists(outgoings, max_size=5))
def test_outputs_survive_their_encoding(outputs: list[Outgoing]) -> None:
    assert decode_outputs(encode_outputs(outputs)) == tuple(outputs)


def test_the_encoding_is_what_its_description_says() -> None:
    data = encode_outputs([Outgoing(topic="a", payload=b"xy", key="k", properties={"p": "é"}, deliver_at=5)])
    header = b'[["a","k",5,{"p":"\\u00e9"},2,false]]'
    assert data == b"\x01" + len(header).to_bytes(4, "big") + header + b"xy"


@pytest.mark.parametrize("data", [b"", b"\x02\x00"])
def test_another_format_is_refused(data: bytes) -> None:
    with pytest.raises(StoreIncompatible, match="format"):
        decode_outputs(data)


def test_large_payloads_are_packed_and_come_back_as_they_were() -> None:
    payload = b'{"type":"i","iri":"urn:x"}' * 4000
    data = encode_outputs([Outgoing(topic="a", payload=payload), Outgoing(topic="b", payload=b"small")])
    assert len(data) < len(payload) / 20
    assert [o.payload for o in decode_outputs(data)] == [payload, b"small"]


async def test_a_lookup_reads_what_it_looks_for_and_not_the_table(tmp_path: Path) -> None:
    """SQLite 3.40 scans the table for a list of pairs: with 20,000 records a batch of lookups took milliseconds."""
    path = tmp_path / "ledger.sqlite3"
    ledger = SqlLedger(f"sqlite:///{path}")
    await ledger.open()
    statements: list[tuple[str, Any]] = []
    sa.event.listen(
        ledger._store._engine,
        "before_cursor_execute",
        lambda _c, _cursor, statement, parameters, _context, _many: statements.append(
            (statement, parameters)
        ),
    )
    await asyncio.gather(*(ledger.lookup(step, f"m{n}") for n in range(4) for step in ("a", "b")))
    await ledger.prune(5.0)
    await ledger.close()
    plans = []
    with closing(sqlite3.connect(path)) as connection:
        for statement, parameters in statements:
            if "ledger" in statement and statement.startswith(("SELECT", "DELETE")):
                plans += [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    assert len(plans) >= 4
    assert not [plan for plan in plans if plan.startswith("SCAN ledger")], plans
