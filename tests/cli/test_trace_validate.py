"""``clew trace validate``: runs that are stored, files of anybody, and standard input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators.exports import export
from clew_translators.prov.read_rdf import read_quads
from tests.cli.shell import Shell
from tests.translators import runs

QUADS = runs.quads_of(runs.DOCUMENT_BATCHES)
COLLECTION = ("--collection", "manuals")
INVALID = "document prefix ex <https://ex.org/> entity(ex:x) activity(ex:x) endDocument"


@pytest.fixture
async def shell(tmp_path: Path) -> Shell:
    store = OxigraphTraceStore(tmp_path / "traces")
    await store.add(runs.DOCUMENT_BATCHES)
    await store.close()
    return Shell(data=tmp_path)


def test_a_stored_run(shell: Shell) -> None:
    said = shell.run("trace", "validate", runs.SESSION, *COLLECTION)
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        f"{runs.SESSION}  valid  a run of Clew, quads, {len(read_quads(QUADS).statements)} statements",
        "  checked: syntax, PROV-CONSTRAINTS, SHACL shapes, reading by the prov package",
    ]


def test_files_of_several_formats_one_of_them_invalid(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "good.xml").write_text(export(QUADS, "provxml"))
    (tmp_path / "bad.provn").write_text(INVALID)
    (tmp_path / "torn.ttl").write_text("@prefix a: <urn:a:> .\na:b")
    names = [str(tmp_path / name) for name in ("good.xml", "bad.provn", "torn.ttl")]
    said = shell.run("trace", "validate", *names, "--json")
    good, bad, torn = said.lines
    assert said.code == 1
    assert [each["source"] for each in said.lines] == names
    assert (good["valid"], good["format"], good["findings"]) == (True, "provxml", [])
    assert (bad["valid"], bad["format"]) == (False, "provn")
    assert [(each["kind"], each["name"], each["where"]) for each in bad["findings"]] == [
        ("constraint", "55", "https://ex.org/x")
    ]
    assert [each["kind"] for each in torn["findings"]] == ["syntax"]
    assert torn["findings"][0]["where"] == "line 2"


def test_what_is_wrong_is_told_by_number_and_place(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "bad.provn"
    path.write_text(INVALID)
    said = shell.run("trace", "validate", path)
    head, line, checked = said.out.splitlines()
    assert (said.code, head) == (1, f"{path}  INVALID  provn, 2 statements")
    assert line.startswith("  constraint 55  ")
    assert line.endswith("  (https://ex.org/x)")
    assert checked == "  checked: syntax, PROV-CONSTRAINTS"


def test_standard_input_and_a_format_that_is_said(shell: Shell) -> None:
    said = shell.sh(f"clew trace export {runs.SESSION} -c manuals -f provjson | clew trace validate - --json")
    (report,) = said.lines
    assert said.code == 0
    assert (report["source"], report["format"], report["valid"], report["ours"]) == (
        "-",
        "provjson",
        True,
        True,
    )
    said = shell.sh("echo '{}' | clew trace validate - --format provn")
    assert said.code == 1
    assert "line 1, column 1" in said.out


def test_what_cannot_be_read_at_all_ends_with_two_and_the_others_are_judged(
    shell: Shell, tmp_path: Path
) -> None:
    (tmp_path / "bad.provn").write_text(INVALID)
    missing = str(tmp_path / "missing.ttl")
    said = shell.run(
        "trace", "validate", missing, tmp_path, "no-such-run", tmp_path / "bad.provn", "--json", *COLLECTION
    )
    assert (said.code, said.err) == (2, "")
    assert [each.get("error", {}).get("type") for each in said.lines] == [
        "unusable",
        "unusable",
        "unknown-run",
        None,
    ]
    long = shell.run("trace", "validate", "x" * 300)
    assert (long.code, "unusable" in long.err) == (2, True)
    told = shell.run("trace", "validate", missing)
    assert (told.code, told.out) == (2, "")
    assert f"unusable: {missing}: No such file or directory" in told.err


def test_a_format_that_there_is_not(shell: Shell) -> None:
    said = shell.run("trace", "validate", runs.SESSION, "--format", "poem")
    assert said.code == 2
    assert "no format 'poem' can be read; the formats are provn, provjson" in said.err


def test_a_damaged_run_is_told_in_a_file(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "run.nq"
    path.write_text(
        export([quad for quad in QUADS if quad.p is None or not quad.p.iri.endswith("/query")], "nquads")
    )
    said = shell.run("trace", "validate", path, "--json")
    (report,) = said.lines
    assert said.code == 1
    assert [(each["kind"], each["name"]) for each in report["findings"]] == [("shape", "spec: Query")]
    assert json.dumps(report)
