"""The trace store on disk: RDF datasets in RocksDB, through pyoxigraph. A TraceStore.

One dataset per collection, in a folder of its own: what reads one collection cannot meet another's quads, whatever
names its runs have. Quads stand in the graphs in which they were told, so SPARQL over a dataset sees
``urn:graph:retrieval`` and ``urn:graph:provenance``, and beside them ``urn:graph:runs``, which finds and lists runs.

Callers may name any collection, and a dataset costs a quarter of a megabyte, descriptors, and the time to make it. So
a collection has one from when a run found something in it, which is proof that it exists. What is told before, of
questions that were refused or of agents that never searched, stands in one dataset for all, in graphs of its
collection: a list or a run of a collection reads its own dataset and its own graphs there. Nothing is moved later.

Beside the datasets stands ``runs.sqlite3``: whose a run is, how runs are listed, and which were erased
(:mod:`clew_services.adapters.stores.oxigraph_index`). A run is first written to its dataset and then to the index; one
that was cut short between the two was not acknowledged, and comes again.

Erasing removes a run's quads and its place in the index before it returns, and what a process reads afterwards holds
nothing of it. Its texts leave the files when the dataset is written anew, which happens by itself: within seconds of
the last erasing for a dataset of up to 256 MB, or when the store is closed; within a day for a larger one. A whole
collection's files are deleted at once. What was erased is remembered for 30 days, as a hash of its name, so that a
batch that the bus delivers late does not bring half a run back; such batches are passed over.

A write that returned survives the process. RocksDB hands its log to the operating system and does not wait for the
disk, so a power cut may take the last seconds; the quads are still on the bus if its retention says so.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from clew_services.adapters.stores.oxigraph_adopt import folder_name
from clew_services.adapters.stores.oxigraph_datasets import FLUSH_WEIGHT, Datasets
from clew_services.adapters.stores.oxigraph_keeping import SHARED, Keeping, Told
from clew_services.adapters.stores.oxigraph_query import Questions
from clew_services.adapters.stores.oxigraph_runs import index as index_quads
from clew_services.adapters.stores.oxigraph_terms import to_quads
from clew_services.errors import BadRequest, ClewError, Forbidden, StoreFailed, Unreadable
from clew_services.ports import TraceFilter
from clew_translators import namespaces as ns
from clew_translators.trace_digest import collection_of, digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from clew_schema.rdf import Triple, Triples
    from clew_services.adapters.stores.oxigraph_query import Snapshot
    from clew_services.ports import QueryResult, TraceRow

__all__ = ["SHARED", "OxigraphTraceStore", "folder_name"]

T = TypeVar("T")

EVERY_RUN = TraceFilter()

SETTLE = 2.0
"""Seconds without an erasing, after which datasets are written anew."""

_FOUND = frozenset({ns.TG_SELECTED_CHUNK, ns.TG_SELECTED_EDGE, ns.PROV_HAD_MEMBER})


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
    own, but for queries; batches that arrive meanwhile are written together. ``settle`` seconds after the last erasing
    what was erased leaves the files; ``now`` says the time (seconds since 1970), by which erasings are forgotten.
    """

    def __init__(
        self,
        folder: Path,
        *,
        open_datasets: int = 6,
        flush_weight: int = FLUSH_WEIGHT,
        settle: float = SETTLE,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        datasets = Datasets(folder, limit=open_datasets, pinned=SHARED, flush_weight=flush_weight)
        self._keeping = Keeping(folder, datasets, now)
        self._settle = settle
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="trace-store")
        self._turn = asyncio.Lock()
        self._waiting: list[_Ticket] = []
        self._questions = Questions()
        self._tidying: asyncio.Task[None] | None = None
        self._closed = False

    async def add(self, batches: Sequence[Triples]) -> None:
        """Write ``batches``; one that is no RDF raises Unreadable, one of another collection's run Forbidden.

        Nothing of such a call is written; other calls are not harmed. Batches of runs that were erased are passed over.
        """
        ticket = _Ticket(batches=tuple(batches))
        self._waiting.append(ticket)
        async with self._turn:
            # Whoever has the turn writes for all who wait. A ticket taken by a cancelled writer may be written twice.
            if not ticket.done:
                taken = [ticket, *(other for other in self._waiting if other is not ticket)]
                self._waiting.clear()
                await self._in_thread(lambda: self._write(taken))
        if self._tidying is None:  # what an earlier process erased and did not get to
            self._tidying = asyncio.create_task(self._tidy())
        if ticket.error is not None:
            raise ticket.error

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = EVERY_RUN, after: str = ""
    ) -> Sequence[TraceRow]:
        """A page of the runs of ``collection``. It costs what it shows, unless ``where`` has a text that few have.

        Raises BadRequest for an ``after`` that is no row's cursor.
        """
        name = collection_of(collection)
        return await self._in_thread(lambda: self._keeping.list(name, limit, where, after))

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run. A typed literal may come back in another spelling of the same value."""
        name = collection_of(collection)
        return await self._in_thread(lambda: self._keeping.run(name, session_uri))

    async def collections(self) -> Sequence[str]:
        """The collections that have runs, in order."""
        return await self._in_thread(self._keeping.collections)

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        """Erase runs, and the runs of their tools; how many. Some 3 ms each, during which nothing is written."""
        name, uris = collection_of(collection), tuple(session_uris)
        count = await self._in_thread(lambda: self._keeping.erase(name, uris))
        return self._erased(count)

    async def erase_collection(self, collection: str) -> int:
        """Erase all runs of a collection, and its files."""
        name = collection_of(collection)
        return self._erased(await self._in_thread(lambda: self._keeping.erase_collection(name)))

    async def query(self, collection: str, sparql: str, *, seconds: float, limit: int) -> QueryResult:
        """Ask the collection as it is now, in another process. See :mod:`.oxigraph_query` for its default graph."""
        name = collection_of(collection)

        def snapshot(room: Path) -> Awaitable[Snapshot]:
            return self._in_thread(lambda: self._keeping.snapshot(name, room))

        folder = self._folder if self._folder.exists() else None
        return await self._questions.ask(sparql, snapshot, folder=folder, seconds=seconds, limit=limit)

    async def close(self) -> None:
        """Write to the disk, and let go of the datasets' locks. Idempotent."""
        if self._closed:
            return
        if self._tidying is not None:
            self._tidying.cancel()
        try:
            await self._in_thread(self._keeping.close)
        finally:
            self._closed = True
            self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._closed:
            raise StoreFailed("the trace store was closed")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except (OSError, sqlite3.Error) as error:
            raise StoreFailed(f"trace store in {self._folder.name}: {error}") from error
        except UnicodeEncodeError as error:
            raise BadRequest(f"half a character (a lone surrogate) in {error.object[:80]!r}") from error

    def _erased(self, count: int) -> int:
        """Begin, once more, to wait until nobody erases."""
        if count:
            if self._tidying is not None:
                self._tidying.cancel()
            self._tidying = asyncio.create_task(self._tidy())
        return count

    async def _tidy(self) -> None:
        wait: float | None = self._settle
        while wait is not None:
            await asyncio.sleep(wait)
            with suppress(StoreFailed):  # the next erasing, or closing, tries again
                wait = await self._in_thread(self._keeping.tidy)

    def _write(self, tickets: Sequence[_Ticket]) -> None:
        claimed: dict[str, str] = {}
        admitted: list[Told] = []
        for ticket in tickets:
            try:
                batches = [told for batch in ticket.batches if (told := _told(batch))]
                admitted += self._keeping.admit(batches, claimed)
            except (Unreadable, Forbidden) as error:
                ticket.error = error
        self._keeping.write(admitted)
        for ticket in tickets:
            ticket.done = True


def _told(batch: Triples) -> Told | None:
    """``batch`` with what is kept beside it; None when it is of no run."""
    told = digest(batch)
    if told is None:
        return None
    try:
        quads = [*to_quads(batch.triples), *index_quads(told)]
    except ValueError as error:
        raise Unreadable(f"a batch of {told.run} is no RDF: {error}") from error
    return Told(
        collection=told.collection,
        run=told.run,
        parent=told.parent_run,
        quads=quads,
        characters=sum(len(term.iri) + len(term.value) for t in batch.triples for term in (t.s, t.o) if term),
        found=any(t.p.iri in _FOUND for t in batch.triples if t.p),
    )
