"""The process of one SPARQL query: reads what to do as JSON on standard input, writes the result as JSON, and ends.

Started by :mod:`clew_services.adapters.stores.oxigraph_query`. The datasets it opens are snapshots of its own.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from clew_services.adapters.stores.oxigraph_query_sealed import seal
from clew_services.adapters.stores.oxigraph_runs import RUNS, told_quads
from clew_services.adapters.stores.oxigraph_terms import from_node

if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY = 4 * 2**30
"""Bytes of address space."""

GRACE = 5
"""Seconds beyond those of the query that a process lives whose parent is gone."""


def main() -> None:
    """Answer what is asked on standard input."""
    seal()
    task = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    # Whoever started us ends us in time; should they be gone, the kernel does, whatever the query is doing then.
    signal.alarm(int(task["seconds"]) + GRACE)
    json.dump(answer(_dataset(task), task["sparql"], task["limit"]), sys.stdout)


def answer(dataset: ox.Store, sparql: str, limit: int) -> dict[str, Any]:
    """The fields of a QueryResult over all graphs of ``dataset`` but the store's own; or why it is ``refused``."""
    graphs = [graph for graph in dataset.named_graphs() if graph != RUNS]
    try:
        found = dataset.query(sparql, default_graph=[ox.DefaultGraph(), *graphs], named_graphs=graphs)
        if isinstance(found, ox.QueryBoolean):
            return {"boolean": bool(found)}
        if isinstance(found, ox.QueryTriples):
            triples, more = _first(found, limit)
            shown = [{"s": _term(t.subject), "p": _term(t.predicate), "o": _term(t.object)} for t in triples]
            return {"triples": shown, "truncated": more}
        rows, more = _first(found, limit)
        names = [variable.value for variable in found.variables]
        return {
            "variables": names,
            "rows": [[_term(term) for term in row] for row in rows],
            "truncated": more,
        }
    except (SyntaxError, ValueError) as error:
        return {"refused": f"no SPARQL query: {error}"[:1_000]}
    except (OSError, RuntimeError) as error:  # nothing is fetched from elsewhere, and no service is asked
        return {"refused": f"this query cannot be answered here: {error}"[:1_000]}


def _dataset(task: dict[str, Any]) -> ox.Store:
    dataset = ox.Store(task["own"]) if task["own"] else ox.Store()
    if task["file"]:
        dataset.bulk_load(path=task["file"], format=ox.RdfFormat.N_QUADS)
    if task["shared"]:
        dataset.bulk_extend(told_quads(ox.Store(task["shared"]), task["prefix"]))
    return dataset


def _first(found: Iterable[Any], limit: int) -> tuple[list[Any], bool]:
    taken = list(islice(found, limit + 1))
    return taken[:limit], len(taken) > limit


def _term(node: Any) -> dict[str, Any] | None:
    return None if node is None else from_node(node).model_dump(mode="json", exclude_defaults=False)


if __name__ == "__main__":
    main()
