"""The result of a SPARQL query as JSON, and back: for other programs, and between our own.

SELECT and ASK: W3C SPARQL 1.1 Query Results JSON (https://www.w3.org/TR/sparql11-results-json/), quoted triples as
SPARQL 1.2 has them. CONSTRUCT and DESCRIBE, of which that does not speak: ``{"triples": [...]}``, each as on the bus.
Beside any of them stands ``"truncated": true`` when there was more than was wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted
from clew_services.ports import QueryResult

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_NESTING = 64
"""How deep triples may be quoted in triples that are read."""


def write_result(found: QueryResult) -> dict[str, Any]:
    """``found`` as JSON values. One without rows, variables and triples is written as no triples."""
    more = {"truncated": True} if found.truncated else {}
    if found.boolean is not None:
        return {"head": {}, "boolean": found.boolean} | more
    if found.variables or found.rows:
        rows = (zip(found.variables, row, strict=True) for row in found.rows)
        bindings = [{name: _written(term) for name, term in row if term is not None} for row in rows]
        return {"head": {"vars": list(found.variables)}, "results": {"bindings": bindings}} | more
    return {"triples": [triple.model_dump(mode="json") for triple in found.triples]} | more


def read_result(told: Mapping[str, Any]) -> QueryResult:
    """What :func:`write_result` wrote. Raises ValueError for anything else."""
    truncated, boolean = told.get("truncated", False), told.get("boolean")
    if not isinstance(truncated, bool) or not isinstance(boolean, bool | None):
        raise ValueError("truncated and boolean must be true or false")  # noqa: TRY004 - of JSON, not of a caller
    if boolean is not None:
        return QueryResult(boolean=boolean, truncated=truncated)
    try:
        if "triples" in told:
            triples = tuple(Triple.model_validate(triple) for triple in told["triples"])
            return QueryResult(triples=triples, truncated=truncated)
        variables = tuple(told["head"]["vars"])
        rows = tuple(
            tuple(_read(row[name]) if name in row else None for name in variables)
            for row in told["results"]["bindings"]
        )
    except ValidationError as error:
        raise ValueError(f"a triple is none: {error.error_count()} fields") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"neither bindings nor a boolean nor triples: {error}") from error
    if not all(isinstance(name, str) for name in variables):
        raise ValueError("a variable that has no name")
    return QueryResult(variables=variables, rows=rows, truncated=truncated)


def _written(term: Term) -> dict[str, Any]:
    match term.type:
        case "i":
            return {"type": "uri", "value": term.iri}
        case "b":
            return {"type": "bnode", "value": term.id}
        case "t":
            inner = term.triple or Triple()
            parts = (("subject", inner.s), ("predicate", inner.p), ("object", inner.o))
            return {"type": "triple", "value": {name: _written(part) for name, part in parts if part}}
    kind = {"xml:lang": term.language} if term.language else {"datatype": term.datatype}
    return {"type": "literal", "value": term.value} | {name: text for name, text in kind.items() if text}


def _read(told: Mapping[str, Any], depth: int = 0) -> Term:
    kind, value = told["type"], told["value"]
    if kind == "triple" and depth < MAX_NESTING:
        s, p, o = (_read(value[part], depth + 1) for part in ("subject", "predicate", "object"))
        return quoted(Triple(s=s, p=p, o=o))
    if not isinstance(value, str):
        raise TypeError(f"a value of type {type(value).__name__}")
    match kind:
        case "uri":
            return iri(value)
        case "bnode":
            return blank(value)
        case "literal":
            return literal(value, datatype=told.get("datatype", ""), language=told.get("xml:lang", ""))
    raise TypeError(f"a term of type {str(kind)[:40]!r}")
