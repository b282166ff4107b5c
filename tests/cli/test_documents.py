"""``clew documents``, and what ``clew ingest`` says of files that are none."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from clew_schema.documents import DocumentStatus
from tests.adapters import office
from tests.cli.shell import CLEW, Shell, Up

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(shell: Shell, tmp_path: Path) -> str:
    """A collection of its own, with a note and a workbook."""
    collection = f"docs-{uuid4().hex[:8]}"
    (tmp_path / "note.md").write_text("# Note\n\nThe lighthouse at Skagen is 46 metres high.\n")
    (tmp_path / "costs.xlsx").write_bytes(office.sheets())
    assert shell.run("ingest", tmp_path, "-c", collection).code == 0
    return collection


def test_list_says_what_is_there(shell: Shell, filled: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.pdf"
    bad.write_bytes(b"%PDF-1.4 this is none")
    assert shell.run("ingest", bad, "-c", filled).code == 1
    said = shell.run("documents", "list", "-c", filled, COLUMNS="160")
    assert (said.code, said.err) == (0, "")
    rows = {line.split()[0]: line.split() for line in said.out.splitlines()[3:] if line.strip()}
    assert set(rows) == {"note.md", "costs.xlsx", "bad.pdf"}
    assert rows["note.md"][1:3] == ["ready", "1"]
    assert rows["costs.xlsx"][1:4] == ["ready", "1", "3"]
    assert rows["bad.pdf"][1] == "failed"
    assert "not a readable PDF" in said.out
    listed = {line["name"]: line for line in shell.run("documents", "list", "-c", filled, "--json").lines}
    assert (listed["costs.xlsx"]["state"], listed["costs.xlsx"]["pages"]) == ("ready", 3)
    assert listed["bad.pdf"]["error"].startswith("bad.pdf: not a readable PDF")


def test_show_finds_a_document_by_name_id_and_the_beginning_of_its_id(shell: Shell, filled: str) -> None:
    (shown,) = shell.run("documents", "show", "note.md", "-c", filled, "--json").lines
    assert shown["name"] == "note.md"
    assert [(v["state"], v["chunks"], v["parents"] >= 0) for v in shown["versions"]] == [("ready", 1, True)]
    own = shown["document_id"].rpartition(":")[2]
    for name in (shown["document_id"], own[:8], shown["document_id"][:-4]):
        said = shell.run("documents", "show", name, "-c", filled, COLUMNS="160")
        assert said.code == 0, said.err
        assert said.out.splitlines()[0] == f"note.md  {shown['document_id']}"
        assert shown["versions"][0]["version"][:8] in said.out
    said = shell.run("documents", "show", "urn:document", "-c", filled)
    assert said.code == 1
    assert "2 documents are called 'urn:document': name one by its id: urn:document:" in said.err


def test_what_is_deleted_is_gone_and_the_rest_is_not(shell: Shell, filled: str) -> None:
    question = "How high is the lighthouse at Skagen?"
    assert "46 metres" in shell.run("ask", question, "-c", filled).out
    said = shell.run("documents", "delete", "note.md", "-c", filled, "--yes")
    assert (said.code, said.out) == (0, ""), said.err
    assert said.err == "  ✓ note.md  deleted\n"
    left = shell.run("documents", "list", "-c", filled, "--json").lines
    assert [line["name"] for line in left] == ["costs.xlsx"]
    assert "46 metres" not in shell.run("ask", question, "-c", filled).out
    (status,) = shell.run("documents", "delete", "costs.xlsx", "-c", filled, "-y", "--json").lines
    assert DocumentStatus.model_validate(status).state == "deleted"
    assert f"no documents in collection {filled}" in shell.run("documents", "list", "-c", filled).out


def test_nothing_is_deleted_unless_somebody_says_so(shell: Shell, filled: str) -> None:
    said = shell.run("documents", "delete", "note.md", "-c", filled)
    assert (said.code, said.err) == (
        2,
        "error not-confirmed: nobody can be asked whether to delete note.md: say --yes\n",
    )
    for answer, code in ((b"n\n", 1), (b"y\n", 0)):
        ours, theirs = pty.openpty()
        os.write(ours, answer)
        command: list[str | Path] = [CLEW, "documents", "delete", "note.md", "-c", filled]
        done = subprocess.run(
            command, env=shell.environment, stdin=theirs, capture_output=True, check=False, timeout=60
        )
        os.close(ours)
        os.close(theirs)
        assert (done.returncode, b"Delete note.md from collection" in done.stderr) == (code, True), (
            done.stderr
        )


def test_one_unknown_document_and_nothing_is_deleted(shell: Shell, filled: str) -> None:
    said = shell.run("documents", "delete", "note.md", "nowhere.md", "-c", filled, "--yes")
    assert said.code == 1
    assert said.err.startswith(f"error unknown-document: collection '{filled}' has no document 'nowhere.md'")
    assert len(shell.run("documents", "list", "-c", filled, "--json").lines) == 2


@pytest.mark.parametrize("command", [("list",), ("show", "x"), ("delete", "x", "--yes")])
def test_an_unknown_collection_is_said_with_those_that_are_known(
    shell: Shell, command: tuple[str, ...]
) -> None:
    said = shell.run("documents", *command, "-c", "nowhere")
    assert said.code == 1
    assert said.err.startswith("error unknown-collection: there is no collection 'nowhere': there are ")
    assert "default" in said.err


def test_without_anything_that_was_ever_ingested(alone: Shell) -> None:
    said = alone.run("documents", "list")
    assert said.code == 1
    assert f"there are no documents in {alone.data}: start `clew up`" in said.err
    assert not alone.data.exists(), "looking makes nothing"


def test_a_list_needs_nothing_that_runs_and_a_deletion_does(stack: Up, alone: Shell, filled: str) -> None:
    """A copy of the folder's catalog, as after `clew up` has ended."""
    alone.data.mkdir()
    for part in stack.data.glob("catalog.sqlite3*"):
        (alone.data / part.name).write_bytes(part.read_bytes())
    assert len(alone.run("documents", "list", "-c", filled, "--json").lines) == 2
    said = alone.run("documents", "delete", "note.md", "-c", filled, "--yes")
    assert said.code == 1
    assert "nothing runs over" in said.err


def test_ingest_names_what_it_passed_over(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "good.txt").write_text("A good text.")
    (tmp_path / "sub" / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden.png").write_bytes(b"\x89PNG")
    one = "1 file of another kind was passed over: sub/picture.png\n"
    said = shell.run("ingest", tmp_path, "-c", "passed")
    assert (said.code, said.err.endswith(one)) == (0, True), said.err
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf")
    said = shell.run("ingest", tmp_path, "-c", "passed", "--json")
    assert said.code == 0
    assert {line["name"] for line in said.lines} == {"good.txt"}
    assert said.err == "2 files of other kinds were passed over: old.doc, sub/picture.png\n"
    (tmp_path / "good.txt").unlink()
    said = shell.run("ingest", tmp_path)
    assert said.code == 2
    assert "2 files of other kinds were passed over" in said.err
    said = shell.run("ingest", tmp_path / "sub" / "picture.png", "-c", "passed")
    assert said.code == 1, "what is named itself is tried, and is an error"
    assert "picture.png  document-unreadable: picture.png: not a type that can be read" in said.err


def test_a_scanned_document_says_that_it_has_no_text(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "empty.epub").write_bytes(office.book("<p> </p>"))
    said = shell.run("ingest", tmp_path, "-c", "scanned")
    assert said.code == 1
    assert "✗ empty.epub  no-text: empty.epub: no text in it." in said.err
