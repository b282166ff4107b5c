"""Tickets, as memory, SQLite and PostgreSQL keep them: with the record or not at all, closed once, by collection."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.adapters.stores.tickets_sql import PRUNE_ROWS
from clew_services.errors import TicketClosed
from clew_services.ports import Closing, Ledger, Outgoing, Record, Ticket, Tickets

POSTGRES = "CLEW_TEST_POSTGRES_URL"


class Store(Ledger, Tickets, Protocol):
    """A ledger that also keeps tickets."""


def postgres_url() -> str:
    assert os.environ.get(POSTGRES), f"{POSTGRES} is not set; start the servers with `make servers-up`"
    return os.environ[POSTGRES]


@pytest.fixture
def name() -> str:
    """A name that no other test uses, for a PostgreSQL is shared by them all."""
    return str(uuid.uuid4())


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.servers)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    urls = {"sqlite": f"sqlite:///{tmp_path}/ledger.db"}
    kind = str(request.param)
    made: Store = MemoryLedger() if kind == "memory" else SqlLedger(urls.get(kind) or postgres_url())
    yield made
    await made.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.servers)])
def sql_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return postgres_url() if request.param == "postgres" else f"sqlite:///{tmp_path}/ledger.db"


def record(message_id: str, payload: bytes = b"{}", at: float = 1000.0) -> Record:
    output = Outgoing(topic="persistent://t/n/a", payload=payload)
    return Record(step="document-rag.plan", message_id=message_id, outputs=(output,), recorded_at=at)


def ticket(name: str, **changes: Any) -> Ticket:
    made = Ticket(
        ticket_id=name,
        session_id=f"run-{name}",
        collection=f"of {name}",
        question="How long is 线团\x00?",
        prompt="Which one?\n",
        options=("the first", 'the "second"', "第三"),
        route="scope_select",
        status="needs_scope_selection",
        round=2,
        opened_at=1764535728.123456,
        expires_at=1764622128.123456,
        run=b'{"trail":[' + b"1," * 20_000 + b"2]}",
    )
    return replace(made, **changes)


def answers(name: str, answer: str = "the first\x00", by: str = "m-2") -> Closing:
    return Closing(ticket_id=name, state="answered", answer=answer, closed_at=1764535730.5, closed_by=by)


# --- what every store promises --------------------------------------------------------------------


async def test_a_ticket_comes_back_whole(store: Store, name: str) -> None:
    assert await store.ticket(name) is None
    assert await store.record(record(name), opens=ticket(name)) == record(name)
    assert await store.ticket(name) == ticket(name)
    assert await store.lookup("document-rag.plan", name) == record(name)


async def test_an_answer_closes_it_and_is_kept(store: Store, name: str) -> None:
    await store.record(record(name), opens=ticket(name))
    await store.record(record(f"{name}-2"), closes=answers(name))
    assert await store.ticket(name) == ticket(
        name, state="answered", answer="the first\x00", closed_at=1764535730.5, closed_by="m-2"
    )


async def test_one_step_may_close_a_ticket_and_open_the_next(store: Store, name: str) -> None:
    await store.record(record(name), opens=ticket(name))
    await store.record(
        record(f"{name}-2"), closes=answers(name), opens=ticket(f"{name}-next", round=3, collection=name)
    )
    found = await store.ticket(name), await store.ticket(f"{name}-next")
    assert [t and t.state for t in found] == ["answered", "open"]


@pytest.mark.parametrize("state", ["answered", "cancelled"])
async def test_a_second_message_is_told_that_it_is_late_and_leaves_no_record(
    store: Store, name: str, state: Any
) -> None:
    await store.record(record(name), opens=ticket(name))
    await store.record(record(f"{name}-2"), closes=replace(answers(name), state=state))
    before = await store.ticket(name)
    with pytest.raises(TicketClosed, match=f"'{name}' is {state} already"):
        await store.record(
            record(f"{name}-3"), closes=answers(name, "the last", by="m-3"), opens=ticket(f"{name}-next")
        )
    assert await store.ticket(name) == before
    assert await store.ticket(f"{name}-next") is None
    assert await store.lookup("document-rag.plan", f"{name}-3") is None


async def test_a_ticket_that_nobody_opened_cannot_be_closed(store: Store, name: str) -> None:
    with pytest.raises(TicketClosed, match="is gone"):
        await store.record(record(name), closes=answers(name))
    assert await store.lookup("document-rag.plan", name) is None


async def test_the_message_that_closed_it_finds_its_record_again(store: Store, name: str) -> None:
    await store.record(record(name), opens=ticket(name))
    first = await store.record(record(f"{name}-2", b"first"), closes=answers(name))
    again = await store.record(record(f"{name}-2", b"again"), closes=answers(name, "else", by="m-9"))
    assert again == first
    found = await store.ticket(name)
    assert found is not None
    assert (found.answer, found.closed_by) == ("the first\x00", "m-2")


async def test_who_decided_otherwise_first_wins_and_the_ticket_stays_open(store: Store, name: str) -> None:
    await store.record(record(name), opens=ticket(name))
    refused = await store.record(record(f"{name}-2", b"an error"))
    assert await store.record(record(f"{name}-2", b"goes on"), closes=answers(name)) == refused
    found = await store.ticket(name)
    assert found is not None
    assert found.state == "open"


async def test_a_pause_that_is_handled_again_does_not_open_its_ticket_again(store: Store, name: str) -> None:
    await store.record(record(name), opens=ticket(name))
    await store.record(record(f"{name}-2"), closes=answers(name))
    for other in (name, f"{name}-the record was forgotten"):
        await store.record(record(other), opens=ticket(name))
    found = await store.ticket(name)
    assert found is not None
    assert found.state == "answered"


async def test_of_many_answers_at_once_one_is_taken(store: Store, name: str) -> None:
    others = [f"{name}-{n}" for n in range(20)]
    await asyncio.gather(*(store.record(record(n), opens=ticket(n)) for n in [name, *others]))
    got = await asyncio.gather(
        *(store.record(record(f"{name}/{n}"), closes=answers(name, str(n), by=str(n))) for n in range(30)),
        *(store.record(record(f"{n}/a"), closes=answers(n)) for n in others),
        *(store.record(record(f"{n}/plain")) for n in others),
        return_exceptions=True,
    )
    (winner,) = [n for n, result in enumerate(got[:30]) if isinstance(result, Record)]
    assert all(isinstance(r, TicketClosed) for n, r in enumerate(got[:30]) if n != winner)
    assert all(isinstance(r, Record) for r in got[30:])
    found = await store.ticket(name)
    assert found is not None
    assert (found.answer, found.closed_by) == (str(winner), str(winner))


async def test_the_newest_of_a_collection_are_listed_and_nobody_elses(store: Store, name: str) -> None:
    made = [ticket(f"{name}-{n}", collection=name, opened_at=1000.0 + n) for n in range(5)]
    foreign = ticket(f"{name}-foreign", collection=f"{name}'; --", opened_at=2000.0)
    for one in [made[3], made[0], made[4], made[1], foreign, made[2]]:
        await store.record(record(one.ticket_id), opens=one)
    await store.record(record(f"{name}-a"), closes=answers(f"{name}-3"))
    listed = await store.tickets(name)
    assert [t.ticket_id for t in listed] == [f"{name}-{n}" for n in (4, 3, 2, 1, 0)]
    assert listed[0] == replace(made[4], run=b""), "whole but for the message in which it rests"
    assert listed[1].answer == "the first\x00"
    assert [t.ticket_id for t in await store.tickets(name, limit=2, only_open=True)] == [
        f"{name}-4",
        f"{name}-2",
    ]
    assert list(await store.tickets(foreign.collection)) == [replace(foreign, run=b"")]
    assert not await store.tickets(f"{name}%")


async def test_prune_forgets_tickets_by_their_expiry_never_one_that_can_be_answered(
    store: Store, name: str
) -> None:
    # Dates before any other test's, so that a shared database keeps theirs.
    await store.prune(21.0)
    many = [ticket(f"{name}-{n}", opened_at=1.0, expires_at=10.0 + n / 1e6) for n in range(PRUNE_ROWS + 3)]
    await asyncio.gather(*(store.record(record(t.ticket_id, at=30.0), opens=t) for t in many))
    kept = ticket(name, opened_at=1.0, expires_at=20.0)
    await store.record(record(name, at=5.0), opens=kept)
    await store.record(record(f"{name}-closed", at=30.0), opens=ticket(f"{name}-c", expires_at=12.0))
    await store.record(record(f"{name}-closes", at=30.0), closes=answers(f"{name}-c"))
    assert await store.prune(20.0) == 1, "records are counted"
    assert await store.lookup("document-rag.plan", name) is None
    assert await store.ticket(name) == kept, "older than its record, and still to be answered"
    for gone in (many[0], many[-1], ticket(f"{name}-c")):
        assert await store.ticket(gone.ticket_id) is None
    await store.prune(21.0)
    assert await store.ticket(name) is None


# --- what the databases promise beyond that -------------------------------------------------------


async def test_tickets_outlive_the_ledger(sql_url: str, name: str) -> None:
    first = SqlLedger(sql_url)
    await first.record(record(name), opens=ticket(name))
    await first.close()
    second = SqlLedger(sql_url)
    assert await second.ticket(name) == ticket(name)
    await second.record(record(f"{name}-2"), closes=answers(name))
    await second.close()
    third = SqlLedger(sql_url)
    with pytest.raises(TicketClosed):
        await third.record(record(f"{name}-3"), closes=answers(name))
    await third.close()


async def test_an_operator_finds_tickets_by_the_beginning_of_their_id(sql_url: str, name: str) -> None:
    ledger = SqlLedger(sql_url)
    for end in ("a", "b", "%"):
        await ledger.record(record(f"{name}{end}"), opens=ticket(f"{name}{end}", collection=end))
    for beginning, ends in ((f"{name}a", ["a"]), (f"{name}%", ["%"]), (f"{name}_", [])):
        assert [t.collection for t in await ledger.tickets_named(beginning)] == ends
    assert len(await ledger.tickets_named(name)) == 2, "enough to know that it is not unique"
    assert len(await ledger.tickets_named(name, limit=9)) == 3
    await ledger.close()


async def test_two_ledgers_race_and_agree_who_answered(sql_url: str, name: str) -> None:
    left, right = SqlLedger(sql_url), SqlLedger(sql_url)
    await asyncio.gather(left.open(), right.open())
    names = [f"{name}-{n}" for n in range(100)]
    await asyncio.gather(*(left.record(record(n), opens=ticket(n, run=b"{}")) for n in names))

    async def answer(ledger: SqlLedger, who: str, order: list[str]) -> set[str]:
        got = await asyncio.gather(
            *(ledger.record(record(f"{n}/{who}"), closes=answers(n, who, by=who)) for n in order),
            return_exceptions=True,
        )
        assert all(isinstance(result, Record | TicketClosed) for result in got)
        return {n for n, result in zip(order, got, strict=True) if isinstance(result, Record)}

    won = dict(
        zip(
            ("left", "right"),
            await asyncio.gather(answer(left, "left", names), answer(right, "right", names[::-1])),
            strict=True,
        )
    )
    assert not won["left"] & won["right"]
    assert won["left"] | won["right"] == set(names)
    for who, of in won.items():
        found = await asyncio.gather(*(left.ticket(n) for n in of))
        assert {t.closed_by for t in found if t} <= {who}
    await asyncio.gather(left.close(), right.close())


ANSWERER = """
import asyncio, sys
from clew_services.adapters.stores.ledger_sql import SqlLedger
from clew_services.errors import TicketClosed
from clew_services.ports import Closing, Outgoing, Record, Ticket

async def main(url, prefix, who):
    ledger = SqlLedger(url)
    await ledger.open()
    print("ready", flush=True)
    sys.stdin.readline()

    async def one(n):
        record = Record(step="s", message_id=f"{prefix}{n}/{who}", outputs=(Outgoing(topic="a", payload=b"x"),), recorded_at=1000.0)
        try:
            closes = Closing(ticket_id=f"{prefix}{n}", state="answered", answer=who, closed_at=1.0, closed_by=who)
            await ledger.record(record, closes=closes)
        except TicketClosed:
            print(n, "late", flush=True)
        else:
            print(n, "won", flush=True)

    for start in range(0, int(sys.argv[4]), 10):
        await asyncio.gather(*(one(n) for n in range(start, start + 10)))
    await ledger.close()

asyncio.run(main(*sys.argv[1:4]))
"""


def start_answerer(url: str, prefix: str, who: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ANSWERER, url, prefix, who, str(count)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    started = subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment)
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


async def test_two_processes_answer_at_the_same_time(sql_url: str, name: str) -> None:
    ledger = SqlLedger(sql_url)
    await asyncio.gather(
        *(ledger.record(record(f"{name}{n}"), opens=ticket(f"{name}{n}", run=b"{}")) for n in range(200))
    )
    answerers = [start_answerer(sql_url, name, who, 200) for who in "ab"]
    for process in answerers:
        go(process)
    said = [dict(line.split() for line in p.communicate()[0].splitlines()) for p in answerers]
    assert [p.returncode for p in answerers] == [0, 0]
    for n in range(200):
        assert {said[0][str(n)], said[1][str(n)]} == {"won", "late"}
        found = await ledger.ticket(f"{name}{n}")
        assert found is not None
        assert found.answer == ("a" if said[0][str(n)] == "won" else "b")
    await ledger.close()


async def test_kill_9_leaves_no_ticket_closed_without_its_record(sql_url: str, name: str) -> None:
    ledger = SqlLedger(sql_url)
    names = [f"{name}{n}" for n in range(2000)]
    await asyncio.gather(*(ledger.record(record(n), opens=ticket(n, run=b"{}")) for n in names))
    with start_answerer(sql_url, name, "a", len(names)) as process:
        assert process.stdout is not None
        go(process)
        said = [process.stdout.readline().split() for _ in range(37)]
        process.send_signal(signal.SIGKILL)
    assert {word for _, word in said} == {"won"}
    states = [t.state for n in names if (t := await ledger.ticket(n))]
    records = [await ledger.lookup("s", f"{n}/a") is not None for n in names]
    assert [state == "answered" for state in states] == records
    assert 37 <= sum(records) < len(names)
    await ledger.close()


async def test_a_ledger_of_yesterday_gets_its_tickets(tmp_path: Path, name: str) -> None:
    path = tmp_path / "ledger.db"
    ledger = SqlLedger(f"sqlite:///{path}")
    await ledger.record(record(name))
    await ledger.close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE tickets")
        assert database.execute("SELECT name, version FROM schema_version").fetchall() == [("ledger", 1)]
    again = SqlLedger(f"sqlite:///{path}")
    assert await again.lookup("document-rag.plan", name) == record(name)
    await again.record(record(f"{name}-2"), opens=ticket(name))
    assert await again.ticket(name) == ticket(name)
    await again.close()
