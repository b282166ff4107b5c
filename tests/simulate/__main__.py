"""``python -m tests.simulate``: many seeds, one table; or one seed, replayed and made smaller.

``--seeds N [--first M]`` plays seeds on all cores and ends with 1 at the first that breaks the promise, saying how to
replay it. ``--seed N`` replays one, ``--trace`` prints what happened, ``--shrink`` takes things away while it fails.
``--broken NAME`` plays the product broken in one of the ways of tests/simulate/breaks.py.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.promise.checker import NOTHING, Summary, table
from tests.promise.history import line
from tests.simulate.breaks import BREAKS, judged
from tests.simulate.play import Make, play
from tests.simulate.scenario import scenario, shrink

PART = 500


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--broken", choices=sorted(BREAKS))
    given = parser.parse_args()
    if given.seed is not None:
        return _one(given.seed, given.broken, trace=given.trace, smaller=given.shrink)
    return _many(range(given.first, given.first + given.seeds), given.broken)


def _one(seed: int, broken: str | None, *, trace: bool, smaller: bool) -> int:
    make = BREAKS[broken] if broken else Make()
    found = scenario(seed)
    if smaller:
        found = shrink(found, lambda each: bool(play(each, make).violations))
    played = play(found, make)
    if trace:
        sys.stdout.writelines(map(line, played.events))
    print(*found.lines(), sep="\n")
    print(f"{played.steps} steps, {len(played.events)} events")
    for each in played.violations:
        print(f"  {each.kind}  {each.where}: {each.what}")
    return bool(played.violations)


def _many(seeds: range, broken: str | None) -> int:
    begun, whole, failed = time.monotonic(), NOTHING, -1
    for part in range(0, len(seeds), PART):
        for seed, one in _part(seeds[part : part + PART], broken):
            whole += one
            failed = seed if one.violations and failed < 0 else failed
        rate = (part + PART) / (time.monotonic() - begun)
        print(f"{min(part + PART, len(seeds))} seeds, {rate:.1f} a second", file=sys.stderr, flush=True)
        if failed >= 0:
            break
    took = time.monotonic() - begun
    print(table({f"{len(seeds)} seeds": whole}, **{f"{len(seeds)} seeds": {"seconds": f"{took:.0f}"}}))
    if failed < 0:
        return 0
    for each in whole.violations:
        print(f"  {each.kind}  {each.where}: {each.what}")
    name = f" --broken '{broken}'" if broken else ""
    print(f"replay it: python -m tests.simulate --seed {failed} --shrink --trace{name}")
    return 1


def _part(seeds: range, broken: str | None) -> list[tuple[int, Summary]]:
    """Processes of their own for each part, because a run leaves memory behind that nobody frees.

    Not by ``max_tasks_per_child``: Python 3.11 may wait for ever for a process that it has just ended (gh-115634).
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        return list(pool.map(partial(judged, broken=broken), seeds, chunksize=10))


if __name__ == "__main__":
    sys.exit(main())
