"""``clew trace export``: a stored run in the formats of other programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators.explain.facts import facts_of
from clew_translators.exports import FORMATS, export
from clew_translators.prov.formats import format_of, read
from clew_translators.prov.rdf_text import read_rdf_text
from clew_translators.prov.read_rdf import read_quads
from tests.cli.shell import Shell
from tests.translators import runs

QUADS = runs.quads_of(runs.DOCUMENT_BATCHES)
COLLECTION = ("--collection", "manuals")


@pytest.fixture
async def shell(tmp_path: Path) -> Shell:
    store = OxigraphTraceStore(tmp_path / "traces")
    await store.add(runs.DOCUMENT_BATCHES)
    await store.close()
    return Shell(data=tmp_path)


@pytest.mark.parametrize("format_", FORMATS)
def test_a_run_in_every_format(shell: Shell, format_: str) -> None:
    said = shell.run("trace", "export", runs.SESSION, *COLLECTION, "--format", format_)
    assert (said.code, said.err) == (0, "")
    if format_ in {"nquads", "trig", "jsonld"}:
        assert format_of(said.out) == format_
        assert facts_of(read_rdf_text(said.out, format_)) == runs.DOCUMENT_RUN
    elif format_ == "otlp":
        ((resource,),) = [line["resourceSpans"] for line in said.lines]
        assert len(resource["scopeSpans"][0]["spans"]) == len(runs.DOCUMENT_RUN)
    else:
        known = {each.id for each in read_quads(QUADS).statements}
        assert {each.id for each in read(said.out, format_).statements} == known


def test_trig_unless_something_else_is_asked_for(shell: Shell, tmp_path: Path) -> None:
    target = tmp_path / "run.trig"
    said = shell.run("trace", "export", runs.SESSION[:8], *COLLECTION, "--output", target)
    assert (said.code, said.out, said.err) == (0, "", "")
    text = target.read_text()
    assert text.startswith("@prefix clew: <urn:clew:ns#> .\n")
    assert len(read_rdf_text(text, "trig")) == len(set(export(QUADS, "nquads").splitlines()))


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("no-such-run", *COLLECTION), 1, "unknown-run"),
        ((runs.SESSION,), 1, "unknown-run"),  # it is in another collection
        ((runs.SESSION, *COLLECTION, "--format", "poem"), 2, "the formats are nquads, trig"),
        ((runs.SESSION, *COLLECTION, "--output", "no/such/folder/x"), 1, "no/such/folder/x: No such file"),
    ],
)
def test_what_cannot_be_exported_says_so(
    shell: Shell, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    said = shell.run("trace", "export", *arguments)
    assert (said.code, said.out) == (code, "")
    assert problem in said.err
