"""What finds and lists runs in an RDF dataset: written beside a run's quads, in ``urn:graph:runs``.

Which subjects a run has, and runs by day, minute and second, so a list never looks at more than it shows.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import pyoxigraph as ox

from clew_services.adapters.stores.oxigraph_terms import named
from clew_services.ports import TraceRow
from clew_translators.namespaces import CLEW
from clew_translators.trace import MECHANISMS, STATES

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
_TOLD_IN = ox.NamedNode(
    "urn:clew:told-in"
)  # no term of the vocabulary: from _ALL to an owner's graphs, see `owned`

_LEVELS = (10, 16, 19)  # characters of 2026-01-31T12:34:56 that name a day, a minute, a second


class View:
    """The runs of one collection in ``dataset``: all that is there, or what :func:`owned` wrote for ``owner``."""

    def __init__(self, dataset: ox.Store, owner: str | None = None) -> None:
        self._dataset = dataset
        self._prefix = None if owner is None else _prefix(owner)
        self._index = RUNS if self._prefix is None else _owned_graph(self._prefix, RUNS)

    def newest(self, limit: int) -> Sequence[ox.NamedNode]:
        """At most ``limit`` of the runs that callers asked, newest first."""
        return tuple(islice(self._newest(_ALL, len(_LEVELS)), max(0, limit)))

    def quads(self, run: ox.NamedNode) -> Iterator[ox.Quad]:
        """What was told of ``run``, in the graphs in which it was told."""
        for subject in self._targets(run, _CONTAINS):
            if self._prefix is None:
                found = self._dataset.quads_for_pattern(subject, None, None, None)
                yield from (quad for quad in found if quad.graph_name != RUNS)
                continue
            # Agents are subjects of every run of everybody, so only the graphs of this owner are looked at.
            for graph in self._targets(_ALL, _TOLD_IN):
                told_in = _told_graph(self._prefix, graph.value)
                for quad in self._dataset.quads_for_pattern(subject, None, None, graph):
                    yield ox.Quad(quad.subject, quad.predicate, quad.object, told_in)

    def asked_at(self, run: ox.NamedNode) -> set[str]:
        """When it was asked, as was told."""
        return self._texts(run, _ASKED_AT)

    def facts(self, run: ox.NamedNode) -> tuple[set[str], set[str], set[str]]:
        """Questions, mechanisms and states of ``run``, as were told: mostly one of each."""
        return self._texts(run, _QUERY), self._texts(run, _MECHANISM), self._texts(run, _STATE)

    def pauses(self, run: ox.NamedNode) -> tuple[set[str], set[str]]:
        """The pauses of ``run`` that were told, and those that ended."""
        told, over = (
            {node.value for node in self._targets(run, predicate)} for predicate in (_WAITS, _RESUMED)
        )
        return told, over

    def _newest(self, node: ox.NamedNode, depth: int) -> Iterator[ox.NamedNode]:
        """The runs below ``node``, newest first; ``depth`` levels of time lie between."""
        children = [child for child in self._targets(node, _LISTS) if isinstance(child, ox.NamedNode)]
        if depth == 0:
            yield from sorted(
                children, key=lambda run: (max(self.asked_at(run), default=""), run.value), reverse=True
            )
            return
        for child in sorted(children, key=lambda bucket: bucket.value, reverse=True):
            yield from self._newest(child, depth - 1)

    def _targets(self, node: ox.NamedNode, predicate: ox.NamedNode) -> list[ox.NamedNode | ox.BlankNode]:
        objects = (q.object for q in self._dataset.quads_for_pattern(node, predicate, None, self._index))
        return [found for found in objects if isinstance(found, (ox.NamedNode, ox.BlankNode))]

    def _texts(self, node: ox.NamedNode, predicate: ox.NamedNode) -> set[str]:
        objects = (q.object for q in self._dataset.quads_for_pattern(node, predicate, None, self._index))
        return {found.value for found in objects if isinstance(found, ox.Literal)}


def index(told: Digest) -> Iterator[ox.Quad]:
    """What finds and lists the run. All of it may be written again. Raises ValueError for names that are no IRI."""
    run = named(told.run)
    for subject in told.subjects:
        target = ox.BlankNode(subject[2:]) if subject.startswith("_:") else named(subject)
        yield ox.Quad(run, _CONTAINS, target, RUNS)
    # That a run waits ends with the answer, which another batch tells: so the pauses are kept, and not the state.
    if told.state != "running" and not (told.state == "needs_input" and told.waits):
        yield ox.Quad(run, _STATE, ox.Literal(told.state), RUNS)
    for predicate, pauses in ((_WAITS, told.waits), (_RESUMED, told.resumed)):
        yield from (ox.Quad(run, predicate, named(pause), RUNS) for pause in pauses)
    if told.asked_at:
        yield ox.Quad(run, _ASKED_AT, ox.Literal(told.asked_at), RUNS)
        yield ox.Quad(run, _QUERY, ox.Literal(told.query), RUNS)
        yield ox.Quad(run, _MECHANISM, ox.Literal(told.mechanism), RUNS)
    if told.asked_at and not told.parent:
        node = _ALL
        for length in _LEVELS:
            child = named(f"urn:clew:runs:{quote(told.asked_at[:length], safe='')}")
            yield ox.Quad(node, _LISTS, child, RUNS)
            node = child
        yield ox.Quad(node, _LISTS, run, RUNS)


def owned(quads: Iterable[ox.Quad], owner: str) -> Iterator[ox.Quad]:
    """``quads`` for a dataset of several owners: in graphs of ``owner`` alone, which a :class:`View` undoes."""
    prefix = _prefix(owner)
    graphs: dict[object, ox.NamedNode] = {}
    for quad in quads:
        if quad.graph_name not in graphs:
            graphs[quad.graph_name] = _owned_graph(prefix, quad.graph_name)
        yield ox.Quad(quad.subject, quad.predicate, quad.object, graphs[quad.graph_name])
    for told_in, graph in graphs.items():
        if told_in != RUNS:
            yield ox.Quad(_ALL, _TOLD_IN, graph, _owned_graph(prefix, RUNS))


def row(views: Sequence[View], collection: str, run: ox.NamedNode) -> TraceRow:
    """A run in a list, by all that ``views`` know of it: its first batch may stand in one, its answer in another."""
    queries, mechanisms, states = (
        set().union(*found) for found in zip(*(v.facts(run) for v in views), strict=True)
    )
    waits, resumed = (set().union(*found) for found in zip(*(v.pauses(run) for v in views), strict=True))
    if waits - resumed:
        states = states | {"needs_input"}
    mechanism = max(mechanisms, default="")
    return TraceRow(
        session_uri=run.value,
        mechanism=next((known for known in MECHANISMS if known == mechanism), "document-rag"),
        query=max(queries, default=""),
        asked_at=max((time for view in views for time in view.asked_at(run)), default=""),
        collection=collection,
        state=max((state for state in STATES if state in states), key=STATES.index, default="running"),
    )


def _prefix(owner: str) -> str:
    return f"urn:clew:of:{sha256(owner.encode()).hexdigest()}:"


def _owned_graph(prefix: str, graph: ox.NamedNode | ox.BlankNode | ox.DefaultGraph) -> ox.NamedNode:
    return named(prefix + (quote(graph.value, safe="") if isinstance(graph, ox.NamedNode) else ""))


def _told_graph(prefix: str, graph: str) -> ox.NamedNode | ox.DefaultGraph:
    told_in = unquote(graph.removeprefix(prefix))
    return named(told_in) if told_in else ox.DefaultGraph()
