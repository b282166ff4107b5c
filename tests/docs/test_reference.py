"""The generated pages are what the generator makes now, and say what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from clew_schema import TOPICS, envelope
from clew_services.core.retry import Bury, Retry, RetryPolicy, judge
from clew_services.errors import BadRequest, ClewError, ModelFailed, Unreadable
from clew_services.settings import Settings
from clew_services.steps import SERVICES

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def page(name: str) -> str:
    return (REFERENCE / name).read_text()


def rows(name: str) -> dict[str, list[str]]:
    """First cell → the other cells, of every table on the page."""
    lines = [line for line in page(name).splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {first.strip("`"): rest for first, *rest in cells}


def test_nothing_would_be_written() -> None:
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"run `make docs`:\n{done.stdout}{done.stderr[-1500:]}"


def test_check_notices_a_page_that_somebody_edited(tmp_path: Path) -> None:
    for name in (
        "README.md",
        "docs/generate.py",
        "docs/generators",
        "docs/examples",
        "docs/reference",
        "deploy",
    ):
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(ROOT / name)
    copy = tmp_path / "docs" / "generate.py"
    copy.unlink()
    copy.write_text((ROOT / "docs" / "generate.py").read_text())
    readme = tmp_path / "README.md"
    readme.unlink()
    readme.write_text((ROOT / "README.md").read_text().replace("pulsar.Client(", "pulsar.Kunde("))
    done = subprocess.run([sys.executable, str(copy), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "differs: README.md" in done.stdout


def test_every_topic_setting_and_property_has_its_line() -> None:
    assert {topic.name for topic in TOPICS} <= set(rows("topics.md"))
    assert {f"CLEW_{name.upper()}" for name in Settings.model_fields} == set(rows("settings.md"))
    assert {envelope.ID, envelope.REPLY_TO, envelope.MESSAGE_ID} <= set(rows("properties.md"))
    for topic in TOPICS:
        assert f"### {topic.body.__name__}\n" in page("messages.md")


def test_who_publishes_is_read_from_the_handlers() -> None:
    section = page("topics.md").partition("## Who publishes")[2].partition("\n## ")[0]
    published = dict(re.findall(r"^\| `([\w-]+)` \| (.*?) \|", section, re.MULTILINE))
    assert published["grading-request"] == "document-rag"
    assert published["grading-response"] == "grading"
    assert published["document-status"] == "ingest"
    assert published["document-rag-request"] == "agent, callers"
    assert published["agent-response"] == "agent"


@pytest.mark.parametrize(
    ("error", "retried", "letter"),
    [
        (BadRequest("x"), "no", "no"),
        (Unreadable("x"), "no", "at once"),
        (ModelFailed("x"), "yes", "after the last attempt"),
    ],
)
def test_what_becomes_of_a_message_is_what_is_decided(error: ClewError, retried: str, letter: str) -> None:
    assert rows("errors.md")[error.type][2:] == [retried, letter]
    policy = RetryPolicy()
    assert isinstance(judge(error, 1, policy), Retry) == (retried == "yes")
    assert isinstance(judge(error, policy.max_attempts, policy), Bury) == (letter != "no")


def test_services_are_named_where_they_are_run() -> None:
    for service in SERVICES:
        assert service in page("cli.md")
