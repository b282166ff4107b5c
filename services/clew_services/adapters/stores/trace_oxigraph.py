"""The trace store on disk: RDF datasets in RocksDB, through pyoxigraph. A TraceStore.

One dataset per collection, in a folder of its own: what reads one collection cannot meet another's quads, whatever
names its runs have. Quads stand in the graphs in which they were told, so SPARQL over a dataset sees
``urn:graph:retrieval`` and ``urn:graph:provenance``, and beside them ``urn:graph:runs``, which finds and lists runs.

Callers may name any collection, and a dataset costs a quarter of a megabyte, descriptors, and the time to make it. So
a collection has one from when a run found something in it, which is proof that it exists. What is told before, of
questions that were refused or of agents that never searched, stands in one dataset for all, in graphs of its
collection: a list or a run of a collection reads its own dataset and its own graphs there. Nothing is moved later.
To forget a collection is to delete its folder, and its graphs from the shared dataset.

A write that returned survives the process. RocksDB hands its log to the operating system and does not wait for the
disk, so a power cut may take the last seconds; the quads are still on the bus if its retention says so.
"""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

import pyoxigraph as ox

from clew_services.adapters.stores.oxigraph_datasets import FLUSH_WEIGHT, Datasets
from clew_services.adapters.stores.oxigraph_runs import View, index, owned, row
from clew_services.adapters.stores.oxigraph_terms import from_quad, to_quads
from clew_services.errors import ClewError, StoreFailed, Unreadable
from clew_translators import namespaces as ns
from clew_translators.trace_digest import collection_of, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clew_schema.rdf import Triple, Triples
    from clew_services.ports import TraceRow

T = TypeVar("T")

SHARED = "shared"
"""The folder of what was told of collections that have no dataset; no collection's own is called so."""

_FOUND = frozenset({ns.TG_SELECTED_CHUNK, ns.TG_SELECTED_EDGE, ns.PROV_HAD_MEMBER})


@dataclass(frozen=True, slots=True)
class _Told:
    """A batch, ready to be written. ``found``: it tells of evidence, so its collection exists."""

    collection: str
    quads: list[ox.Quad]
    characters: int
    found: bool


@dataclass(slots=True)
class _Ticket:
    """Batches that wait to be written, and what became of them."""

    batches: tuple[Triples, ...]
    done: bool = False
    error: ClewError | None = None


class OxigraphTraceStore:
    """Datasets under ``folder``, which is made if it is missing; at most ``open_datasets`` and the shared one are open.

    An open one has 18 to 35 file descriptors. All of them together keep ``flush_weight`` quads in memory at most
    (:class:`Datasets`). One process at a time: a second one gets StoreFailed. All work happens in one thread of its
    own; batches that arrive meanwhile are written together.
    """

    def __init__(self, folder: Path, *, open_datasets: int = 6, flush_weight: int = FLUSH_WEIGHT) -> None:
        self._folder = folder
        self._datasets = Datasets(folder, limit=open_datasets, pinned=SHARED, flush_weight=flush_weight)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="trace-store")
        self._turn = asyncio.Lock()
        self._waiting: list[_Ticket] = []
        self._closed = False

    async def add(self, batches: Sequence[Triples]) -> None:
        """Write ``batches``; one that is no RDF raises Unreadable, and leaves the others unharmed."""
        ticket = _Ticket(batches=tuple(batches))
        self._waiting.append(ticket)
        async with self._turn:
            # Whoever has the turn writes for all who wait. A ticket taken by a cancelled writer may be written twice.
            if not ticket.done:
                taken = [ticket, *(other for other in self._waiting if other is not ticket)]
                self._waiting.clear()
                await self._in_thread(lambda: self._write(taken))
        if ticket.error is not None:
            raise ticket.error

    async def list(self, collection: str, *, limit: int = 50) -> Sequence[TraceRow]:
        """The newest runs of ``collection`` that callers asked, by the second; of one second, by the whole time."""
        name = collection_of(collection)
        return await self._in_thread(lambda: self._list(name, limit))

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run. A typed literal may come back in another spelling of the same value."""
        name = collection_of(collection)
        return await self._in_thread(lambda: self._run(name, session_uri))

    async def close(self) -> None:
        """Write to the disk, and let go of the datasets' locks. Idempotent."""
        if self._closed:
            return
        await self._in_thread(self._datasets.close)
        self._closed = True
        self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreFailed("the trace store was closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except OSError as error:
            raise StoreFailed(f"trace store in {self._folder.name}: {error}") from error

    # --- in the thread ----------------------------------------------------------------------------

    def _write(self, tickets: Sequence[_Ticket]) -> None:
        together: dict[str, list[_Told]] = {}
        for ticket in tickets:
            try:
                batches = [told for batch in ticket.batches if (told := _told(batch))]
            except Unreadable as error:
                ticket.error = error
                continue
            for told in batches:
                together.setdefault(told.collection, []).append(told)
        for collection, batches in together.items():
            quads = [quad for told in batches for quad in told.quads]
            characters = sum(told.characters for told in batches)
            folder = folder_name(collection)
            if any(told.found for told in batches) or self._datasets.exists(folder):
                self._datasets.write(folder, quads, characters=characters)
            else:
                self._datasets.write(SHARED, [*owned(quads, collection)], characters=characters)
        for ticket in tickets:
            ticket.done = True

    def _views(self, collection: str) -> Sequence[View]:
        """Where runs of ``collection`` may stand."""
        shared = self._datasets.existing(SHARED)
        own = self._datasets.existing(folder_name(collection))
        views = (View(shared, collection) if shared else None, View(own) if own else None)
        return [view for view in views if view]

    def _list(self, collection: str, limit: int) -> Sequence[TraceRow]:
        views = self._views(collection)
        runs = dict.fromkeys(run for view in views for run in view.newest(limit))
        rows = [row(views, collection, run) for run in runs]
        rows.sort(key=lambda found: (found.asked_at, found.session_uri), reverse=True)
        return tuple(rows[: max(0, limit)])

    def _run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        try:
            run = ox.NamedNode(session_uri)
        except ValueError:
            return ()  # no name of anything
        views = self._views(collection)
        return tuple(from_quad(quad) for quad in dict.fromkeys(q for view in views for q in view.quads(run)))


def folder_name(collection: str) -> str:
    """The folder of a collection: readable as far as a file system allows, and different for different names."""
    readable = re.sub(r"[^a-z0-9]+", "-", collection.lower()).strip("-")[:32]
    return f"{readable or 'collection'}-{sha256(collection.encode()).hexdigest()[:16]}"


def _told(batch: Triples) -> _Told | None:
    """``batch`` with its index; None when it is of no run."""
    told = digest(batch)
    if told is None:
        return None
    try:
        quads = [*to_quads(batch.triples), *index(told)]
    except ValueError as error:
        raise Unreadable(f"a batch of {told.run} is no RDF: {error}") from error
    return _Told(
        collection=told.collection,
        quads=quads,
        characters=sum(len(term.iri) + len(term.value) for t in batch.triples for term in (t.s, t.o) if term),
        found=any(t.p.iri in _FOUND for t in batch.triples if t.p),
    )
