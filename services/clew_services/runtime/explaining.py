"""The facts of a step as batches of triples, and as what its caller is shown of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_services.runtime.stamping import trail_of
from clew_translators.explain import entity_uri, tellings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact
    from clew_services.runtime.handling import Handling
    from clew_translators.explain import Profile, Told
    from clew_translators.explain.statements import Statements


@dataclass(frozen=True, slots=True, kw_only=True)
class Explaining:
    """Tells in one ``profile``; ``repaired`` without the defects that TrustGraph's own explanations have.

    Nothing is told of a run whose caller does not want a trace.
    """

    profile: Profile = "spec"
    repaired: bool = True

    def batches(self, handling: Handling, facts: Sequence[Fact]) -> tuple[Told, ...]:
        """What is published of a step, in order."""
        return self._told(handling, facts, trail_of(handling))

    def shown(self, handling: Handling, facts: Sequence[Fact], batches: tuple[Told, ...]) -> tuple[Told, ...]:
        """What of ``batches`` a caller is sent while they wait: TrustGraph's callers know the retrieval graph alone."""
        if self.profile == "spec":
            return batches
        return self._told(handling, facts, trail_of(handling), retrieval_only=True)

    def whole(self, handling: Handling, facts: Sequence[Fact]) -> tuple[Statements, ...]:
        """The retrieval graph of the run so far, for a caller who gets it at the end."""
        told = self._told(handling, (*trail_of(handling), *facts), (), retrieval_only=True)
        return tuple(graph for batch in told for graph in batch.graphs)

    def _told(
        self,
        handling: Handling,
        facts: Sequence[Fact],
        trail: tuple[Fact, ...],
        *,
        retrieval_only: bool = False,
    ) -> tuple[Told, ...]:
        caller = handling.step.caller
        if caller is None or not facts or not handling.envelope.traced:
            return ()
        return tellings(
            facts,
            session_id=handling.session_id,
            collection=handling.collection,
            mechanism=caller.mechanism,
            profile=self.profile,
            trail=trail,
            retrieval_only=retrieval_only,
            repaired=self.repaired,
        )


def entity_of(handling: Handling, facts: Sequence[Fact]) -> str:
    """The name of what the newest of ``facts`` is about; some names depend on what was before."""
    caller = handling.step.caller
    if caller is None:
        return ""
    trail = (*trail_of(handling), *facts[:-1])
    return entity_uri(facts[-1], handling.session_id, caller.mechanism, trail=trail)
