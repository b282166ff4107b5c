"""What a store must know of a batch to find its run again, and to list it, without reading the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema.limits import DEFAULT_COLLECTION
from clew_translators import namespaces as ns
from clew_translators import trace
from clew_translators.explain import names
from clew_translators.trace_quads import Quads

if TYPE_CHECKING:
    from clew_schema.facts import Mechanism
    from clew_schema.rdf import Triples
    from clew_translators.trace_tree import RunState


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """One batch, in short. What it does not tell is empty: only a run's first batch has ``asked_at`` and ``query``.

    ``subjects`` are what the batch speaks of; ``parent`` is the step that asked for the run, when it is a tool's.
    ``waits`` are the pauses that the batch tells of, ``resumed`` those that ended: a run needs input while one of all
    its batches' ``waits`` is in no batch's ``resumed``.
    """

    run: str
    collection: str
    mechanism: Mechanism
    subjects: frozenset[str]
    query: str = ""
    asked_at: str = ""
    parent: str = ""
    state: RunState = "running"
    waits: frozenset[str] = frozenset()
    resumed: frozenset[str] = frozenset()


def digest(batch: Triples) -> Digest | None:
    """``batch`` in short; None when it is of no run (knowledge that TrustGraph extracts travels on the same topic)."""
    known = Quads(batch.triples)
    metadata = batch.metadata
    run = (metadata.root if metadata else "") or (trace.run_of_step(metadata.id) if metadata else "")
    run = run or trace.find_run(known)
    if not run:
        return None
    return Digest(
        run=run,
        collection=collection_of(metadata.collection if metadata else ""),
        mechanism=trace.mechanism_of(known, run),
        subjects=frozenset(known.subjects),
        query=trace.query_of(known, run),
        asked_at=known.text(run, ns.PROV_STARTED_AT_TIME) or _failed_at(known, run),
        parent=trace.parent_of(known, run),
        state=trace.run_state(known),
        waits=trace.waiting_pauses(known),
        resumed=trace.resumed_pauses(known),
    )


def _failed_at(known: Quads, run: str) -> str:
    """When a request failed that nobody could read: its run is told with no beginning."""
    if names.RUN not in known.types(run):
        return ""
    failing = (subject for subject in known.subjects if names.FAILING in known.types(subject))
    return min((known.text(each, ns.PROV_STARTED_AT_TIME) for each in failing), default="")


def collection_of(name: str) -> str:
    """The collection that ``name`` means: an empty name is the default one."""
    return name or DEFAULT_COLLECTION
