"""What a SPARQL server answers to a caller's query, as a QueryResult."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from clew_schema.rdf import Triple
from clew_services.adapters.stores.oxigraph_terms import from_node
from clew_services.adapters.stores.sparql_client import N_TRIPLES
from clew_services.adapters.stores.sparql_questions import HIDDEN
from clew_services.adapters.stores.sparql_terms import term_of, told
from clew_services.errors import StoreFailed
from clew_services.ports import QueryResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew_schema.rdf import Term
    from clew_services.adapters.stores.sparql_client import Parameters, SparqlClient


async def ask(
    client: SparqlClient, form: str, parameters: Parameters, *, seconds: float, limit: int
) -> QueryResult:
    """What comes of a query of that ``form``, cut after ``limit`` rows or triples. Raises as the client does."""
    if form in {"CONSTRUCT", "DESCRIBE"}:
        body = await client.fetch(parameters, seconds, N_TRIPLES, lines=2 * limit + 1)
        triples = list(dict.fromkeys(_triples(body)))
        return QueryResult(triples=tuple(triples[:limit]), truncated=len(triples) > limit)
    answer = await client.results(parameters, seconds)
    if form == "ASK":
        if not isinstance(answer.get("boolean"), bool):
            raise StoreFailed("the SPARQL server's reply is no result of an ASK")
        return QueryResult(boolean=answer["boolean"])
    try:
        named, found = answer["head"]["vars"], answer["results"]["bindings"]
        variables = tuple(name for name in named if not name.startswith(HIDDEN))
        rows = tuple(tuple(_bound(row, name) for name in variables) for row in found)
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreFailed("the SPARQL server's reply is no result of a SELECT") from error
    return QueryResult(variables=variables, rows=rows[:limit], truncated=len(rows) > limit)


def _triples(body: bytes) -> Iterator[Triple]:
    whole = body[: body.rfind(b"\n") + 1]  # the reply may have been cut short
    try:
        for triple in ox.parse(whole, format=ox.RdfFormat.N_TRIPLES):
            s, p, o = (told(from_node(part)) for part in (triple.subject, triple.predicate, triple.object))
            yield Triple(s=s, p=p, o=o)
    except (SyntaxError, ValueError) as error:
        raise StoreFailed(f"the SPARQL server's reply is no N-Triples: {error}") from error


def _bound(row: dict[str, dict[str, Any]], name: str) -> Term | None:
    return term_of(row[name]) if name in row else None
