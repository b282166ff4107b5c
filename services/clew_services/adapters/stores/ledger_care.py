"""Looking after the ledger: what is in it, whether all of it can be read, and giving space back. For operators."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from clew_services.adapters.stores.ledger_sql import LEDGER, METADATA, SqlLedger, decode_outputs
from clew_services.adapters.stores.sql import SqlStore
from clew_services.adapters.stores.tickets_sql import TICKETS
from clew_services.errors import StoreFailed, StoreIncompatible

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 500
"""Rows that are read at a time."""

NAMED = 20
"""Rows that cannot be read and are named; the others are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRows:
    """The rows of one step; ``oldest`` and ``newest`` in seconds since 1970."""

    step: str
    rows: int
    oldest: float
    newest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What is in the ledger, and what is wrong with it.

    ``unreadable`` names rows that no service could publish again, with why; ``overdue`` counts tickets that wait for
    nobody any more: expired, and not pruned. ``integrity`` is what SQLite says of its file; ``""`` elsewhere.
    """

    kind: str
    size: int
    steps: tuple[StepRows, ...]
    open_tickets: int
    overdue: int
    unreadable: tuple[tuple[str, str, str], ...]
    unreadable_rows: int
    integrity: str = ""

    @property
    def well(self) -> bool:
        """Whether nothing is wrong."""
        return not self.unreadable_rows and self.integrity in {"", "ok"}


class LedgerCare:
    """Works on the ledger at a database URL, also while services write to it. Raises StoreFailed."""

    def __init__(self, url: str) -> None:
        """Nothing is opened before the first call."""
        self._url = url
        self._store = SqlStore(url, METADATA, name="ledger")

    async def survey(self, now: float) -> Survey:
        """Read every row."""
        steps = await self._store.call(lambda connection: tuple(_steps(connection)))
        waiting, overdue = await self._store.call(lambda connection: _tickets(connection, now))
        found: list[tuple[str, str, str]] = []
        last = ("", "")
        while page := await self._page(last):
            found += [(step, name, why) for step, name, why in page if why]
            last = page[-1][:2]
        return Survey(
            kind=self._store.dialect,
            size=await self.size(),
            steps=steps,
            open_tickets=waiting,
            overdue=overdue,
            unreadable=tuple(found[:NAMED]),
            unreadable_rows=len(found),
            integrity=await self._integrity(),
        )

    async def compact(self, before: float) -> int:
        """Forget what is older than ``before``, and give its space back; how many rows went."""
        ledger = SqlLedger(self._url)
        try:
            gone = await ledger.prune(before)
        finally:
            await ledger.close()
        await asyncio.to_thread(_vacuum, self._url)
        return gone

    async def older(self, before: float) -> int:
        """How many rows ``compact`` would forget."""
        query = sa.select(sa.func.count()).select_from(LEDGER).where(LEDGER.c.recorded_at < before)
        return await self._store.call(lambda connection: int(connection.execute(query).scalar() or 0))

    async def size(self) -> int:
        """Bytes of the ledger's files, or of its tables and their indices."""
        if self._store.dialect == "sqlite":
            path = sa.make_url(self._url).database or ""
            files = [Path(path), Path(f"{path}-wal")]
            return sum(file.stat().st_size for file in files if file.exists())
        query = sa.text("SELECT pg_total_relation_size('ledger') + pg_total_relation_size('tickets')")
        return await self._store.call(lambda connection: int(connection.execute(query).scalar() or 0))

    async def close(self) -> None:
        """Disconnect."""
        await self._store.close()

    async def _page(self, after: tuple[str, str]) -> list[tuple[str, str, str]]:
        """The next rows: step, message id, and why they cannot be read, if so."""
        query = (
            sa.select(LEDGER.c.step, LEDGER.c.message_id, LEDGER.c.outputs)
            .where(sa.tuple_(LEDGER.c.step, LEDGER.c.message_id) > sa.tuple_(*map(sa.literal, after)))
            .order_by(LEDGER.c.step, LEDGER.c.message_id)
            .limit(PAGE)
        )
        rows = await self._store.call(lambda connection: connection.execute(query).all())
        return [(step, name, _trouble(outputs)) for step, name, outputs in rows]

    async def _integrity(self) -> str:
        if self._store.dialect != "sqlite":
            return ""
        query = sa.text("PRAGMA integrity_check(5)")
        rows = await self._store.call(lambda connection: connection.execute(query).all())
        return "; ".join(str(row[0]) for row in rows)


def _steps(connection: sa.Connection) -> Iterator[StepRows]:
    at = LEDGER.c.recorded_at
    query = sa.select(LEDGER.c.step, sa.func.count(), sa.func.min(at), sa.func.max(at)).group_by(
        LEDGER.c.step
    )
    for step, rows, oldest, newest in connection.execute(query.order_by(LEDGER.c.step)):
        yield StepRows(step=step, rows=rows, oldest=oldest, newest=newest)


def _tickets(connection: sa.Connection, now: float) -> tuple[int, int]:
    """Open ones that may be answered, and open ones that expired."""
    late = sa.func.coalesce(sa.func.sum(sa.case((TICKETS.c.expires_at < now, 1), else_=0)), 0)
    query = sa.select(sa.func.count(), late).where(TICKETS.c.state == "open")
    count, overdue = connection.execute(query).one()
    return int(count) - int(overdue), int(overdue)


def _trouble(outputs: bytes) -> str:
    try:
        decode_outputs(bytes(outputs))
    except StoreIncompatible as error:
        return str(error)
    except (ValueError, TypeError, KeyError, IndexError, zlib.error) as error:
        return f"{type(error).__name__}: {error}"[:200]
    return ""


def _vacuum(url: str) -> None:
    """Rewrite the file, or let PostgreSQL reuse the space; who writes meanwhile waits."""
    engine = sa.create_engine(sa.make_url(url), poolclass=sa.pool.NullPool)
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql("VACUUM")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                connection.exec_driver_sql("VACUUM (ANALYZE) ledger")
                connection.exec_driver_sql("VACUUM (ANALYZE) tickets")
    except SQLAlchemyError as error:
        cause = getattr(error, "orig", None) or error
        raise StoreFailed(
            f"what was forgotten is forgotten, but its space could not be given back ({cause}): "
            "run this again when less is written"
        ) from error
    finally:
        engine.dispose()
