"""Tries mutated seeds on a target, and keeps what it must not do."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fuzz.mutations import mutated
from tests.fuzz.targets import Target

logging.getLogger("rdflib").setLevel(logging.CRITICAL)  # it tells of every IRI that is none

SLOW = 20.0
"""Seconds: what takes longer for 400 kB is a way to stop a service."""


@dataclass
class Tried:
    """What came of a target. ``failures``: the input, and what happened."""

    count: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    failures: list[tuple[bytes, str]] = field(default_factory=list)


def fuzz(target: Target, name: str, tries: int, *, first: int = 0, until: float = float("inf")) -> Tried:
    """Try ``tries`` inputs, or as many as there is time for: numbered ones, so that each can be made again."""
    seeds, told = target.seeds(), Tried()
    for number in range(first, first + tries):
        begun = time.monotonic()
        if begun > until:
            break
        data = sample(name, number, seeds)
        trouble = ""
        try:
            target.read(data)
        except target.answers:
            pass
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            trouble = f"{type(error).__name__}: {error}"[:300]
        took = time.monotonic() - begun
        told.count += 1
        told.seconds += took
        told.slowest = max(told.slowest, took)
        if trouble or took > SLOW:
            told.failures.append((data, f"number {number}: " + (trouble or f"it took {took:.1f} s")))
    return told


def sample(name: str, number: int, seeds: Sequence[bytes]) -> bytes:
    """Input ``number`` of a target."""
    dice = random.Random(f"{name} {number}")
    return mutated(dice.choice(seeds), dice)
