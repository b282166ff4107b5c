"""The trace store in memory: for tests, and for a process that keeps nothing. A TraceStore."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_schema.rdf import Triple
from clew_services.errors import StoreFailed
from clew_services.ports import TraceRow
from clew_translators.trace import run_state
from clew_translators.trace_digest import Digest, collection_of, digest
from clew_translators.trace_quads import Quads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.rdf import Triples


@dataclass(slots=True)
class _Run:
    row: TraceRow
    parent: str = ""
    quads: dict[str, Triple] = field(default_factory=dict)


class MemoryTraceStore:
    """Runs by collection and question. Everything is gone with the object."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], _Run] = {}
        self._closed = False

    async def add(self, batches: Sequence[Triples]) -> None:
        """Keep the quads of each batch that is of a run; each quad once."""
        self._open()
        for batch in batches:
            if (told := digest(batch)) is not None:
                self._keep(told, batch)

    async def list(self, collection: str, *, limit: int = 50) -> Sequence[TraceRow]:
        """The newest runs of ``collection`` that callers asked."""
        self._open()
        rows = [
            run.row
            for (owner, _), run in self._runs.items()
            if owner == collection_of(collection) and run.row.asked_at and not run.parent
        ]
        rows.sort(key=lambda row: (row.asked_at, row.session_uri), reverse=True)
        return rows[: max(0, limit)]

    async def run(self, collection: str, session_uri: str) -> Sequence[Triple]:
        """The quads of one run."""
        self._open()
        found = self._runs.get((collection_of(collection), session_uri))
        return tuple(found.quads.values()) if found else ()

    async def close(self) -> None:
        """Nothing is usable afterwards."""
        self._closed = True
        self._runs.clear()

    def _open(self) -> None:
        if self._closed:
            raise StoreFailed("the trace store was closed")

    def _keep(self, told: Digest, batch: Triples) -> None:
        fresh = TraceRow(
            session_uri=told.run,
            mechanism=told.mechanism,
            query=told.query,
            asked_at=told.asked_at,
            collection=told.collection,
            state=told.state,
        )
        run = self._runs.setdefault((told.collection, told.run), _Run(row=fresh))
        run.quads |= {quad.model_dump_json(): quad for quad in batch.triples}
        run.row = TraceRow(
            session_uri=told.run,
            mechanism=told.mechanism,
            query=run.row.query or told.query,
            asked_at=run.row.asked_at or told.asked_at,
            collection=told.collection,
            state=run_state(
                Quads(run.quads.values())
            ),  # of all: an answer ends the waiting that a pause began
        )
        run.parent = run.parent or told.parent
