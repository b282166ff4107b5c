"""Which runs there are, beside the RDF datasets: whose they are, in which order they are listed, what was erased.

One SQLite file. A page of a list is read from an index by collection, mechanism and state, in the order of the list;
one of a person from an index by person. So a page costs what it shows, among however many runs; only ``text`` is
looked for in one question after the other. All of it but what was erased is told in the datasets too: when the file
is missing it is made from them (:mod:`clew_services.adapters.stores.oxigraph_adopt`).
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from heapq import merge
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from clew_services.adapters.stores.oxigraph_entries import condition_of, row_of, tombstone
from clew_services.errors import StoreIncompatible
from clew_translators.trace import MECHANISMS, STATES
from clew_translators.trace_digest import person_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from clew_services.adapters.stores.oxigraph_entries import Entry
    from clew_services.ports import TraceFilter, TraceRow

VERSION = 1

REMEMBERED_DAYS = 30.0
"""How long it is known that a run was erased: longer than a bus keeps a message that was not acknowledged."""

_TABLES = """
CREATE TABLE IF NOT EXISTS collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, uri TEXT NOT NULL, parent TEXT NOT NULL, tool INTEGER NOT NULL,
    mechanism TEXT NOT NULL, state TEXT NOT NULL, asked_at TEXT NOT NULL, query TEXT NOT NULL, folded TEXT NOT NULL,
    person TEXT NOT NULL, persons TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS runs_uri ON runs (uri, collection);
CREATE INDEX IF NOT EXISTS runs_listed ON runs (collection, tool, mechanism, state, asked_at, uri);
CREATE INDEX IF NOT EXISTS runs_children ON runs (parent, collection) WHERE parent <> '';
CREATE TABLE IF NOT EXISTS persons (
    collection INTEGER NOT NULL, person TEXT NOT NULL, asked_at TEXT NOT NULL, uri TEXT NOT NULL, run INTEGER NOT NULL,
    PRIMARY KEY (collection, person, asked_at, uri)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS persons_run ON persons (run);
CREATE TABLE IF NOT EXISTS erased (name BLOB PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unclean (folder TEXT PRIMARY KEY, since REAL NOT NULL);
"""
_COLUMNS = "runs.uri, runs.mechanism, runs.state, runs.asked_at, runs.query, runs.person"


class RunIndex:
    """The index in ``file``, which is made if it is missing. For one thread, and one process. Raises sqlite3.Error.

    ``fresh``: it was made just now, and knows nothing of what the datasets hold until :meth:`adopted`. What is written
    counts from :meth:`commit`.
    """

    def __init__(self, file: Path) -> None:
        self._db = sqlite3.connect(file, timeout=0.2, isolation_level=None)
        self._ids: dict[str, int] = {}
        # One process at a time, as the datasets have it; what is deleted is overwritten.
        for pragma in (
            "locking_mode=EXCLUSIVE",
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "secure_delete=ON",
        ):
            self._db.execute(f"PRAGMA {pragma}").fetchall()
        self._db.execute("BEGIN EXCLUSIVE")
        found: int = self._db.execute("PRAGMA user_version").fetchone()[0]
        if found > VERSION:
            self._db.close()
            raise StoreIncompatible(f"{file.name} is of version {found}, which a newer Clew wrote")
        self.fresh = found == 0
        for statement in _TABLES.split(";"):
            self._db.execute(statement)
        self._db.execute("COMMIT")

    def adopted(self) -> None:
        """All that the datasets hold is known."""
        self._begin()
        self._db.execute(f"PRAGMA user_version = {VERSION}")
        self.commit()
        self.fresh = False

    def commit(self) -> None:
        """What was written is durable, as far as the process is concerned."""
        if self._db.in_transaction:
            self._db.execute("COMMIT")

    def undo(self) -> None:
        """Forget what was written since the last commit."""
        self._ids.clear()
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the file. What was erased is no longer in it, nor in its log."""
        with closing(self._db):
            self.trim()

    def trim(self) -> None:
        """Empty the log, which still holds what was erased."""
        self.commit()
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # --- runs -------------------------------------------------------------------------------------

    def collections(self) -> list[str]:
        """The collections that have runs."""
        some = "SELECT 1 FROM runs WHERE runs.collection = collections.id"
        return sorted(
            name
            for (name,) in self._db.execute(f"SELECT name FROM collections WHERE EXISTS ({some})")  # noqa: S608 - ours
        )

    def knows(self, collection: str) -> bool:
        """Whether anything of ``collection`` was ever written."""
        return self._id(collection) is not None

    def owners(self, uri: str) -> set[str]:
        """The collections in which the run was told: one at most, unless an earlier Clew wrote them."""
        found = "SELECT name FROM runs JOIN collections ON collections.id = collection WHERE uri = ?"
        return {name for (name,) in self._db.execute(found, (uri,))}

    def put(self, entry: Entry) -> None:
        """Write a run, or what became of it."""
        self._begin()
        row, owner = entry.row, self._own_id(entry.row.collection)
        persons = "\n".join(entry.persons)
        values = (
            owner, row.session_uri, entry.parent, int(bool(entry.parent)), row.mechanism, row.state, row.asked_at,
            row.query, row.query.casefold(), entry.asker, persons,
        )  # fmt: skip
        known = "SELECT id, collection, uri, parent, tool, mechanism, state, asked_at, query, folded, person, persons"
        old = self._db.execute(
            f"{known} FROM runs WHERE uri = ? AND collection = ?", (row.session_uri, owner)
        ).fetchone()
        if old and tuple(old[1:]) == values:
            return
        number: int | None = old[0] if old else None
        marks = ", ".join("?" * (len(values) + 1))
        number = self._db.execute(
            f"INSERT OR REPLACE INTO runs VALUES ({marks})",  # noqa: S608 - question marks
            (number, *values),
        ).lastrowid
        if old and old[-1]:
            self._db.execute("DELETE FROM persons WHERE run = ?", (number,))
        found = ((owner, person, row.asked_at, row.session_uri, number) for person in entry.persons)
        self._db.executemany("INSERT OR REPLACE INTO persons VALUES (?, ?, ?, ?, ?)", found)

    def page(self, collection: str, limit: int, where: TraceFilter, after: str) -> Sequence[TraceRow]:
        """A page. Raises BadRequest for an ``after`` that is no row's cursor."""
        owner = self._id(collection)
        table = "persons" if where.person else "runs"
        condition, values = condition_of(where, after, table)
        if owner is None or limit < 1:
            return ()
        if where.person:
            found = self._by_person(owner, where, condition, values)
        else:
            found = self._by_time(owner, where, condition, values)
        return tuple(row_of(collection, each) for each in islice(found, limit))

    def _by_time(self, owner: int, where: TraceFilter, condition: str, values: list[Any]) -> Iterator[Any]:
        """One walk of the index for each tool, mechanism and state that is wanted, side by side."""
        walk = (
            f"SELECT {_COLUMNS} FROM runs INDEXED BY runs_listed WHERE collection = ? AND tool = ? AND mechanism = ? "  # noqa: S608 - of our own words
            f"AND state = ? AND {condition}"
        )
        tools = (0, 1) if where.tools else (0,)
        wanted = product(tools, where.mechanisms or MECHANISMS, where.states or STATES)
        walks = [self._db.execute(walk, (owner, *which, *values)) for which in wanted]
        return merge(*walks, key=lambda found: (found[3], found[0]), reverse=True)

    def _by_person(self, owner: int, where: TraceFilter, condition: str, values: list[Any]) -> Iterator[Any]:
        for column, wanted in (("mechanism", where.mechanisms), ("state", where.states)):
            if wanted:
                condition = f"runs.{column} IN ({', '.join('?' * len(wanted))}) AND {condition}"
                values = [*sorted(wanted), *values]
        if not where.tools:
            condition = f"tool = 0 AND {condition}"
        # CROSS JOIN: SQLite is to walk along the person's runs, which are in order, and look each up.
        walk = (
            f"SELECT {_COLUMNS} FROM persons CROSS JOIN runs ON runs.id = persons.run WHERE persons.collection = ? "  # noqa: S608 - of our own words
            f"AND persons.person = ? AND {condition}"
        )
        return iter(self._db.execute(walk, (owner, person_of(where.person), *values)))

    # --- erasing ----------------------------------------------------------------------------------

    def family(self, collection: str, uris: Iterable[str], of: Iterable[str] = ()) -> Sequence[str]:
        """Those of ``uris`` that are runs of ``collection``, and the runs of their tools, however deep.

        ``of``: runs that may never have been written, whose tools' runs are wanted all the same.
        """
        owner, found = self._id(collection), dict[str, None]()
        if owner is None:
            return ()
        known = {uri: None for uri in uris if collection in self.owners(uri)}
        waiting, seen = [*known, *of], set[str]()
        while waiting:
            uri = waiting.pop()
            if uri not in seen:
                seen.add(uri)
                if uri in known or collection in self.owners(uri):
                    found[uri] = None
                children = "SELECT uri FROM runs WHERE parent = ? AND parent <> '' AND collection = ?"
                waiting += [child for (child,) in self._db.execute(children, (uri, owner))]
        return tuple(found)

    def all_of(self, collection: str) -> Sequence[str]:
        """Every run of ``collection``."""
        found = self._db.execute("SELECT uri FROM runs WHERE collection = ?", (self._id(collection),))
        return tuple(uri for (uri,) in found)

    def mark_erased(self, collection: str, uris: Iterable[str], now: float) -> None:
        """What comes of these runs from now on shall not be kept."""
        self._begin()
        self._db.execute("DELETE FROM erased WHERE at < ?", (now - REMEMBERED_DAYS * 86_400,))
        marks = ((tombstone(collection, uri), now) for uri in uris)
        self._db.executemany("INSERT OR REPLACE INTO erased VALUES (?, ?)", marks)

    def was_erased(self, collection: str, uri: str) -> bool:
        """Whether the run was erased, as far back as that is known."""
        found = self._db.execute("SELECT 1 FROM erased WHERE name = ?", (tombstone(collection, uri),))
        return found.fetchone() is not None

    def forget(self, collection: str, uris: Iterable[str]) -> None:
        """Take runs out."""
        owner = self._id(collection)
        self._begin()
        for uri in uris:
            found = self._db.execute(
                "SELECT id FROM runs WHERE uri = ? AND collection = ?", (uri, owner)
            ).fetchone()
            if found:
                self._db.execute("DELETE FROM persons WHERE run = ?", found)
                self._db.execute("DELETE FROM runs WHERE id = ?", found)
        if not self._db.execute("SELECT 1 FROM runs WHERE collection = ?", (owner,)).fetchone():
            self._db.execute("DELETE FROM collections WHERE id = ?", (owner,))
            self._ids.pop(collection, None)

    def soil(self, folder: str, now: float) -> None:
        """The files of this dataset still hold texts of what was erased."""
        self._begin()
        self._db.execute("INSERT OR IGNORE INTO unclean VALUES (?, ?)", (folder, now))

    def clean(self, folder: str) -> None:
        """They no longer do."""
        self._begin()
        self._db.execute("DELETE FROM unclean WHERE folder = ?", (folder,))

    def unclean(self) -> dict[str, float]:
        """The datasets that do, and since when (seconds since 1970)."""
        return dict(self._db.execute("SELECT folder, since FROM unclean"))

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN")

    def _id(self, collection: str) -> int | None:
        if collection not in self._ids:
            found = self._db.execute("SELECT id FROM collections WHERE name = ?", (collection,)).fetchone()
            if not found:
                return None
            if len(self._ids) > 1_000:
                self._ids.clear()
            self._ids[collection] = found[0]
        return self._ids[collection]

    def _own_id(self, collection: str) -> int:
        known = self._id(collection)
        if known is None:
            known = self._db.execute("INSERT INTO collections (name) VALUES (?)", (collection,)).lastrowid
        assert known is not None
        return known
