"""Send runs that ended, or that wait for a person, to a tracing backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from clew_services.errors import StoreFailed
from clew_services.runtime.outcome import Outcome
from clew_translators.explain.facts import FactsUnreadable, facts_of
from clew_translators.explain.seal import broken_seals
from clew_translators.spans import spans
from clew_translators.trace_digest import digest
from clew_translators.uris import run_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact
    from clew_schema.rdf import Triple, Triples
    from clew_services.ports import TraceStore
    from clew_translators.spans import TraceSpan

ENDS = frozenset({"answer_written", "concluded", "run_failed", "run_paused", "ticket_cancelled"})
"""The facts after which a run rests."""


class SpanExporter(Protocol):
    """A tracing backend. Raises ExportFailed, or ExportRefused for what it will never take."""

    async def export(self, told: Sequence[TraceSpan]) -> None:
        """Hand over the spans of one run. The same spans may come again: their ids say so."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSpans:
    """Bound to ``explainability`` beside the trace store, whose subscription it does not share; sends nothing.

    A batch that ends a run makes the whole run go out, as the store has it; a store that has not caught up is waited
    for. ``content``: texts of people and documents go out too.
    """

    store: TraceStore
    exporter: SpanExporter
    content: bool = False

    async def __call__(self, batch: Triples) -> Outcome:
        """Export the run that ``batch`` ends; nothing for any other batch, and for traces of other systems."""
        told = digest(batch)
        run = run_of(told.run) if told else None
        newest = _facts(batch.triples)
        if told is None or run is None or not newest or newest[-1].kind not in ENDS:
            return Outcome()
        facts = _facts(await self.store.run(told.collection, told.run))
        if newest[-1] not in facts or broken_seals(facts):
            raise StoreFailed(f"the trace of {told.run} is not stored whole yet")
        mechanism, session_id = run
        await self.exporter.export(
            spans(
                facts,
                session_id=session_id,
                collection=told.collection,
                mechanism=mechanism,
                content=self.content,
            )
        )
        return Outcome()


def _facts(quads: Sequence[Triple]) -> tuple[Fact, ...]:
    """The facts told in ``quads``; none for a trace of another system."""
    try:
        return facts_of(quads)
    except FactsUnreadable:
        return ()
