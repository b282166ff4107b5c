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
    fail,
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
    text = _read() if query == "-" else utf8(query)
    found = start(_ask(load(data), utf8(collection), text, timeout, limit))
    if json:
        emit_json(results_json(found))
    else:
        _show(found)
    if found.truncated:
        say(err, f"there is more: these are the first {limit}, --limit takes up to 100000")


def _read() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        fail("bad-request", f"what stands on standard input is no UTF-8: {error}", 2)


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
    """SPARQL's results as JSON; ``triples`` are lines of N-Triples."""
    from clew_services.core.sparql_json import write_result

    told = write_result(found)
    return told | {"triples": _n_triples(found)} if "triples" in told else told


def _n_triples(found: QueryResult) -> list[str]:
    """Lines in which nothing moves the cursor or turns the writing, and nothing is lost: N-Triples can escape all."""
    from clew_translators.quads import to_nquads

    text = "".join(c if c.isprintable() or c == "\n" else _escaped(c) for c in to_nquads(found.triples))
    return text.split("\n")[:-1]


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
