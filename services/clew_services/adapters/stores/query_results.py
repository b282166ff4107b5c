"""The result of a SPARQL query, read from the JSON in which another process told it. See QueryResult."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from clew_schema.rdf import Term, Triple
from clew_services.errors import StoreFailed
from clew_services.ports import QueryResult


class _Told(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    variables: tuple[str, ...] = ()
    rows: tuple[tuple[Term | None, ...], ...] = ()
    boolean: bool | None = None
    triples: tuple[Triple, ...] = ()
    truncated: bool = False


def read_result(told: Any) -> QueryResult:
    """``told`` is an object with the fields of a QueryResult, terms and triples as on the bus. Raises StoreFailed."""
    try:
        read = _Told.model_validate(told)
    except ValidationError as error:
        raise StoreFailed(f"a query's result is none of ours: {error.error_count()} fields") from error
    return QueryResult(
        variables=read.variables,
        rows=read.rows,
        boolean=read.boolean,
        triples=read.triples,
        truncated=read.truncated,
    )
