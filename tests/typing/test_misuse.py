"""The type checker finds the mistakes of ``misuse.py``, each on its line and of its kind, and no others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MISUSE = ROOT / "tests" / "typing" / "misuse.py"


def checked(path: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable, "-m", "mypy", "--strict", "--no-color-output", f"--cache-dir={cache}", str(path),
    ]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
def test_the_type_checker_finds_each_mistake_and_would_miss_none(tmp_path: Path) -> None:
    source = MISUSE.read_text()
    assert source.count("# type: ignore[") >= 20
    done = checked(MISUSE, tmp_path / "cache")
    assert done.returncode == 0, done.stdout

    mistake = "Send(topics.GRADING_RESPONSE, GradingRequest(query=DocumentRagQuery()))  # type: ignore[misc]"
    number = source[: source.index(mistake)].count("\n") + 1
    mended = tmp_path / "mended.py"
    mended.write_text(source.replace(mistake, mistake.replace("GradingRequest", "GradingResponse")))
    done = checked(mended, tmp_path / "cache")
    assert done.returncode == 1
    assert f'mended.py:{number}: error: Unused "type: ignore" comment' in done.stdout
    assert done.stdout.count(": error:") == 1
