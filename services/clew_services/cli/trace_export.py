"""``clew trace export``: a run in the formats that other programs read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import CollectionOption, DataOption, fail, load, start
from clew_services.cli.trace_why import RunArgument, uri_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.rdf import Triple
    from clew_services.settings import Settings

FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        help="nquads, trig or jsonld, with all graphs; turtle, provn, provjson or provxml, with the provenance;"
        " otlp, spans for OpenTelemetry.",
    ),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write it there, and not on standard output.")
]


def export(
    run: RunArgument,
    format_: FormatOption = "trig",
    output: OutputOption = None,
    collection: CollectionOption = "default",
    data: DataOption = None,
) -> None:
    """Write one run as RDF, as a W3C PROV document or as spans, for other programs.

    The provenance is what the run has in the graph `urn:graph:provenance`, in terms of PROV.
    """
    from clew_translators.exports import UnknownFormat, check_format
    from clew_translators.exports import export as exported

    try:
        check_format(format_)
    except UnknownFormat as error:
        fail("unknown-format", str(error), 2)
    quads = start(_quads(load(data), collection, run))
    try:
        text = exported(quads, format_)
    except ValueError as error:
        fail("unreadable-trace", f"{run} cannot be written as {format_}: {error}")
    _write(text.encode(), output)


def _write(content: bytes, output: Path | None) -> None:
    if output is not None:
        try:
            output.write_bytes(content)
        except OSError as error:
            fail("unusable", f"{output}: {error.strerror}")
        return
    sys.stdout.flush()
    with open(sys.stdout.fileno(), "wb", closefd=False) as pipe:
        pipe.write(content)  # whole, also where standard output itself is not buffered


async def _quads(settings: Settings, collection: str, run: str) -> Sequence[Triple]:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        return await store.run(collection, await uri_of(store, collection, run))
