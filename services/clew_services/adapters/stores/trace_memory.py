"""The trace store in memory: for tests, and for a process that keeps nothing. A TraceStore."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyoxigraph as ox

from clew_schema.rdf import Triple
from clew_services.adapters.stores.oxigraph_entries import place_after, tombstone
from clew_services.adapters.stores.oxigraph_query import Questions, Snapshot
from clew_services.adapters.stores.oxigraph_terms import to_quads
from clew_services.errors import Forbidden, StoreFailed, Unreadable
from clew_services.ports import TraceFilter, TraceRow
from clew_translators.trace import run_state
from clew_translators.trace_digest import collection_of, digest, name_of_person, person_of
from clew_translators.trace_quads import Quads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from clew_schema.rdf import Triples
    from clew_services.ports import QueryResult
    from clew_translators.trace_digest import Digest

EVERY_RUN = TraceFilter()


@dataclass(slots=True)
class _Run:
    row: TraceRow
    parent: str = ""
    persons: frozenset[str] = frozenset()
    quads: dict[str, Triple] = field(default_factory=dict)


class MemoryTraceStore:
    """Runs by collection and question. Everything is gone with the object; which runs were erased, too."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._erased: set[bytes] = set()
        self._questions = Questions()
        self._closed = False

    async def add(self, batches: Sequence[Triples]) -> None:
        """Keep the quads of each batch that is of a run; each quad once. Nothing of a call that raises Forbidden."""
        self._open()
        told = [(found, batch) for batch in batches if (found := digest(batch)) is not None]
        owners = {run: kept.row.collection for run, kept in self._runs.items()}
        for found, _ in told:
            if owners.setdefault(found.run, found.collection) != found.collection:
                raise Forbidden(f"run {found.run} was told in another collection than {found.collection!r}")
        for found, batch in told:
            if tombstone(found.collection, found.run) in self._erased:
                continue
            if found.parent_run and tombstone(found.collection, found.parent_run) in self._erased:
                self._forget(found.collection, [found.run])
                continue
            self._keep(found, batch)

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = EVERY_RUN, after: str = ""
    ) -> Sequence[TraceRow]:
        """The newest runs of ``collection``. Looks at all of them."""
        self._open()
        below = place_after(after) if after else None
        rows = [run.row for run in self._of(collection) if _wanted(run, where)]
        rows.sort(key=_place, reverse=True)
        return tuple(row for row in rows if below is None or _place(row) < below)[: max(0, limit)]

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run."""
        self._open()
        found = self._runs.get(session_uri)
        mine = found is not None and found.row.collection == collection_of(collection)
        return tuple(found.quads.values()) if found and mine else ()

    async def collections(self) -> Sequence[str]:
        """The collections that have runs, in order."""
        self._open()
        return sorted({run.row.collection for run in self._runs.values()})

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        """Erase runs, and the runs of their tools; how many."""
        self._open()
        mine = {run.row.session_uri for run in self._of(collection)}
        return self._forget(collection_of(collection), [uri for uri in session_uris if uri in mine])

    async def erase_collection(self, collection: str) -> int:
        """Erase all runs of a collection; how many."""
        return await self.erase(collection, [run.row.session_uri for run in self._of(collection)])

    async def query(self, collection: str, sparql: str, *, seconds: float, limit: int) -> QueryResult:
        """Ask the collection as it is now, in another process. Raises Unreadable when it holds what is no RDF."""
        self._open()
        quads = list(dict.fromkeys(key for run in self._of(collection) for key in run.quads))

        async def snapshot(room: Path) -> Snapshot:
            file = room / "quads.nq"
            await asyncio.to_thread(_write, quads, file)
            return Snapshot(file=str(file))

        return await self._questions.ask(sparql, snapshot, folder=None, seconds=seconds, limit=limit)

    async def close(self) -> None:
        """Nothing is usable afterwards."""
        self._closed = True
        self._runs.clear()

    def _open(self) -> None:
        if self._closed:
            raise StoreFailed("the trace store was closed")

    def _of(self, collection: str) -> Iterator[_Run]:
        owner = collection_of(collection)
        return (run for run in self._runs.values() if run.row.collection == owner)

    def _forget(self, collection: str, uris: Sequence[str]) -> int:
        """Forget runs and those of their tools, however deep; how many."""
        children: dict[str, list[str]] = {}
        for run in self._of(collection):
            children.setdefault(run.parent, []).append(run.row.session_uri)
        waiting, gone = [*uris], set[str]()
        while waiting:
            uri = waiting.pop()
            if uri not in gone:
                gone.add(uri)
                waiting += children.get(uri, ())
        for uri in gone:
            self._erased.add(tombstone(collection, uri))
            self._runs.pop(uri, None)
        return len(gone)

    def _keep(self, told: Digest, batch: Triples) -> None:
        fresh = TraceRow(
            session_uri=told.run,
            mechanism=told.mechanism,
            query=told.query,
            asked_at=told.asked_at,
            collection=told.collection,
            state=told.state,
            person=name_of_person(told.person),
        )
        run = self._runs.setdefault(told.run, _Run(row=fresh))
        run.quads |= {quad.model_dump_json(): quad for quad in batch.triples}
        run.row = TraceRow(
            session_uri=told.run,
            mechanism=told.mechanism if told.asked_at else run.row.mechanism,
            query=max(run.row.query, told.query),
            asked_at=min(filter(None, (run.row.asked_at, told.asked_at)), default=""),
            collection=told.collection,
            state=run_state(
                Quads(run.quads.values())
            ),  # of all: an answer ends the waiting that a pause began
            person=min(filter(None, (run.row.person, fresh.person)), default=""),
        )
        run.parent = min(filter(None, (run.parent, told.parent_run)), default="")
        run.persons |= told.persons


def _wanted(run: _Run, where: TraceFilter) -> bool:
    row = run.row
    return (
        bool(row.asked_at)
        and (where.tools or not run.parent)
        and (not where.mechanisms or row.mechanism in where.mechanisms)
        and (not where.states or row.state in where.states)
        and (not where.person or person_of(where.person) in run.persons)
        and where.since <= row.asked_at
        and (not where.until or row.asked_at < where.until)
        and where.text.casefold() in row.query.casefold()
    )


def _place(row: TraceRow) -> tuple[str, str]:
    return row.asked_at, row.session_uri


def _write(quads: Sequence[str], file: Path) -> None:
    try:
        found = to_quads(Triple.model_validate_json(quad) for quad in quads)
        ox.serialize(found, str(file), format=ox.RdfFormat.N_QUADS)
    except ValueError as error:
        raise Unreadable(f"a quad of the collection is no RDF: {error}") from error
