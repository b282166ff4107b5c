"""The index of runs, made from datasets that have none: those of an earlier Clew, or when its file was lost.

A pass over what each dataset says of its runs in short; some 20,000 runs a second. A collection is found by the name
that its runs tell. Where none does (traces of TrustGraph), it is found when somebody asks for it by its name.
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import chain, islice
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyoxigraph as ox

from clew_schema.limits import DEFAULT_COLLECTION
from clew_services.adapters.stores.oxigraph_runs import ASKER, PARENT, PERSON, RUNS, View, entry, prefix_of
from clew_services.adapters.stores.oxigraph_terms import named
from clew_translators import namespaces as ns
from clew_translators.explain import names
from clew_translators.trace import run_of_step
from clew_translators.trace_digest import name_of_person

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew_services.adapters.stores.oxigraph_index import RunIndex

_COLLECTION = ox.NamedNode(names.COLLECTION)
_PARENTS = (ox.NamedNode(names.PARENT), ox.NamedNode(ns.PROV_WAS_DERIVED_FROM))
_TYPE = ox.NamedNode(ns.RDF_TYPE)
_IS_PERSON = ox.NamedNode(ns.PROV_PERSON)
_TOOK_PART = (ox.NamedNode(ns.PROV_WAS_ASSOCIATED_WITH), ox.NamedNode(ns.PROV_WAS_ATTRIBUTED_TO))
_OWN_RUNS = quote(RUNS.value, safe="")


def adopt(index: RunIndex, collection: str, views: Sequence[View]) -> None:
    """Write what ``views`` hold of ``collection`` to the index, and to them what earlier versions did not write."""
    for view in views:
        _complete(view)
    for run in dict.fromkeys(run for view in views for run in view.runs()):
        index.put(entry(views, collection, named(run)))


def _complete(view: View) -> None:
    """Who took part in which run, and which run asked for which, is told in full; here also in short."""
    for person in {quad.subject for quad in view.said(None, _TYPE, _IS_PERSON)}:
        if not isinstance(person, ox.NamedNode) or not name_of_person(person.value):
            continue
        for predicate in _TOOK_PART:
            for quad in list(view.said(None, predicate, person)):
                step = quad.subject.value if isinstance(quad.subject, ox.NamedNode) else ""
                if run := run_of_step(step):
                    view.note(named(run), PERSON, person)
                    if step in {run, f"{run}/question"}:
                        view.note(named(run), ASKER, ox.Literal(person.value))
    for name in view.runs():
        run_node = named(name)
        found = [
            q.object.value
            for p in _PARENTS
            for q in view.said(run_node, p)
            if isinstance(q.object, ox.NamedNode)
        ]
        if found:
            view.note(run_node, PARENT, ox.Literal(run_of_step(found[0]) or found[0]))


def collections_of_folder(dataset: ox.Store, folder: str) -> Iterator[str]:
    """The collection whose dataset is in ``folder``, as its runs tell; nothing when none does."""
    names_ = chain([DEFAULT_COLLECTION], _texts(dataset, None))
    yield from islice((name for name in names_ if folder_name(name) == folder), 1)


def collections_of_shared(dataset: ox.Store) -> Iterator[str]:
    """The collections that have graphs in a dataset of several, as their runs tell."""
    prefixes = {
        g.value.removesuffix(_OWN_RUNS) for g in dataset.named_graphs() if g.value.endswith(_OWN_RUNS)
    }
    for prefix in sorted(prefixes):
        if prefix == prefix_of(DEFAULT_COLLECTION):
            yield DEFAULT_COLLECTION
            continue
        graph = named(prefix + quote(ns.GRAPH_PROVENANCE, safe=""))
        found = _texts(dataset, graph)
        yield from [name for name in dict.fromkeys(found) if prefix_of(name) == prefix][:1]


def _texts(dataset: ox.Store, graph: ox.NamedNode | None) -> Iterator[str]:
    """The names of collections that are told."""
    for quad in dataset.quads_for_pattern(None, _COLLECTION, None, graph):
        if isinstance(quad.object, ox.Literal):
            yield quad.object.value


def folder_name(collection: str) -> str:
    """The folder of a collection: readable as far as a file system allows, and different for different names."""
    readable = re.sub(r"[^a-z0-9]+", "-", collection.lower()).strip("-")[:32]
    return f"{readable or 'collection'}-{sha256(collection.encode()).hexdigest()[:16]}"
