"""The updates of a trace store on a SPARQL server: one request each, which the server does as one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew_services.adapters.stores.sparql_index import (
    AT,
    COLLECTIONS,
    CONTAINS,
    ERASED,
    OWNER,
    OWNERS,
    STANDS_FOR,
    UNDER,
    Place,
    blocks,
    written,
)
from clew_services.adapters.stores.sparql_terms import iri_text, string
from clew_services.errors import Forbidden, Unreadable
from clew_translators.trace_digest import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew_schema.rdf import Triples


@dataclass(slots=True)
class Call:
    """The batches of one call of ``add``: which runs they are of, and what is written of each."""

    places: dict[str, Place] = field(default_factory=dict)
    statements: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    @property
    def owners(self) -> dict[str, str]:
        """The run and its owner, as the server has them."""
        return {iri_text(run): place.facts for run, place in self.places.items()}

    def insert(self) -> str:
        """Operations that write all, run by run, unless a run is another collection's or was erased.

        Both are for the server to look up, in the transaction that writes: of two writers that tell a run in two
        collections at once, one is the first.
        """
        return " ;\n".join(
            f"INSERT {{ {blocks(statements)} }} WHERE {{ "
            f"FILTER NOT EXISTS {{ GRAPH {OWNERS} {{ {iri_text(run)} {OWNER} ?other }} "
            f"FILTER(?other != {self.places[run].facts}) }} "
            f"FILTER NOT EXISTS {{ GRAPH {ERASED} {{ {self.places[run].erased(run)} {AT} ?at }} }} }}"
            for run, statements in self.statements.items()
        )


def call_of(batches: Sequence[Triples], *, triple_terms: bool) -> Call:
    """What ``batches`` are to be written as; those of no run are passed over. Raises Unreadable, Forbidden."""
    call = Call()
    for batch in batches:
        told = digest(batch)
        if told is None:
            continue
        place = Place(told.collection)
        if call.places.setdefault(told.run, place) != place:
            raise Forbidden(f"{told.run} was told in another collection than {told.collection!r}")
        try:
            found = written(place, told, batch, triple_terms=triple_terms)
        except ValueError as error:
            raise Unreadable(f"a batch of {told.run!r} is no RDF: {error}") from error
        statements = call.statements.setdefault(told.run, {})
        for graph, each in found.items():
            statements.setdefault(graph, set()).update(each)
    return call


def owners_of(runs: Iterable[str]) -> str:
    """Whose the runs are, as ``?run`` and ``?owner``; with ``?gone`` when that run is erased, or its caller."""
    values = " ".join(runs)
    return (
        f"SELECT ?run ?owner ?gone WHERE {{ VALUES ?run {{ {values} }} GRAPH {OWNERS} {{ ?run {OWNER} ?owner }} "
        f"OPTIONAL {{ GRAPH ?owner {{ ?run {UNDER} ?gone }} GRAPH {ERASED} {{ ?gone {AT} ?at }} }} }}"
    )


def disown(run: str, owner: str) -> str:
    """Let nobody but ``owner`` have ``run``, both in SPARQL."""
    pattern = f"GRAPH {OWNERS} {{ {run} {OWNER} ?other }}"
    return f"DELETE {{ {pattern} }} WHERE {{ {pattern} FILTER(?other != {owner}) }}"


def bury(place: Place, runs: Iterable[str], at: str) -> str:
    """Remember that ``runs`` were erased, from the time ``at`` on.

    In a request of its own, before they are: who writes of them meanwhile sees it then, or is seen.
    """
    statements = " . ".join(f"{place.erased(run)} {AT} {string(at)}" for run in runs)
    return f"INSERT DATA {{ GRAPH {ERASED} {{ {statements} }} }}"


def erase(place: Place, runs: Sequence[str], graphs: Sequence[str]) -> str:
    """Remove ``runs``, and what they speak of and no other run does, from ``graphs``.

    What tells of it goes last, though all is one transaction: not every server promises that.
    """
    names = " ".join(iri_text(run) for run in runs)
    others = ", ".join(iri_text(run) for run in runs)
    alone = (
        f"SELECT DISTINCT ?s WHERE {{ VALUES ?run {{ {names} }} GRAPH {place.subjects} {{ ?run {CONTAINS} ?s }} "
        f"FILTER NOT EXISTS {{ GRAPH {place.subjects} {{ ?other {CONTAINS} ?s }} FILTER(?other NOT IN ({others})) }} }}"
    )
    operations: list[str] = []
    for graph in graphs:
        pattern = f"GRAPH {graph} {{ ?s ?p ?o }}"
        operations.append(f"DELETE {{ {pattern} }} WHERE {{ {{ {alone} }} {pattern} }}")
    unused = f"GRAPH {place.names} {{ ?g {STANDS_FOR} ?name }}"
    operations.append(
        f"DELETE {{ {unused} }} WHERE {{ {unused} FILTER NOT EXISTS {{ GRAPH ?g {{ ?s ?p ?o }} }} }}"
    )
    for graph in (place.subjects, place.facts):
        pattern = f"GRAPH {graph} {{ ?run ?p ?o }}"
        operations.append(f"DELETE {{ {pattern} }} WHERE {{ VALUES ?run {{ {names} }} {pattern} }}")
    owned = f"GRAPH {OWNERS} {{ ?run {OWNER} {place.facts} }}"
    operations.append(f"DELETE {{ {owned} }} WHERE {{ VALUES ?run {{ {names} }} {owned} }}")
    called = f"GRAPH {COLLECTIONS} {{ {place.facts} ?p ?name }}"
    nothing = f"FILTER NOT EXISTS {{ GRAPH {place.facts} {{ ?run ?told ?fact }} }}"
    operations.append(f"DELETE {{ {called} }} WHERE {{ {called} {nothing} }}")
    return " ;\n".join(operations)


def forget(before: str) -> str:
    """No longer remember what was erased before that time."""
    pattern = f"GRAPH {ERASED} {{ ?run {AT} ?at }}"
    return f"DELETE {{ {pattern} }} WHERE {{ {pattern} FILTER(?at < {string(before)}) }}"
