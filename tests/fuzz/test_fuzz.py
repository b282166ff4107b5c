"""A fixed number of spoilt inputs for each reader; ``make fuzz`` tries more."""

from __future__ import annotations

import pytest

from tests.fuzz.fuzzing import fuzz
from tests.fuzz.targets import TARGETS, Target

TRIES = 3_000


@pytest.mark.parametrize("name", TARGETS)
def test_what_others_wrote_is_read_or_refused_and_nothing_else(name: str) -> None:
    target = TARGETS[name]
    told = fuzz(target, name, max(4, TRIES // target.heavy))
    assert not told.failures, told.failures[0]
    assert told.count


@pytest.mark.parametrize(
    ("name", "number"), [("document nquads", 72), ("document trig", 117), ("settings", 4)]
)
def test_what_was_found_is_answered_now(name: str, number: int) -> None:
    """Dates that no shape could compare; a list in a setting that is nested two thousand deep."""
    told = fuzz(TARGETS[name], name, 1, first=number)
    assert told.count == 1
    assert not told.failures


def test_what_a_reader_must_not_do_is_found() -> None:
    def read(data: bytes) -> object:
        return data.decode()

    told = fuzz(Target(read, lambda: [b"plain text"]), "careless", 200)
    assert told.failures
    assert "UnicodeDecodeError" in told.failures[0][1]
    assert not fuzz(Target(read, lambda: [b"plain text"], (UnicodeDecodeError,)), "careless", 200).failures
