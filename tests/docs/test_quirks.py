"""The table of quirks: complete, in order, and each line names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "quirks.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (Q\d\d) .*$", PAGE, re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))

MENDED = {
    *(f"Q{n:02}" for n in range(1, 5)),
    *(f"Q{n:02}" for n in range(6, 16)),
    *(f"Q{n:02}" for n in range(17, 26)),
    *(f"Q{n:02}" for n in range(28, 33)),
}


def test_every_quirk_that_must_be_mended_has_its_line() -> None:
    assert sorted(ROWS) == ROWS
    assert set(ROWS) >= MENDED


def test_every_line_names_a_test() -> None:
    for line in PAGE.splitlines():
        if line.startswith("| Q"):
            assert "`tests/" in line.rsplit("|", 2)[1], line[:40]


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_test_that_is_named_exists(path: str, name: str) -> None:
    module = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {
        node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert name in defined
