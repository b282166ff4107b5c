"""``clew trace validate``: is a run, or anybody's PROV document, valid?"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    emit_json,
    fail,
    load,
    out,
    say,
    start,
    tell_error,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.rdf import Triple
    from clew_services.settings import Settings
    from clew_translators.validating import Finding, Report

SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="ID|FILE...",
        help="Runs, as in `clew trace show`, and files of any PROV format; - is standard input.",
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        help="Of the files: provn, provjson, provxml, or an RDF syntax; told by their names and beginnings without it.",
    ),
]


class Unreadable(Exception):
    """There is nothing to judge; ``kind`` is the error's type."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def validate(
    sources: SourcesArgument,
    format_: FormatOption = "",
    collection: CollectionOption = "default",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Say whether runs, or PROV documents of anybody, are valid: by constraint, and where.

    PROV-CONSTRAINTS are checked on all; on runs of Clew also their shapes (SHACL) and their seals.
    Ends with 1 where something is invalid, with 2 where something cannot be read at all.
    """
    from clew_translators.prov.formats import FORMATS, UnknownFormat
    from clew_translators.validating import validate as report_on

    if format_ and format_ not in FORMATS:
        fail("unknown-format", str(UnknownFormat(format_)), 2)
    logging.getLogger("rdflib").setLevel(
        logging.CRITICAL
    )  # it tells of values that it cannot read, at length
    settings = load(data)
    code = 0
    for source in sources:
        try:
            found = _content(source) if _is_file(source) else start(_quads(settings, collection, source))
        except Unreadable as error:
            code = 2
            _tell_unreadable(source, error, json)
            continue
        report = report_on(found, format_ or None if isinstance(found, bytes) else None, name=source)
        code = code or (0 if report.valid else 1)
        _tell(source, report, json)
    raise typer.Exit(code)


def _is_file(source: str) -> bool:
    """Whether ``source`` means a file; runs are named by ids and URNs, which hold no path and no ending."""
    try:
        if source == "-" or Path(source).exists():
            return True
    except OSError:  # no file can have such a name, or nobody may look: reading says which
        return True
    return not source.startswith("urn:") and ("/" in source or "." in source)


def _content(source: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise Unreadable("unusable", f"{source}: {error.strerror}") from None


async def _quads(settings: Settings, collection: str, run: str) -> Sequence[Triple]:
    from clew_services.cli.connect import traces_of
    from clew_services.cli.trace import named
    from clew_services.errors import ClewError

    async def read(uri: str) -> Sequence[Triple] | None:
        return await store.run(collection, uri) or None

    try:
        async with traces_of(settings) as store:
            found = await named(store, collection, run, read)
    except ClewError as error:
        raise Unreadable(error.type, str(error)) from None
    if found is None:
        raise Unreadable(
            "unknown-run",
            f"there is no file {run!r}, and collection {collection!r} has no such run: see `clew trace list`",
        )
    return found


def _tell_unreadable(source: str, error: Unreadable, json: bool) -> None:
    if json:
        emit_json({"source": source, "error": {"type": error.kind, "message": str(error)}})
    else:
        tell_error(error.kind, str(error))


def _tell(source: str, report: Report, json: bool) -> None:
    if json:
        emit_json({"source": source} | report.to_json())
        return
    verdict = ("valid", "green") if report.valid else ("INVALID", "bold red")
    what = "a run of Clew, " if report.ours else ""
    counted = f"{report.statements} statements" if report.statements != 1 else "1 statement"
    say(out, (source, "bold"), "  ", verdict, f"  {what}{report.format}, {counted}", whole=True)
    for finding in report.findings:
        say(out, *_line(finding), whole=True)
    say(out, ("  checked: " + ", ".join(_CHECKED[kind] for kind in report.checked), "dim"), whole=True)


_CHECKED = {
    "syntax": "syntax",
    "constraint": "PROV-CONSTRAINTS",
    "shape": "SHACL shapes",
    "prov": "reading by the prov package",
    "seal": "seals",
}


def _line(finding: Finding) -> list[str | tuple[str, str]]:
    title = f"{finding.kind} {finding.name}".strip()
    where: list[str | tuple[str, str]] = [(f"  ({finding.where})", "dim")] if finding.where else []
    return ["  ", (title, "yellow"), f"  {finding.message}", *where]
