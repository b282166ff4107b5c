"""One SQL database behind asyncio: whatever waits is committed together, by one thread that owns the connection.

A caller submits an item to a *batch operation* and awaits its result. All items that wait when the thread
becomes free share one transaction (group commit), and items of one operation share its statements. A result
is delivered after the commit, never before.

SQLite runs in WAL mode with ``synchronous=NORMAL``: what was committed survives a killed process; a power cut
may take the last moments. PostgreSQL keeps its own settings.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError

from clew_services.errors import StoreFailed, StoreIncompatible

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

MAX_BATCH = 512
"""Most items of one transaction: bounds the memory of a batch and the parameters of a statement."""
BUSY_SECONDS = 10
"""How long a SQLite transaction waits for another process's; ``?timeout=`` in the URL changes it."""
CONNECT_SECONDS = 5
"""How long a connection to PostgreSQL may take."""
MAX_BACKOFF = 2.0
"""Longest pause, in seconds, before a database that did not answer is tried again."""

# A value that its column cannot take is raised by the driver as one of these, beside SQLAlchemy's own.
_ROW_ERRORS = (SQLAlchemyError, ValueError, TypeError, OverflowError)

_versions = sa.MetaData()
SCHEMA_VERSION = sa.Table(
    "schema_version",
    _versions,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
)


@dataclass(frozen=True, slots=True, eq=False)
class Batch(Generic[ItemT, ResultT]):
    """An operation on many items at once: ``run`` returns one result per item, in order.

    ``run`` may be called again with the same items, alone or together, after a rollback. ``writes`` false
    promises that it only reads, so that readers never wait for the writer of another process.
    """

    run: Callable[[sa.Connection, Sequence[ItemT]], Sequence[ResultT]]
    writes: bool = True


@dataclass(slots=True, eq=False)
class _Job:
    batch: Batch[Any, Any]
    item: Any
    future: asyncio.Future[Any]


def _run_each(connection: sa.Connection, calls: Sequence[Callable[[sa.Connection], Any]]) -> Sequence[Any]:
    return [call(connection) for call in calls]


_CALLS: Batch[Callable[[sa.Connection], Any], Any] = Batch(_run_each)


class SqlStore:
    """A database by URL (``sqlite:///path`` or ``postgresql://…``), opened on first use.

    ``metadata`` holds the tables, made if missing; ``name`` and ``version`` say which schema they are. A file
    or database written by a newer version raises StoreIncompatible. A bad URL, or a driver that is not
    installed, raises ValueError from the constructor. Use from one event loop at a time.
    """

    def __init__(self, url: str, metadata: sa.MetaData, *, name: str, version: int = 1) -> None:
        self._engine = _engine(url)
        self._metadata = metadata
        self._name = name
        self._version = version
        self._connection: sa.Connection | None = None
        self._schema_ready = False
        self._backoff = 0.0
        self._not_before = 0.0
        self._waiting: list[_Job] = []
        self._running: asyncio.Future[list[Any]] | None = None
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=f"clew-{name}")
        self._closing = threading.Event()
        self._close_task: asyncio.Task[None] | None = None

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        return self._engine.dialect.name

    async def open(self) -> None:
        """Connect and make what is missing, so that a bad setting shows at the start and not in the first message."""
        await self.call(lambda _: None)

    async def submit(self, batch: Batch[ItemT, ResultT], item: ItemT) -> ResultT:
        """The result of ``batch`` for ``item``, committed. Raises StoreFailed, or StoreIncompatible."""
        if self._closing.is_set():
            raise StoreFailed(f"the {self._name} store is closed")
        future: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Job(batch, item, future))
        if self._running is None and len(self._waiting) == 1:
            # Not at once: whatever else this turn of the loop submits belongs into the same transaction.
            asyncio.get_running_loop().call_soon(self._start)
        return await future

    async def call(self, work: Callable[[sa.Connection], ResultT]) -> ResultT:
        """The result of ``work``, run in the common transaction; it may run again after a rollback."""
        result: ResultT = await self.submit(_CALLS, work)
        return result

    async def close(self) -> None:
        """Commit what waits, then disconnect and end the thread. Idempotent."""
        self._closing.set()
        if self._close_task is None:
            self._close_task = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._close_task)

    # --- on the event loop ------------------------------------------------------------------------

    def _start(self) -> None:
        if self._running is None and self._waiting:
            jobs, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            self._running = asyncio.get_running_loop().run_in_executor(self._executor, self._run, jobs)
            self._running.add_done_callback(lambda done: self._finish(jobs, done))

    def _finish(self, jobs: list[_Job], done: asyncio.Future[list[Any]]) -> None:
        self._running = None
        # An operation that raised what no row can cause is at fault itself: every caller is told.
        fault = done.exception()
        results = [fault] * len(jobs) if fault is not None else done.result()
        for job, result in zip(jobs, results, strict=True):
            if job.future.done():
                continue  # cancelled by its caller; the work is done all the same
            if isinstance(result, BaseException):
                job.future.set_exception(result)
            else:
                job.future.set_result(result)
        if self._waiting:
            # After the callers that were just answered had their turn, for they may have more to do.
            asyncio.get_running_loop().call_soon(self._start)

    async def _close(self) -> None:
        while self._waiting or self._running is not None:
            self._start()
            if self._running is not None:
                await asyncio.wait([self._running])
            await asyncio.sleep(0)
        await asyncio.get_running_loop().run_in_executor(self._executor, self._disconnect)
        self._executor.shutdown()
        self._engine.dispose()

    # --- on the thread ----------------------------------------------------------------------------

    def _run(self, jobs: list[_Job]) -> list[Any]:
        pause = self._not_before - time.monotonic()
        if pause > 0:
            self._closing.wait(pause)
        try:
            try:
                return self._transaction(jobs)
            except OperationalError:
                # A lost connection or a deadlock: the same work once more, on a fresh connection.
                self._disconnect()
                return self._transaction(jobs)
        except OperationalError as error:
            self._back_off()
            return [self._failed(error) for _ in jobs]
        except StoreIncompatible as error:
            return [error] * len(jobs)
        except _ROW_ERRORS as error:
            if len(jobs) == 1:
                return [self._failed(error)]
        # One of them is poison; the others must not suffer for it.
        return [result for job in jobs for result in self._run([job])]

    def _transaction(self, jobs: list[_Job]) -> list[Any]:
        groups: dict[Batch[Any, Any], list[int]] = {}
        for position, job in enumerate(jobs):
            groups.setdefault(job.batch, []).append(position)
        results: list[Any] = [None] * len(jobs)
        connection = self._connected()
        connection.info["writes"] = any(batch.writes for batch in groups)
        with connection.begin():
            for batch, positions in groups.items():
                found = batch.run(connection, [jobs[position].item for position in positions])
                for position, result in zip(positions, found, strict=True):
                    results[position] = result
        self._backoff = self._not_before = 0.0
        return results

    def _connected(self) -> sa.Connection:
        if self._connection is None or self._connection.invalidated:
            self._disconnect()
            self._connection = self._engine.connect()
        if not self._schema_ready:
            self._connection.info["writes"] = True
            with self._connection.begin():
                self._make_schema(self._connection)
            self._schema_ready = True
        return self._connection

    def _make_schema(self, connection: sa.Connection) -> None:
        if self.dialect == "postgresql":
            # Two processes that start together would both make the tables; SQLite's transaction locks by itself.
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(0xC1E3)))
        _versions.create_all(connection)
        of_name = SCHEMA_VERSION.c.name == self._name
        found = connection.execute(sa.select(SCHEMA_VERSION.c.version).where(of_name)).scalar()
        if found is not None and found > self._version:
            raise StoreIncompatible(
                f"the {self._name} tables at {self._engine.url!r} have schema version {found}, but this Clew knows "
                f"only {self._version}: upgrade Clew, or point this one to another database"
            )
        self._metadata.create_all(connection)
        if found is None:
            connection.execute(sa.insert(SCHEMA_VERSION).values(name=self._name, version=self._version))
        elif found < self._version:
            connection.execute(sa.update(SCHEMA_VERSION).where(of_name).values(version=self._version))

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _back_off(self) -> None:
        self._disconnect()
        self._backoff = min(MAX_BACKOFF, max(0.05, self._backoff * 2))
        self._not_before = time.monotonic() + self._backoff

    def _failed(self, error: Exception) -> StoreFailed:
        cause = getattr(error, "orig", None) or error
        failed = StoreFailed(f"the {self._name} store at {self._engine.url!r} failed: {cause}")
        failed.__cause__ = error
        return failed


def _engine(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
        if parsed.drivername in {"postgres", "postgresql"}:
            parsed = parsed.set(drivername="postgresql+psycopg")
        if parsed.get_backend_name() == "sqlite":
            return _sqlite(parsed)
        if parsed.get_backend_name() == "postgresql":
            return sa.create_engine(parsed, connect_args={"connect_timeout": CONNECT_SECONDS})
    except (ArgumentError, NoSuchModuleError) as error:
        raise ValueError(f"not a database URL: {error}") from error
    except ModuleNotFoundError as error:
        raise ValueError(
            f"PostgreSQL needs a driver: pip install 'clew-services[postgres]' ({error})"
        ) from error
    raise ValueError(f"no such database here: {parsed.drivername!r}; use sqlite:///PATH or postgresql://…")


def _sqlite(url: sa.URL) -> sa.Engine:
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    url = url.update_query_dict({"timeout": url.query.get("timeout", str(BUSY_SECONDS))})
    # No pool: the store keeps its one connection, made and used on its own thread.
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine, "connect")
    def _configure(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where we say so, see below
        for pragma in (
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "foreign_keys=ON",
            "wal_autocheckpoint=4000",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        # A transaction that first reads and then writes would fail at once when another process wrote
        # between; one that takes the write lock first waits its turn.
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.info.get("writes") else "BEGIN")

    return engine
