"""``clew trace sparql``: a question of one's own about the runs of a collection."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    clean,
    emit_json,
    err,
    load,
    out,
    say,
    start,
    utf8,
)

if TYPE_CHECKING:
    from clew_schema.rdf import Term
    from clew_services.ports import QueryResult
    from clew_services.settings import Settings


def sparql(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="SPARQL 1.1; - reads it from standard input.")
    ],
    collection: CollectionOption = "default",
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, max=600, help="Seconds after which it is given up.")
    ] = 10.0,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=100_000, help="At most so many rows or triples.")
    ] = 1_000,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Ask the traces of a collection in SPARQL: SELECT, ASK, CONSTRUCT or DESCRIBE. Nothing is changed.

    The graphs are `urn:graph:retrieval` and `urn:graph:provenance`; without GRAPH a pattern looks into both, and a
    triple that both hold may be found twice. In JSON rows are SPARQL's own results format, triples N-Triples.
    """
    text = sys.stdin.read() if query == "-" else utf8(query)
    found = start(_ask(load(data), utf8(collection), text, timeout, limit))
    if json:
        emit_json(results_json(found))
    else:
        _show(found)
    if found.truncated:
        say(err, f"there is more: these are the first {limit}, --limit takes up to 100000")


async def _ask(settings: Settings, collection: str, text: str, timeout: float, limit: int) -> QueryResult:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        return await store.query(collection, text, seconds=timeout, limit=limit)


def _show(found: QueryResult) -> None:
    if found.boolean is not None:
        say(out, "yes" if found.boolean else "no")
    elif found.variables or found.rows:
        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for name in found.variables:
            table.add_column(Text(name), overflow="fold")
        for row in found.rows:
            table.add_row(*(Text(clean(short_term(term))) for term in row))
        out.print(table)
    else:
        for line in _n_triples(found):
            say(out, line, whole=True)


def short_term(term: Term | None) -> str:
    """A term for a table: a literal is its text, an IRI stands in angle brackets."""
    if term is None:
        return ""
    if term.type == "l":
        return term.value + (f"@{term.language}" if term.language else "")
    if term.type == "t" and term.triple is not None:
        parts = (short_term(part) for part in (term.triple.s, term.triple.p, term.triple.o))
        return f"<< {' '.join(parts)} >>"
    return f"_:{term.id}" if term.type == "b" else f"<{term.iri}>"


def results_json(found: QueryResult) -> dict[str, Any]:
    """SPARQL 1.1 Query Results JSON; ``triples`` are lines of N-Triples. ``truncated`` is there when it is true."""
    more = {"truncated": True} if found.truncated else {}
    if found.boolean is not None:
        return {"head": {}, "boolean": found.boolean}
    if not found.variables and not found.rows:
        return {"triples": _n_triples(found)} | more
    bindings = [
        {name: _binding(term) for name, term in zip(found.variables, row, strict=True) if term is not None}
        for row in found.rows
    ]
    return {"head": {"vars": list(found.variables)}, "results": {"bindings": bindings}} | more


def _binding(term: Term) -> dict[str, Any]:
    match term.type:
        case "i":
            return {"type": "uri", "value": term.iri}
        case "b":
            return {"type": "bnode", "value": term.id}
        case "t" if term.triple is not None:
            parts = {"subject": term.triple.s, "predicate": term.triple.p, "object": term.triple.o}
            return {"type": "triple", "value": {name: _binding(part) for name, part in parts.items() if part}}
        case _:
            found = {"type": "literal", "value": term.value}
            if term.language:
                found["xml:lang"] = term.language
            elif term.datatype:
                found["datatype"] = term.datatype
            return found


def _n_triples(found: QueryResult) -> list[str]:
    from clew_translators.quads import to_nquads

    return to_nquads(found.triples).splitlines()
