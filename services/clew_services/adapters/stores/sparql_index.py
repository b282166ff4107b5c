"""Where a collection's quads stand in a SPARQL server's dataset, and the facts that find and list its runs.

A collection has graphs of its own, whose names begin with ``urn:clew:of:`` and its hash: one for each graph in which
something was told (``g:`` and its name), ``default``, and three that no query of a caller's sees: ``facts`` (what
batches tell of a run in short), ``subjects`` (what a run speaks of) and ``names`` (which graph stands for which).
Beside all collections, ``urn:clew:owners`` says whose a run is, ``urn:clew:collections`` what they are called, and
``urn:clew:erased`` which runs were erased, as hashes.

Facts are only ever added: what they come to is reckoned when they are read (:func:`row_of`), so it does not matter
who writes them, in which order, or how often.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyoxigraph as ox

from clew_services.adapters.stores.oxigraph_terms import named
from clew_services.adapters.stores.sparql_terms import iri_text, quads_of, string, text_of
from clew_services.ports import TraceRow
from clew_translators.trace import MECHANISMS
from clew_translators.trace_digest import name_of_person, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from clew_schema.rdf import Triples
    from clew_translators.trace_digest import Digest

OWNERS, COLLECTIONS, ERASED = "<urn:clew:owners>", "<urn:clew:collections>", "<urn:clew:erased>"

_SETS = ("ends", "answers", "ended", "waits", "resumed", "persons")
_TEXTS = ("query", "person", "parent")


def term(name: str) -> str:
    """A predicate of the facts."""
    return f"<urn:clew:index:{name}>"


OWNER, CONTAINS, STANDS_FOR = term("owner"), term("contains"), term("is")
AT, RUN, UNDER = term("at"), term("run"), term("under")


@dataclass(frozen=True, slots=True)
class Place:
    """The graphs of a collection, in SPARQL."""

    collection: str

    @property
    def _prefix(self) -> str:
        # Names may hold what no UTF-8 does; they are then refused where they are written out.
        return f"urn:clew:of:{sha256(self.collection.encode(errors='surrogatepass')).hexdigest()}:"

    @property
    def facts(self) -> str:
        """What was told of its runs in short."""
        return f"<{self._prefix}facts>"

    @property
    def subjects(self) -> str:
        """What its runs speak of."""
        return f"<{self._prefix}subjects>"

    @property
    def names(self) -> str:
        """Which of its graphs stands for which."""
        return f"<{self._prefix}names>"

    @property
    def default(self) -> str:
        """What was told in no graph."""
        return f"<{self._prefix}default>"

    def graph(self, name: str) -> str:
        """What was told in the graph ``name``."""
        return f"<{self._prefix}g:{quote(name, safe='')}>"

    def erased(self, run: str) -> str:
        """What stands for a run that was erased: a hash, so that nothing of it is left."""
        text = f"{self.collection}\0{run}".encode(errors="surrogatepass")
        return f"<urn:clew:erased:{sha256(text).hexdigest()}>"


def written(
    place: Place, told: Digest, batch: Triples, *, triple_terms: bool
) -> Mapping[str, AbstractSet[str]]:
    """What is to be written of a batch: statements by graph. Raises ValueError for what is no RDF."""
    run = iri_text(told.run)
    found: dict[str, set[str]] = {place.facts: {f"{run} {fact}" for fact in _facts(place, told)}}
    found[place.subjects] = {f"{run} {CONTAINS} {_subject(each)}" for each in told.subjects}
    for quad in quads_of(batch.triples):
        graph = place.default
        if isinstance(quad.graph_name, ox.NamedNode):
            graph = place.graph(quad.graph_name.value)
            found.setdefault(place.names, set()).add(f"{graph} {STANDS_FOR} {text_of(quad.graph_name)}")
        parts = (
            text_of(each, triple_terms=triple_terms) for each in (quad.subject, quad.predicate, quad.object)
        )
        found.setdefault(graph, set()).add(" ".join(parts))
    found[OWNERS] = {f"{run} {OWNER} {place.facts}"}
    found[COLLECTIONS] = {f"{place.facts} {term('name')} {string(place.collection)}"}
    return {graph: statements for graph, statements in found.items() if statements}


def _subject(name: str) -> str:
    return text_of(ox.BlankNode(name[2:]) if name.startswith("_:") else named(name))


def _facts(place: Place, told: Digest) -> Iterator[str]:
    yield f"{RUN} {string(told.run)}"
    # Of a foreign run only the batch of the question is sure of its mechanism.
    yield f"{term('mechanism' if told.asked_at else 'guessed')} {string(told.mechanism)}"
    if told.asked_at:
        yield f"{term('asked')} {string(told.asked_at)}"
    for name in _TEXTS:
        if text := getattr(told, name):
            yield f"{term(name)} {string(text)}"
    if told.query:
        yield f"{term('folded')} {string(told.query.casefold())}"
    yield f"{UNDER} {place.erased(told.run)}"  # what it goes with, should that be erased: itself and its caller
    if told.parent_run:
        yield f"{term('parent-run')} {string(told.parent_run)}"
        yield f"{UNDER} {place.erased(told.parent_run)}"
    for name in _SETS:
        yield from (f"{term(name)} {string(each)}" for each in getattr(told, name))


def row_of(collection: str, facts: Mapping[str, AbstractSet[str]]) -> TraceRow:
    """A run in a list, by all that is known of it: texts by the name of their predicate."""

    def found(name: str) -> frozenset[str]:
        return frozenset(facts.get(name, ()))

    mechanism = max(found("mechanism") or found("guessed"), default="")
    return TraceRow(
        session_uri=min(found("run"), default=""),
        mechanism=next((known for known in MECHANISMS if known == mechanism), "document-rag"),
        query=max(found("query"), default=""),
        asked_at=min(found("asked"), default=""),
        collection=collection,
        state=state_of(
            found("ends"),
            answers=found("answers"),
            ended=found("ended"),
            waits=found("waits"),
            resumed=found("resumed"),
        ),
        person=name_of_person(max(found("person"), default="")),
    )


def blocks(statements: Mapping[str, Iterable[str]]) -> str:
    """Statements by graph, in SPARQL."""
    return " ".join(f"GRAPH {graph} {{ {' . '.join(each)} }}" for graph, each in statements.items())
