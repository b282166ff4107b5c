"""The queries of a trace store on a SPARQL server: what it reads for its own sake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_services.adapters.stores.sparql_index import (
    COLLECTIONS,
    CONTAINS,
    RUN,
    STANDS_FOR,
    Place,
    term,
)
from clew_services.adapters.stores.sparql_terms import name_of, string
from clew_services.errors import BadRequest
from clew_translators.trace import STATES
from clew_translators.trace_digest import person_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew_services.ports import TraceFilter
    from clew_translators.trace_tree import RunState

COLLECTION_NAMES = (
    f"SELECT DISTINCT ?name WHERE {{ GRAPH {COLLECTIONS} {{ ?facts {term('name')} ?name }} "
    f"FILTER EXISTS {{ GRAPH ?facts {{ ?run {RUN} ?told }} }} }}"
)


def graphs_of(place: Place) -> str:
    """The graphs of a collection, as ``?g``, and what each stands for, as ``?name``."""
    return f"SELECT ?g ?name WHERE {{ GRAPH {place.names} {{ ?g {STANDS_FOR} ?name }} }}"


def page(place: Place, limit: int, where: TraceFilter, after: str) -> str:
    """The runs of a page, as ``?run``, newest first. Raises BadRequest for texts that hold half a surrogate pair."""
    try:
        conditions = " ".join(_conditions(where, after))
    except ValueError as error:
        raise BadRequest(f"a filter that is no text: {error}") from error
    return (
        f"SELECT ?run WHERE {{ GRAPH {place.facts} {{ ?run {term('asked')} ?asked . {conditions} "
        f"FILTER NOT EXISTS {{ ?run {term('asked')} ?earlier FILTER(?earlier < ?asked) }} }} }} "
        f"ORDER BY DESC(?asked) DESC(STR(?run)) LIMIT {limit}"
    )


def facts_of(place: Place, runs: Iterable[str]) -> str:
    """What is known of ``runs``, each a name in SPARQL, as ``?run``, ``?p`` and ``?o``."""
    return f"SELECT ?run ?p ?o WHERE {{ VALUES ?run {{ {' '.join(runs)} }} GRAPH {place.facts} {{ ?run ?p ?o }} }}"


def quads_of_run(place: Place, run: str, graphs: Sequence[str]) -> str:
    """The quads of ``run``, as ``?g`` (which stands for a graph, or is unbound), ``?s``, ``?p`` and ``?o``."""
    subject = f"GRAPH {place.subjects} {{ {run} {CONTAINS} ?s }}"
    named = (f"{{ {subject} GRAPH {graph} {{ ?s ?p ?o }} BIND({graph} AS ?g) }}" for graph in graphs)
    unnamed = f"{{ {subject} GRAPH {place.default} {{ ?s ?p ?o }} }}"
    return f"SELECT ?g ?s ?p ?o WHERE {{ {' UNION '.join([*named, unnamed])} }}"


def known(place: Place, uris: Iterable[str]) -> str:
    """Those of ``uris`` that are runs, as ``?told``."""
    return f"SELECT ?told WHERE {{ VALUES ?told {{ {_strings(uris)} }} GRAPH {place.facts} {{ ?run {RUN} ?told }} }}"


def children(place: Place, uris: Iterable[str]) -> str:
    """The runs that tools of ``uris`` asked for, as ``?told``."""
    return (
        f"SELECT DISTINCT ?told WHERE {{ VALUES ?parent {{ {_strings(uris)} }} "
        f"GRAPH {place.facts} {{ ?run {term('parent-run')} ?parent ; {RUN} ?told }} }}"
    )


def everything(place: Place) -> str:
    """All runs, as ``?told``."""
    return f"SELECT DISTINCT ?told WHERE {{ GRAPH {place.facts} {{ ?run {RUN} ?told }} }}"


def _strings(texts: Iterable[str]) -> str:
    return " ".join(string(text) for text in texts)


def _conditions(where: TraceFilter, after: str) -> Iterator[str]:
    if after:
        asked, _, uri = after.partition(" ")
        below = f"?asked = {string(asked)} && STR(?run) < {string(name_of(uri))}"
        yield f"FILTER(?asked < {string(asked)} || ({below}))"
    if where.since:
        yield f"FILTER(?asked >= {string(where.since)})"
    if where.until:
        yield f"FILTER(?asked < {string(where.until)})"
    if where.mechanisms:
        wanted = ", ".join(string(each) for each in sorted(where.mechanisms))
        yield f"?run {term('mechanism')} ?mechanism FILTER(?mechanism IN ({wanted}))"
    if where.person:
        yield f"?run {term('persons')} {string(person_of(where.person))} ."
    if where.text:
        yield f"?run {term('folded')} ?folded FILTER(CONTAINS(?folded, {string(where.text.casefold())}))"
    if not where.tools:
        yield f"FILTER NOT EXISTS {{ ?run {term('parent')} ?parent }}"
    if where.states:
        yield f"FILTER({' || '.join(_is(state) for state in sorted(where.states))})"


def _is(state: RunState) -> str:
    """Whether a run is in ``state``: the last of those that its facts tell, in the order of STATES."""
    later = STATES[STATES.index(state) + 1 :]
    told = [_tells(state), *(f"!({_tells(each)})" for each in later)]
    return f"({' && '.join(told)})"


def _tells(state: RunState) -> str:
    told = f"EXISTS {{ ?run {term('ends')} {string(state)} }}"
    match state:
        case "running":
            return "true"
        case "needs_input":
            return f"({told} || {_open('waits', 'resumed')})"
        case "answered":
            return f"({told} || {_open('answers', 'ended')})"
    return told


def _open(begun: str, done: str) -> str:
    return f"EXISTS {{ ?run {term(begun)} ?{begun} FILTER NOT EXISTS {{ ?run {term(done)} ?{begun} }} }}"
