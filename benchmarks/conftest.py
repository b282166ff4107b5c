"""The baseline of ``test_decisions.py``: costs as multiples of a fixed piece of work, so they hold on any machine."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parent / "baseline_decisions.json"


@dataclass
class Baseline:
    """``ratios`` by what was measured, and how long the fixed work took where they were, ``unit_ms``."""

    ratios: dict[str, float]
    unit_ms: float
    is_new: bool
    seen: dict[str, float] = field(default_factory=dict)
    units: list[float] = field(default_factory=list)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--new-baseline", action="store_true", help=f"write what is measured to {FILE.name}")


@pytest.fixture(scope="session")
def baseline(request: pytest.FixtureRequest) -> Iterator[Baseline]:
    known: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    held = Baseline(known["ratios"], known["unit_ms"], is_new=request.config.getoption("--new-baseline"))
    yield held
    if held.is_new:
        made = {
            "python": platform.python_version(),
            "unit_ms": round(min(held.units), 4),
            "ratios": {name: round(ratio, 2) for name, ratio in held.seen.items()},
        }
        FILE.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
