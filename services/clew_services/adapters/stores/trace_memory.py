"""The trace store in memory: for tests, and for a process that keeps nothing. A TraceStore."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_services.adapters.stores.trace_rows import matches, newest, row_of
from clew_services.errors import Forbidden, StoreFailed
from clew_services.ports import TraceFilter
from clew_translators.trace_digest import collection_of, digest, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew_schema.rdf import Triple, Triples
    from clew_services.ports import QueryResult, TraceRow
    from clew_translators.trace_digest import Digest, Summary


@dataclass(slots=True)
class _Run:
    summary: Summary
    quads: dict[str, Triple] = field(default_factory=dict)


class MemoryTraceStore:
    """Runs by name. Everything is gone with the object."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._erased: set[tuple[str, str]] = set()
        self._closed = False

    async def add(self, batches: Sequence[Triples]) -> None:
        """Keep the quads of each batch that is of a run; each quad once. Forbidden: nothing of the call is kept."""
        self._open()
        told = [(found, batch) for batch in batches if (found := digest(batch)) is not None]
        owners = {run: known.summary.collection for run, known in self._runs.items()}
        for found, _ in told:
            if (found.collection, found.run) in self._erased:
                continue
            if owners.setdefault(found.run, found.collection) != found.collection:
                raise Forbidden(f"{found.run} was told in another collection than {found.collection!r}")
        for found, batch in told:
            self._keep(found, batch)

    async def list(
        self, collection: str, *, limit: int = 50, where: TraceFilter = TraceFilter(), after: str = ""
    ) -> Sequence[TraceRow]:
        """The newest runs of ``collection`` that ``where`` wants. Looks at all runs."""
        self._open()
        owned = (run.summary for run in self._of(collection))
        return newest((row_of(each) for each in owned if matches(each, where)), limit, after)

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run."""
        self._open()
        found = self._runs.get(session_uri)
        mine = found is not None and found.summary.collection == collection_of(collection)
        return tuple(found.quads.values()) if found and mine else ()

    async def collections(self) -> Sequence[str]:
        """The collections that have runs."""
        self._open()
        return sorted({run.summary.collection for run in self._runs.values()})

    async def erase(self, collection: str, session_uris: Sequence[str]) -> int:
        """Forget runs and the runs of their tools; what comes of them later is passed over."""
        self._open()
        return self._erase(collection_of(collection), set(session_uris))

    async def erase_collection(self, collection: str) -> int:
        """Forget all runs of a collection."""
        self._open()
        return self._erase(collection_of(collection), {run.summary.run for run in self._of(collection)})

    async def query(self, collection: str, sparql: str, *, seconds: float, limit: int) -> QueryResult:
        """A question in SPARQL."""
        self._open()
        raise StoreFailed("not available")

    async def close(self) -> None:
        """Nothing is usable afterwards."""
        self._closed = True
        self._runs.clear()

    def _open(self) -> None:
        if self._closed:
            raise StoreFailed("the trace store was closed")

    def _of(self, collection: str) -> Iterable[_Run]:
        name = collection_of(collection)
        return [run for run in self._runs.values() if run.summary.collection == name]

    def _keep(self, told: Digest, batch: Triples) -> None:
        if (told.collection, told.run) in self._erased:
            return
        run = self._runs.setdefault(told.run, _Run(summary=summary(told)))
        run.quads |= {quad.model_dump_json(): quad for quad in batch.triples}
        run.summary = run.summary.with_batch(told)
        if told.parent and (told.collection, told.parent_run) in self._erased:
            self._erase(told.collection, {told.run})

    def _erase(self, collection: str, wanted: set[str]) -> int:
        mine = {run.summary.run: run.summary for run in self._of(collection)}
        gone = wanted & mine.keys()
        while more := {run for run, each in mine.items() if each.parent_run in gone} - gone:
            gone |= more
        for run in gone:
            del self._runs[run]
            self._erased.add((collection, run))
        return len(gone)
