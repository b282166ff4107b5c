"""The ledger in SQL: one row per handled message, written once.

The ``outputs`` column is one value of bytes (format 1)::

    0x01 | header length, 4 bytes big-endian | header, JSON in ASCII | the payloads, one after the other

The header is a list with one ``[topic, key, deliver_at, properties, length, packed]`` per output; ``length``
counts the bytes that are kept. A payload from 16 KiB on is packed with zlib at its fastest: those are batches of
triples, which shrink to a twentieth (79 KB to 3 in 0.065 ms); smaller ones are written faster as they are.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from clew_services.adapters.stores import tickets_sql
from clew_services.adapters.stores.sql import Batch, SqlStore
from clew_services.errors import StoreIncompatible
from clew_services.ports import Closing, Outgoing, Record, Ticket

FORMAT = 1
PACKED_FROM = 16 * 1024
PRUNE_ROWS = 500
"""Rows that one transaction forgets, so that nobody waits long behind it."""

_Key = tuple[str, str]

METADATA = sa.MetaData()
LEDGER = sa.Table(
    "ledger",
    METADATA,
    sa.Column("step", sa.Text, primary_key=True),
    sa.Column("message_id", sa.Text, primary_key=True),
    sa.Column("outputs", sa.LargeBinary, nullable=False),
    sa.Column("recorded_at", sa.Double, nullable=False, index=True),
)
tickets_sql.TICKETS.to_metadata(METADATA)

# One step at a time: SQLite 3.40 answers a list of (step, message id) pairs by reading the whole table.
_SELECT = sa.select(LEDGER).where(
    LEDGER.c.step == sa.bindparam("step"), LEDGER.c.message_id.in_(sa.bindparam("ids", expanding=True))
)
# The time up to which one transaction forgets: that of the PRUNE_ROWS-th oldest row.
_CUT = (
    sa.select(LEDGER.c.recorded_at)
    .where(LEDGER.c.recorded_at < sa.bindparam("before"))
    .order_by(LEDGER.c.recorded_at)
    .offset(PRUNE_ROWS - 1)
    .limit(1)
)
_PRUNE_TO = sa.delete(LEDGER).where(LEDGER.c.recorded_at <= sa.bindparam("cut"))
_PRUNE_ALL = sa.delete(LEDGER).where(LEDGER.c.recorded_at < sa.bindparam("before"))


def encode_outputs(outputs: Sequence[Outgoing]) -> bytes:
    """``outputs`` in the format that the module describes."""
    kept = [_packed(o.payload) for o in outputs]
    header = json.dumps(
        [
            [o.topic, o.key, o.deliver_at, dict(o.properties), len(payload), payload is not o.payload]
            for o, payload in zip(outputs, kept, strict=True)
        ],
        separators=(",", ":"),
    ).encode("ascii")
    return b"".join((b"\x01", len(header).to_bytes(4, "big"), header, *kept))


def _packed(payload: bytes) -> bytes:
    return payload if len(payload) < PACKED_FROM else zlib.compress(payload, 1)


def decode_outputs(data: bytes) -> tuple[Outgoing, ...]:
    """The outputs that were encoded. Raises StoreIncompatible for bytes of another format."""
    if data[:1] != b"\x01":
        raise StoreIncompatible(
            f"a ledger row has format {data[:1].hex() or 'none'}; this Clew reads format {FORMAT}"
        )
    at = 5 + int.from_bytes(data[1:5], "big")
    outputs = []
    for topic, key, deliver_at, properties, length, packed in json.loads(data[5:at]):
        payload = zlib.decompress(data[at : at + length]) if packed else data[at : at + length]
        outputs.append(
            Outgoing(topic=topic, payload=payload, key=key, properties=properties, deliver_at=deliver_at)
        )
        at += length
    return tuple(outputs)


class _Ticketed(NamedTuple):
    """A record, and what happens to tickets with it."""

    record: Record
    opens: Ticket | None
    closes: Closing | None

    @property
    def order(self) -> tuple[str, str, str]:
        """In which rows are locked, as in ``SqlLedger._write``."""
        return self.closes.ticket_id if self.closes else "", self.record.step, self.record.message_id


class SqlLedger:
    """The ports Ledger and Tickets at a database URL. Processes may share it: who commits a record first wins.

    Raises StoreFailed as the port says, and StoreIncompatible for a database of a newer Clew.
    """

    def __init__(self, url: str) -> None:
        self._store = SqlStore(url, METADATA, name="ledger")
        dialect = postgresql if self._store.dialect == "postgresql" else sqlite
        # The number of rows tells whether anybody was there first, so it is kept.
        self._insert = (
            dialect.insert(LEDGER).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
        )
        self._lookups: Batch[_Key, Record | None] = Batch(_lookup, writes=False)
        self._records: Batch[Record, Record] = Batch(self._write)
        self._ticketed: Batch[_Ticketed, Record] = Batch(self._write_ticketed)

    async def open(self) -> None:
        """Connect and make the table if it is missing."""
        await self._store.open()

    async def lookup(self, step: str, message_id: str) -> Record | None:
        """The record, or null."""
        return await self._store.submit(self._lookups, (step, message_id))

    async def record(
        self, record: Record, *, opens: Ticket | None = None, closes: Closing | None = None
    ) -> Record:
        """Commit ``record`` with what it does to tickets, or return the one that was committed first."""
        if opens is None and closes is None:
            return await self._store.submit(self._records, record)
        return await self._store.submit(self._ticketed, _Ticketed(record, opens, closes))

    async def ticket(self, ticket_id: str) -> Ticket | None:
        """The ticket, or null."""
        found: Ticket | None = await self._store.submit(
            tickets_sql.READS, lambda connection: tickets_sql.read_ticket(connection, ticket_id)
        )
        return found

    async def tickets(
        self, collection: str, *, limit: int = 100, only_open: bool = False
    ) -> Sequence[Ticket]:
        """The newest of ``collection``, newest first, without their runs."""
        found: Sequence[Ticket] = await self._store.submit(
            tickets_sql.READS,
            lambda connection: tickets_sql.newest_tickets(
                connection, collection, limit=limit, only_open=only_open
            ),
        )
        return found

    async def tickets_named(self, beginning: str, *, limit: int = 2) -> Sequence[Ticket]:
        """Tickets of any collection whose id begins so, without their runs: for an operator, never for a caller."""
        found: Sequence[Ticket] = await self._store.submit(
            tickets_sql.READS, lambda connection: tickets_sql.tickets_named(connection, beginning, limit)
        )
        return found

    async def prune(self, before: float) -> int:
        """Forget records older than ``before``, and tickets that expired before it; how many records went.

        A transaction forgets a few hundred.
        """
        while await self._store.call(lambda connection: tickets_sql.prune_tickets(connection, before)):
            pass
        gone = 0
        while True:
            deleted, more = await self._store.call(lambda connection: _prune(connection, before))
            gone += deleted
            if not more:
                return gone

    async def close(self) -> None:
        """Commit what waits and disconnect."""
        await self._store.close()

    def _write(self, connection: sa.Connection, records: Sequence[Record]) -> Sequence[Record]:
        # In one order everywhere: two processes that write the same keys then never wait for each other.
        rows = sorted((_row(record) for record in records), key=lambda row: (row["step"], row["message_id"]))
        if connection.execute(self._insert, rows).rowcount == len(rows):
            return records
        stored = _select(connection, [(record.step, record.message_id) for record in records])
        return [stored[record.step, record.message_id] for record in records]

    def _write_ticketed(self, connection: sa.Connection, writes: Sequence[_Ticketed]) -> Sequence[Any]:
        """A record for each; or, as a value, the TicketClosed that its caller is told."""
        results: list[Any] = [None] * len(writes)
        for place, write in sorted(enumerate(writes), key=lambda numbered: numbered[1].order):
            results[place] = self._write_one(connection, write)
        return results

    def _write_one(self, connection: sa.Connection, write: _Ticketed) -> Any:
        record, opens, closes = write
        refusal = tickets_sql.why_not_open(connection, closes.ticket_id) if closes else None
        if refusal is None and connection.execute(self._insert, [_row(record)]).rowcount == 1:
            if closes is not None:
                tickets_sql.close_ticket(connection, closes)
            if opens is not None:
                tickets_sql.open_ticket(connection, opens)
            return record
        key = record.step, record.message_id
        return _select(connection, [key]).get(key) or refusal


def _row(record: Record) -> dict[str, Any]:
    return {
        "step": record.step,
        "message_id": record.message_id,
        "outputs": encode_outputs(record.outputs),
        "recorded_at": record.recorded_at,
    }


def _lookup(connection: sa.Connection, keys: Sequence[_Key]) -> Sequence[Record | None]:
    found = _select(connection, keys)
    return [found.get(key) for key in keys]


def _select(connection: sa.Connection, keys: Sequence[_Key]) -> Mapping[_Key, Record]:
    by_step: dict[str, list[str]] = {}
    for step, message_id in keys:
        by_step.setdefault(step, []).append(message_id)
    return {
        (step, message_id): Record(
            step=step, message_id=message_id, outputs=decode_outputs(outputs), recorded_at=recorded_at
        )
        for name, ids in by_step.items()
        for step, message_id, outputs, recorded_at in connection.execute(_SELECT, {"step": name, "ids": ids})
    }


def _prune(connection: sa.Connection, before: float) -> tuple[int, bool]:
    """How many rows went, and whether there are more."""
    cut = connection.execute(_CUT, {"before": before}).scalar()
    if cut is None:
        return connection.execute(_PRUNE_ALL, {"before": before}).rowcount, False
    return connection.execute(_PRUNE_TO, {"cut": cut}).rowcount, True
