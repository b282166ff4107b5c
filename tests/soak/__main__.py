"""``python -m tests.soak --requests 100000``: one table, and 1 where a bound is not kept."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.soak.soaking import Soak


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), given.requests)
        asyncio.run(soak.run(every=max(500, given.requests // 20)))
    print("answers  seconds  a second  resident MB  descriptors  threads  ledger MB")
    for look in soak.looks:
        rate = look.answers / max(look.seconds, 1e-9)
        print(
            f"{look.answers:>7}  {look.seconds:>7.0f}  {rate:>8.0f}  {look.resident / 2**20:>11.1f}  "
            f"{look.descriptors:>11}  {look.threads:>7}  {look.ledger / 2**20:>9.1f}"
        )
    print(
        f"tried {given.requests}, lost {soak.lost}, duplicated {soak.duplicated}, errors {soak.errors}, "
        f"invalid traces {soak.invalid}, largest displacement {soak.largest_displacement}"
    )
    broken = soak.broken()
    for each in broken:
        print(f"  {each}")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
