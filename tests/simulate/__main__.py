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

from tests.promise.checker import NOTHING, table
from tests.promise.history import line
from tests.simulate.breaks import BREAKS, judged
from tests.simulate.play import Make, play
from tests.simulate.scenario import scenario, shrink


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
    with ProcessPoolExecutor(
        os.cpu_count(), mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=50
    ) as pool:
        for count, (seed, one) in enumerate(pool.map(partial(judged, broken=broken), seeds, chunksize=10), 1):
            whole += one
            if one.violations:
                failed = seed
                pool.shutdown(wait=False, cancel_futures=True)
                break
            if count % 1_000 == 0:
                print(
                    f"{count} seeds, {count / (time.monotonic() - begun):.1f} a second",
                    file=sys.stderr,
                    flush=True,
                )
    took = time.monotonic() - begun
    print(table({f"{len(seeds)} seeds": whole}, **{f"{len(seeds)} seeds": {"seconds": f"{took:.0f}"}}))
    if failed < 0:
        return 0
    for each in whole.violations:
        print(f"  {each.kind}  {each.where}: {each.what}")
    name = f" --broken '{broken}'" if broken else ""
    print(f"replay it: python -m tests.simulate --seed {failed} --shrink --trace{name}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
