"""What belongs to a run in an RDF dataset: written beside its quads, in ``urn:graph:runs``.

Which subjects a run has, and in short what was told of it, batch by batch: all of it may be written again, in any
order. The index of runs (:mod:`clew_services.adapters.stores.oxigraph_index`) is made from this. Earlier versions of
Clew also listed runs here by day, minute and second; that is read no more, and erased with its run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import pyoxigraph as ox

from clew_services.adapters.stores.oxigraph_entries import Entry
from clew_services.adapters.stores.oxigraph_terms import named
from clew_services.ports import TraceRow
from clew_translators.namespaces import CLEW
from clew_translators.trace import MECHANISMS
from clew_translators.trace_digest import name_of_person, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew_translators.trace_digest import Digest

RUNS = ox.NamedNode("urn:graph:runs")
"""The graph of what only the store needs."""

_ALL = ox.NamedNode("urn:clew:runs")
_CONTAINS = ox.NamedNode(CLEW + "contains")
_LISTS = ox.NamedNode(CLEW + "lists")
_ASKED_AT = ox.NamedNode(CLEW + "askedAt")
_QUERY = ox.NamedNode(CLEW + "query")
_MECHANISM = ox.NamedNode(CLEW + "mechanism")
_STATE = ox.NamedNode(CLEW + "state")
_WAITS = ox.NamedNode(CLEW + "waits")
_RESUMED = ox.NamedNode(CLEW + "resumed")
_UNSAID = ox.NamedNode("urn:clew:unsaid")  # an answer, by a batch that does not tell what it came to
_SAID = ox.NamedNode("urn:clew:said")  # one of which a batch tells that and no more
PARENT = ox.NamedNode("urn:clew:parent")
ASKER = ox.NamedNode("urn:clew:asker")
PERSON = ox.NamedNode("urn:clew:took-part")
_TOLD_IN = ox.NamedNode(
    "urn:clew:told-in"
)  # no term of the vocabulary: from _ALL to an owner's graphs, see `owned`
_TOLD = (_ASKED_AT, _QUERY, _MECHANISM, _STATE, _WAITS, _RESUMED, _UNSAID, _SAID, PARENT, ASKER, PERSON)


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of a run in short, by predicate. More than one of a kind where batches differ."""

    texts: dict[ox.NamedNode, frozenset[str]]

    def __or__(self, other: Told) -> Told:
        return Told({predicate: found | other.texts[predicate] for predicate, found in self.texts.items()})


class View:
    """The runs of one collection in ``dataset``: all that is there, or what :func:`owned` wrote for ``owner``."""

    def __init__(self, dataset: ox.Store, owner: str | None = None) -> None:
        self._dataset = dataset
        self._prefix = None if owner is None else prefix_of(owner)
        self._index = RUNS if self._prefix is None else _owned_graph(self._prefix, RUNS)

    def exists(self) -> bool:
        """Whether anything was told here."""
        return next(self._dataset.quads_for_pattern(None, _CONTAINS, None, self._index), None) is not None

    def runs(self) -> Iterator[str]:
        """Every run of which anything was told."""
        found = self._dataset.quads_for_pattern(None, _CONTAINS, None, self._index)
        yield from dict.fromkeys(q.subject.value for q in found if isinstance(q.subject, ox.NamedNode))

    def quads(self, run: ox.NamedNode) -> Iterator[ox.Quad]:
        """What was told of ``run``, in the graphs in which it was told."""
        for subject in self._subjects(run):
            for quad in self.said(subject):
                yield quad if self._prefix is None else _told_in(self._prefix, quad)

    def told(self, run: ox.NamedNode) -> Told:
        """What was told of ``run`` in short."""
        found: dict[ox.NamedNode, frozenset[str]] = {}
        for predicate in _TOLD:
            quads = self._dataset.quads_for_pattern(run, predicate, None, self._index)
            found[predicate] = frozenset(
                q.object.value for q in quads if isinstance(q.object, ox.NamedNode | ox.Literal)
            )
        return Told(found)

    def erase(self, run: ox.NamedNode) -> bool:
        """Remove what was told of ``run`` and of no other run; whether there was anything.

        What names its subjects goes last: a removal that was cut short can be done again.
        """
        subjects = self._subjects(run)
        for subject in subjects:
            sharers = self._dataset.quads_for_pattern(None, _CONTAINS, subject, self._index)
            if all(quad.subject == run for quad in sharers):
                self._remove(self.said(subject))
        self._remove(self._dataset.quads_for_pattern(run, None, None, self._index))
        self._unlist(run)
        return bool(subjects)

    def clear(self) -> None:
        """Remove all that is here of the collection."""
        graphs = [*self._graphs(), self._index] if self._prefix else list(self._dataset.named_graphs())
        for graph in graphs:
            self._dataset.remove_graph(graph)

    def _subjects(self, run: ox.NamedNode) -> list[ox.NamedNode | ox.BlankNode]:
        return self._targets(run, _CONTAINS)

    def _graphs(self) -> list[ox.NamedNode]:
        """The graphs of this owner in a dataset of several."""
        return [graph for graph in self._targets(_ALL, _TOLD_IN) if isinstance(graph, ox.NamedNode)]

    def said(
        self,
        subject: ox.NamedNode | ox.BlankNode | None,
        predicate: ox.NamedNode | None = None,
        object_: ox.NamedNode | None = None,
    ) -> Iterator[ox.Quad]:
        """What was told in these words, as it stands in the dataset."""
        if self._prefix is None:
            found = self._dataset.quads_for_pattern(subject, predicate, object_, None)
            yield from (quad for quad in found if quad.graph_name != RUNS)
            return
        # Agents are subjects of every run of everybody, so only the graphs of this owner are looked at.
        for graph in self._graphs():
            yield from self._dataset.quads_for_pattern(subject, predicate, object_, graph)

    def note(self, run: ox.NamedNode, predicate: ox.NamedNode, what: ox.NamedNode | ox.Literal) -> None:
        """Add to what is told of ``run`` in short."""
        self._dataset.add(ox.Quad(run, predicate, what, self._index))

    def _unlist(self, run: ox.NamedNode) -> None:
        """Take ``run`` out of the lists of earlier versions, and what lists nothing then."""
        node: ox.NamedNode | ox.BlankNode = run
        while listing := list(self._dataset.quads_for_pattern(None, _LISTS, node, self._index)):
            self._remove(listing)
            above = listing[0].subject
            if not isinstance(above, ox.NamedNode) or above == _ALL or self._targets(above, _LISTS):
                return
            node = above

    def _remove(self, quads: Iterable[ox.Quad]) -> None:
        for quad in list(quads):
            self._dataset.remove(quad)

    def _targets(self, node: ox.NamedNode, predicate: ox.NamedNode) -> list[ox.NamedNode | ox.BlankNode]:
        objects = (q.object for q in self._dataset.quads_for_pattern(node, predicate, None, self._index))
        return [found for found in objects if isinstance(found, (ox.NamedNode, ox.BlankNode))]


def index(told: Digest) -> Iterator[ox.Quad]:
    """What the dataset keeps of a batch beside its quads. Raises ValueError for names that are no IRI."""
    run = named(told.run)
    for subject in told.subjects:
        target = ox.BlankNode(subject[2:]) if subject.startswith("_:") else named(subject)
        yield ox.Quad(run, _CONTAINS, target, RUNS)
    # That a run waits ends with the answer, which another batch tells: so the pauses are kept, and not the state. What
    # an answer came to may be told by another batch, too.
    said = ((_STATE, told.ends), (_UNSAID, told.answers - told.ended), (_SAID, told.ended - told.answers))
    for predicate, values in said:
        yield from (ox.Quad(run, predicate, ox.Literal(each), RUNS) for each in values)
    names = ((_WAITS, told.waits), (_RESUMED, told.resumed), (PERSON, told.persons))
    for predicate, found in names:
        yield from (ox.Quad(run, predicate, named(each), RUNS) for each in found)
    texts = [(PARENT, told.parent_run), (ASKER, told.person)]
    if told.asked_at:
        texts += [(_ASKED_AT, told.asked_at), (_QUERY, told.query), (_MECHANISM, told.mechanism)]
    for predicate, text in texts:
        if text or predicate == _QUERY:
            yield ox.Quad(run, predicate, ox.Literal(text), RUNS)


def owned(quads: Iterable[ox.Quad], owner: str) -> Iterator[ox.Quad]:
    """``quads`` for a dataset of several owners: in graphs of ``owner`` alone, which a :class:`View` undoes."""
    prefix = prefix_of(owner)
    graphs: dict[object, ox.NamedNode] = {}
    for quad in quads:
        if quad.graph_name not in graphs:
            graphs[quad.graph_name] = _owned_graph(prefix, quad.graph_name)
        yield ox.Quad(quad.subject, quad.predicate, quad.object, graphs[quad.graph_name])
    for told_in, graph in graphs.items():
        if told_in != RUNS:
            yield ox.Quad(_ALL, _TOLD_IN, graph, _owned_graph(prefix, RUNS))


def entry(views: Sequence[View], collection: str, run: ox.NamedNode) -> Entry:
    """A run as lists have it, by all that ``views`` know: its first batch may stand in one, its answer in another."""
    told = reduce(Told.__or__, (view.told(run) for view in views)).texts
    mechanism, asker = max(told[_MECHANISM], default=""), min(told[ASKER], default="")
    row = TraceRow(
        session_uri=run.value,
        mechanism=next((known for known in MECHANISMS if known == mechanism), "document-rag"),
        query=max(told[_QUERY], default=""),
        asked_at=min(told[_ASKED_AT], default=""),
        collection=collection,
        state=state_of(
            told[_STATE],
            answers=told[_UNSAID],
            ended=told[_SAID],
            waits=told[_WAITS],
            resumed=told[_RESUMED],
        ),
        person=name_of_person(asker),
    )
    return Entry(
        row=row, parent=min(told[PARENT], default=""), asker=asker, persons=tuple(sorted(told[PERSON]))
    )


def prefix_of(owner: str) -> str:
    """How the names of the graphs of ``owner`` begin in a dataset of several owners."""
    return f"urn:clew:of:{sha256(owner.encode()).hexdigest()}:"


def _owned_graph(prefix: str, graph: ox.NamedNode | ox.BlankNode | ox.DefaultGraph) -> ox.NamedNode:
    return named(prefix + (quote(graph.value, safe="") if isinstance(graph, ox.NamedNode) else ""))


def _told_in(prefix: str, quad: ox.Quad) -> ox.Quad:
    """``quad`` in the graph in which it was told."""
    assert isinstance(quad.graph_name, ox.NamedNode)
    name = unquote(quad.graph_name.value.removeprefix(prefix))
    graph = named(name) if name else ox.DefaultGraph()
    return ox.Quad(quad.subject, quad.predicate, quad.object, graph)


def told_quads(dataset: ox.Store, prefix: str) -> Iterator[ox.Quad]:
    """All quads of the owner whose graphs begin with ``prefix``, in the graphs in which they were told."""
    for graph in dataset.named_graphs():
        if (
            isinstance(graph, ox.NamedNode)
            and graph.value.startswith(prefix)
            and graph != _owned_graph(prefix, RUNS)
        ):
            for quad in dataset.quads_for_pattern(None, None, None, graph):
                yield _told_in(prefix, quad)
