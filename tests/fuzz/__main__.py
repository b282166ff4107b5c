"""``python -m tests.fuzz --seconds 600``: every reader of others' bytes, one table; 1 where something failed."""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.fuzzing import fuzz
from tests.fuzz.targets import TARGETS


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0, help="Number of the first input of each target.")
    parser.add_argument("--only", default="", help="Targets whose names hold this.")
    given = parser.parse_args()
    chosen = {name: target for name, target in TARGETS.items() if given.only in name}
    print(f"{'target':<32}{'tried':>9}{'failures':>10}{'seconds':>9}{'slowest':>9}")
    failed = False
    for name, target in chosen.items():
        until = time.monotonic() + given.seconds / len(chosen)
        told = fuzz(target, name, 10**9, first=given.first, until=until)
        print(
            f"{name:<32}{told.count:>9}{len(told.failures):>10}{told.seconds:>9.1f}{told.slowest:>9.2f}",
            flush=True,
        )
        for data, trouble in told.failures[:3]:
            failed = True
            print(f"  {trouble}\n    {data[:160]!r}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
