"""``python -m benchmarks.quality [--quick] [--data FOLDER] [--only TEXT]``: how good retrieval and answers are.

Without ``--data``: our own questions about the demo corpus. With it also the public sets in that folder; where to get
them is told in docs/quality.md.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvloop

from benchmarks.quality import report
from benchmarks.quality.datasets import ROOT, Dataset, public, shipped
from benchmarks.quality.measure import EXACT, answers, retrieval
from benchmarks.quality.stack import stack
from clew_services.runtime.observe import configure_logging

QUICK, FULL = 40, 200
"""Answerable questions of one set, at most; of unanswerable ones of each kind half as many."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help=f"at most {QUICK} questions of a set, not {FULL}"
    )
    parser.add_argument("--data", type=Path, help="folder of public sets")
    parser.add_argument("--only", default="", help="only the sets whose name contains this")
    parser.add_argument(
        "--cache", type=Path, default=ROOT / ".clew" / "quality", help="where vectors are kept"
    )
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    chosen = parser.parse_args()
    if chosen.data is not None and not chosen.data.is_dir():
        parser.error(f"--data {chosen.data}: no such folder")
    sets = [shipped(), *(public(chosen.data) if chosen.data else ())]
    wanted = [each.sample(QUICK if chosen.quick else FULL) for each in sets if chosen.only in each.name]
    if not wanted:
        parser.error(f"--only {chosen.only}: the sets are {', '.join(each.name for each in sets)}")
    configure_logging("error")
    records = [uvloop.run(measure(each, chosen.cache)) for each in wanted]
    if chosen.json:
        chosen.json.write_text(json.dumps(records, indent=1), encoding="utf-8")


async def measure(dataset: Dataset, cache: Path) -> dict[str, Any]:
    """One set, told while it is measured."""
    began = time.monotonic()
    async with stack(cache) as stores:
        chunks = await stores.take_in(dataset)
        took = time.monotonic() - began
        print(
            f"\n## {dataset.name}: {len(dataset.documents)} documents, {chunks} leaves, taken in {took:.0f} s\n"
        )
        found = await retrieval(stores, dataset)
        async with stores.exact(dataset) as other:
            exact = await retrieval(other, dataset, EXACT)
        found += [replace(row, name=f"{row.name} (whole)") for row in exact]
        print(*report.retrieval_table(found), "", sep="\n", flush=True)
        answered = await answers(stores, dataset)
        print(*report.answer_table(answered), "", *report.rewriting_table(answered), sep="\n")
        print(f"\n{time.monotonic() - began:.0f} s in all", flush=True)
    return report.record(dataset, found, answered)


if __name__ == "__main__":
    main()
