"""A short soak: the long one is ``make soak``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak.soaking import Look, Soak


@pytest.mark.slow
async def test_some_hundred_requests_leave_nothing_behind(tmp_path: Path) -> None:
    soak = Soak(tmp_path, 800)
    await soak.run(every=200)
    assert (soak.lost, soak.duplicated, soak.errors, soak.invalid) == (0, 0, 0, 0)
    assert soak.largest_displacement < 300, "who asks first is not starved"
    first, last = soak.looks[1], soak.looks[-1]
    assert last.descriptors <= first.descriptors + 8
    assert last.threads <= first.threads + 2


def test_each_bound_is_one() -> None:
    good = Look(answers=5_000, seconds=1, resident=100, descriptors=10, threads=5, ledger=2**20)

    def broken(**changes: int) -> list[str]:
        soak = Soak(Path(), 10_000, looks=[good, replace(good, answers=10_000, **changes)])
        return soak.broken()

    assert broken(resident=105, descriptors=18, threads=7, ledger=2**22) == []
    assert broken(resident=106) == ["memory grew by more than 5 %"]
    assert broken(descriptors=19) == ["file descriptors grew"]
    assert broken(threads=8) == ["threads grew"]
    assert broken(ledger=2**22 + 1) == ["the ledger grew"]
    for name in ("lost", "duplicated", "errors", "invalid"):
        soak = Soak(Path(), 10, looks=[good, good])
        setattr(soak, name, 1)
        assert len(soak.broken()) == 1, name
