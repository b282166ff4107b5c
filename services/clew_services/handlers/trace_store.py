"""Keep what the steps of runs told of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_services.runtime.outcome import Outcome

if TYPE_CHECKING:
    from clew_schema.rdf import Triples
    from clew_services.ports import TraceStore


@dataclass(frozen=True, slots=True)
class StoreTriples:
    """Bound to ``explainability``; sends nothing. Writing a batch twice changes nothing, so no record is needed."""

    store: TraceStore

    async def __call__(self, batch: Triples) -> Outcome:
        """Write ``batch``."""
        await self.store.add([batch])
        return Outcome()
