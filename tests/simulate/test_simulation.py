"""The promise over some hundred seeds; and the product broken on purpose, which as many seeds must find."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Iterator
from itertools import count

import pytest

from tests.promise.history import Fault, line
from tests.simulate.breaks import BREAKS
from tests.simulate.loop import SimLoop
from tests.simulate.play import play
from tests.simulate.scenario import Kill, Request, Scenario, scenario, shrink

SEEDS = int(os.environ.get("CLEW_SIMULATED_SEEDS", "120"))
ENOUGH = 2_000
"""Seeds within which a break must be found."""


@pytest.fixture(autouse=True)
def _swept() -> Iterator[None]:
    """A run leaves its dead behind, in circles; the next file's tests need the memory."""
    yield
    gc.collect()


@pytest.mark.parametrize("part", range(4))
def test_nothing_is_lost_and_nothing_twice(part: int) -> None:
    for seed in range(part, SEEDS, 4):
        played = play(scenario(seed))
        assert not played.violations, (f"python -m tests.simulate --seed {seed} --shrink", played.violations)


@pytest.mark.parametrize("seed", [2529])
def test_a_seed_that_found_something_finds_nothing_now(seed: int) -> None:
    """2529: hundreds of deliveries of one message woke each other without end."""
    assert not play(scenario(seed)).violations


@pytest.mark.parametrize("name", BREAKS)
def test_each_break_is_found(name: str) -> None:
    found = next(seed for seed in count() if play(scenario(seed), BREAKS[name]).violations)
    assert found < ENOUGH


def test_a_seed_is_the_same_run_each_time() -> None:
    for seed in (3, 13, 29, 65):
        first, again = play(scenario(seed)), play(scenario(seed))
        assert [*map(line, first.events)] == [*map(line, again.events)]
        assert first.steps == again.steps


def test_kills_happen_where_they_are_told_to_and_the_work_goes_on() -> None:
    one = Scenario(
        seed=1, requests=(Request(0, "document", 0.0),), kills=(Kill(90, 0, 0.3), Kill(120, 1, 0.3))
    )
    played = play(one)
    assert [each.whom for each in played.events if isinstance(each, Fault)] == ["process 0", "process 1"]
    assert played.violations == ()


def test_a_failing_scenario_is_made_smaller_and_fails_still() -> None:
    broken = BREAKS["writes no dead letter"]
    seed = next(seed for seed in count() if play(scenario(seed), broken).violations)
    small = shrink(scenario(seed), lambda each: bool(play(each, broken).violations))
    assert play(small, broken).violations
    assert (len(small.requests), small.kills, small.drops) == (1, (), ())


def test_who_is_next_follows_from_the_seed() -> None:
    def order(seed: int) -> list[int]:
        loop, said = SimLoop(random.Random(seed), fifo=0.0), list[int]()
        for number in range(8):
            loop.call_soon(said.append, number)
        loop.call_later(3_600, loop.stop)
        loop.run_forever()
        now = loop.time()
        loop.close()
        assert now == 4_600.0, "time moved to the timer, and nobody waited"
        return said

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == list(range(8))
