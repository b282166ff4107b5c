"""The trace store on disk: RDF datasets in RocksDB, through pyoxigraph. A TraceStore.

One dataset per collection, in a folder of its own: what reads one collection cannot meet another's quads, whatever
names its runs have, and forgetting a collection is deleting a folder. Quads stand in the graphs in which they were
told, so SPARQL over a dataset sees ``urn:graph:retrieval`` and ``urn:graph:provenance``. What finds and lists runs
stands beside them in ``urn:graph:runs``: which subjects a run has, and runs by day, minute and second, so a list never
looks at more than it shows.

A write that returned survives the process. RocksDB hands its log to the operating system and does not wait for the
disk, so a power cut may take the last seconds; the quads are still on the bus if its retention says so.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import pyoxigraph as ox

from clew_services.adapters.stores.oxigraph_terms import from_quad, named, to_quads
from clew_services.errors import ClewError, StoreFailed, Unreadable
from clew_services.ports import TraceRow
from clew_translators.namespaces import CLEW
from clew_translators.trace import MECHANISMS, STATES
from clew_translators.trace_digest import Digest, collection_of, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from clew_schema.rdf import Triple, Triples

T = TypeVar("T")

RUNS = ox.NamedNode("urn:graph:runs")
"""The graph of what only the store needs."""

_ALL = ox.NamedNode("urn:clew:runs")
_CONTAINS = ox.NamedNode(CLEW + "contains")
_LISTS = ox.NamedNode(CLEW + "lists")
_ASKED_AT = ox.NamedNode(CLEW + "askedAt")
_QUERY = ox.NamedNode(CLEW + "query")
_MECHANISM = ox.NamedNode(CLEW + "mechanism")
_STATE = ox.NamedNode(CLEW + "state")

BULK = 5_000
"""From how many quads on a write is a bulk load: where the two were measured to cost the same."""

_LEVELS = (10, 16, 19)  # characters of 2026-01-31T12:34:56 that name a day, a minute, a second


@dataclass(slots=True)
class _Ticket:
    """Batches that wait to be written, and what became of them."""

    batches: tuple[Triples, ...]
    done: bool = False
    error: ClewError | None = None


class OxigraphTraceStore:
    """Datasets under ``folder``, which is made if it is missing; at most ``open_datasets`` are open at once.

    One process at a time: a second one gets StoreFailed. All work happens in one thread of its own; batches that
    arrive meanwhile are written together.
    """

    def __init__(self, folder: Path, *, open_datasets: int = 32) -> None:
        self._folder = folder
        self._limit = max(1, open_datasets)
        self._datasets: OrderedDict[str, ox.Store] = OrderedDict()
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
        await self._in_thread(self._close)
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

    def _existing(self, collection: str) -> ox.Store | None:
        """The dataset of ``collection``, if there is one: reading makes no folders."""
        known = collection in self._datasets or (self._folder / folder_name(collection)).exists()
        return self._dataset(collection) if known else None

    def _dataset(self, collection: str) -> ox.Store:
        """The dataset of ``collection``, opened or made."""
        if collection not in self._datasets:
            while len(self._datasets) >= self._limit:
                self._datasets.popitem(last=False)  # nobody else holds it: its lock goes with it
            folder = self._folder / folder_name(collection)
            folder.mkdir(parents=True, exist_ok=True)
            self._datasets[collection] = ox.Store(str(folder))
        self._datasets.move_to_end(collection)
        return self._datasets[collection]

    def _write(self, tickets: Sequence[_Ticket]) -> None:
        together: dict[str, list[ox.Quad]] = {}
        for ticket in tickets:
            try:
                told = [found for batch in ticket.batches if (found := _told(batch))]
            except Unreadable as error:
                ticket.error = error
                continue
            for collection, quads in told:
                together.setdefault(collection, []).extend(quads)
        for collection, quads in together.items():
            dataset = self._dataset(collection)
            # Bulk loading writes sorted files past RocksDB's log: dearer to begin (some 30 ms), four times cheaper a
            # quad. It is not one transaction, but a write that was cut short is not acknowledged, and comes again.
            load = dataset.bulk_extend if len(quads) >= BULK else dataset.extend
            load(quads)
        for ticket in tickets:
            ticket.done = True

    def _list(self, collection: str, limit: int) -> Sequence[TraceRow]:
        dataset = self._existing(collection)
        if dataset is None:
            return ()
        runs = dict.fromkeys(islice(_newest(dataset, _ALL, len(_LEVELS)), max(0, limit)))
        return tuple(_row(dataset, collection, run) for run in runs)

    def _run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        dataset = self._existing(collection)
        if dataset is None:
            return ()
        try:
            run = ox.NamedNode(session_uri)
        except ValueError:
            return ()  # no name of anything
        return tuple(
            from_quad(quad)
            for subject in _targets(dataset, run, _CONTAINS)
            for quad in dataset.quads_for_pattern(subject, None, None, None)
            if quad.graph_name != RUNS
        )

    def _close(self) -> None:
        while self._datasets:
            _, dataset = self._datasets.popitem()
            dataset.flush()


def folder_name(collection: str) -> str:
    """The folder of a collection: readable as far as a file system allows, and different for different names."""
    readable = re.sub(r"[^a-z0-9]+", "-", collection.lower()).strip("-")[:32]
    return f"{readable or 'collection'}-{sha256(collection.encode()).hexdigest()[:16]}"


def _told(batch: Triples) -> tuple[str, list[ox.Quad]] | None:
    """The collection and the quads of ``batch``; None when it is of no run."""
    told = digest(batch)
    if told is None:
        return None
    try:
        return told.collection, [*to_quads(batch.triples), *_index(told)]
    except ValueError as error:
        raise Unreadable(f"a batch of {told.run} is no RDF: {error}") from error


def _index(told: Digest) -> Iterator[ox.Quad]:
    """What finds and lists the run. All of it may be written again."""
    run = named(told.run)
    for subject in told.subjects:
        target = ox.BlankNode(subject[2:]) if subject.startswith("_:") else named(subject)
        yield ox.Quad(run, _CONTAINS, target, RUNS)
    if told.state != "running":
        yield ox.Quad(run, _STATE, ox.Literal(told.state), RUNS)
    if told.asked_at:
        yield ox.Quad(run, _ASKED_AT, ox.Literal(told.asked_at), RUNS)
        yield ox.Quad(run, _QUERY, ox.Literal(told.query), RUNS)
        yield ox.Quad(run, _MECHANISM, ox.Literal(told.mechanism), RUNS)
    if told.asked_at and not told.parent:
        node = _ALL
        for length in _LEVELS:
            child = named(f"urn:clew:runs:{quote(told.asked_at[:length], safe='')}")
            yield ox.Quad(node, _LISTS, child, RUNS)
            node = child
        yield ox.Quad(node, _LISTS, run, RUNS)


def _newest(dataset: ox.Store, node: ox.NamedNode, depth: int) -> Iterator[ox.NamedNode]:
    """The runs below ``node``, newest first; ``depth`` levels of time lie between."""
    children = [child for child in _targets(dataset, node, _LISTS) if isinstance(child, ox.NamedNode)]
    if depth == 0:
        yield from sorted(children, key=lambda run: (_text(dataset, run, _ASKED_AT), run.value), reverse=True)
        return
    for child in sorted(children, key=lambda bucket: bucket.value, reverse=True):
        yield from _newest(dataset, child, depth - 1)


def _row(dataset: ox.Store, collection: str, run: ox.NamedNode) -> TraceRow:
    states = _texts(dataset, run, _STATE)
    mechanism = _text(dataset, run, _MECHANISM)
    return TraceRow(
        session_uri=run.value,
        mechanism=next((known for known in MECHANISMS if known == mechanism), "document-rag"),
        query=_text(dataset, run, _QUERY),
        asked_at=_text(dataset, run, _ASKED_AT),
        collection=collection,
        state=max((state for state in STATES if state in states), key=STATES.index, default="running"),
    )


def _targets(
    dataset: ox.Store, node: ox.NamedNode, predicate: ox.NamedNode
) -> list[ox.NamedNode | ox.BlankNode]:
    objects = (quad.object for quad in dataset.quads_for_pattern(node, predicate, None, RUNS))
    return [found for found in objects if isinstance(found, (ox.NamedNode, ox.BlankNode))]


def _texts(dataset: ox.Store, node: ox.NamedNode, predicate: ox.NamedNode) -> set[str]:
    objects = (quad.object for quad in dataset.quads_for_pattern(node, predicate, None, RUNS))
    return {found.value for found in objects if isinstance(found, ox.Literal)}


def _text(dataset: ox.Store, node: ox.NamedNode, predicate: ox.NamedNode) -> str:
    return max(_texts(dataset, node, predicate), default="")
