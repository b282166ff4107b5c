"""The proof of a trace: every check there is, made of the batches of a run as they were published."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from clew_schema.facts import Fact, Mechanism
from clew_schema.rdf import Triple, Triples
from clew_services.ports import TraceFilter, TraceStore
from clew_translators.explain import Profile
from clew_translators.explain.facts import facts_of
from clew_translators.explain.seal import altered, broken_seals
from clew_translators.ragtrace_ext import records
from clew_translators.spans import spans
from clew_translators.trace import read_trace
from clew_translators.trace_digest import digest
from clew_translators.trace_tree import TraceTree
from clew_translators.uris import run_of
from clew_translators.validating import validate
from clew_translators.why import why

ALL = ("syntax", "constraint", "shape", "prov", "seal")
"""What ``validate`` looks for in a whole run of ours."""


@dataclass(frozen=True)
class Run:
    """A run as its batches tell it, in the order in which they were published."""

    uri: str
    collection: str
    mechanism: Mechanism
    session_id: str
    batches: tuple[Triples, ...]

    @cached_property
    def quads(self) -> tuple[Triple, ...]:
        return quads_of(self.batches)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return facts_of(self.quads)

    @cached_property
    def tree(self) -> TraceTree:
        return read_trace(self.quads)


def quads_of(batches: Iterable[Triples]) -> tuple[Triple, ...]:
    """Each quad once, as a store keeps them."""
    return tuple({quad.model_dump_json(): quad for batch in batches for quad in batch.triples}.values())


def runs_of(batches: Iterable[Triples]) -> list[Run]:
    """Batches by run. A batch that is of none is an error: the services tell of nothing else."""
    found: dict[tuple[str, str], list[Triples]] = {}
    for batch in batches:
        told = digest(batch)
        assert told is not None, f"a batch of no run: {batch.metadata}"
        found.setdefault((told.collection, told.run), []).append(batch)
    runs = []
    for (collection, uri), told_of in found.items():
        named = run_of(uri)
        assert named is not None, f"the name of a run that says nothing of it: {uri}"
        runs.append(Run(uri, collection, *named, tuple(told_of)))
    return runs


def prove(run: Run, profile: Profile) -> None:
    """Everything that must hold of a run by itself, whatever happened to it."""
    report = validate(run.quads)
    assert (report.ours, report.checked) == (True, ALL), run.uri
    assert not report.findings, (run.uri, report.findings)
    given = {"session_id": run.session_id, "collection": run.collection, "mechanism": run.mechanism}
    told = altered(run.quads, **given, profile=profile)  # type: ignore[arg-type]
    assert told == ((), ()), (run.uri, told)
    assert not broken_seals(run.facts)
    _prove_order(run)
    _prove_readings(run)


def _prove_order(run: Run) -> None:
    """Batches in any order, and any of them twice, are the same dataset and the same facts."""
    order = random.Random(run.uri)
    shuffled = [*run.batches, order.choice(run.batches)]
    order.shuffle(shuffled)
    assert set(quads_of(shuffled)) == set(run.quads)
    mixed = list(run.quads)
    order.shuffle(mixed)
    assert facts_of(mixed) == run.facts
    assert read_trace(mixed) == run.tree


def _prove_readings(run: Run) -> None:
    """Every other projection can be made, and tells of the same run."""
    assert run.tree.uri == run.uri
    assert (run.tree.mechanism, run.tree.collection or run.collection) == (run.mechanism, run.collection)
    assert why(run.facts, run.uri).uri == run.uri
    exported = spans(
        run.facts, session_id=run.session_id, collection=run.collection, mechanism=run.mechanism, content=True
    )
    assert len({span.span_id for span in exported}) == len(exported) >= 1
    if run.mechanism == "document-rag":
        assert records(run.facts, session_id=run.session_id, question_uri=run.uri).ext


async def prove_stored(store: TraceStore) -> int:
    """Every run that ``store`` keeps is valid; how many they are. Stores spell literals in their own way."""
    count = 0
    for collection in await store.collections():
        for row in await store.list(collection, limit=10_000, where=TraceFilter(tools=True)):
            report = validate(await store.run(collection, row.session_uri))
            assert (report.ours, report.findings) == (True, ()), (row.session_uri, report.findings)
            count += 1
    return count


def prove_all(batches: Sequence[Triples], profile: Profile) -> list[Run]:
    """The runs of ``batches``, each proven."""
    runs = runs_of(batches)
    for run in runs:
        prove(run, profile)
    return runs
