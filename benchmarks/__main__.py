"""``python -m benchmarks [--only TEXT] [--scale X]``: every measurement, or those whose name holds TEXT."""

from __future__ import annotations

import argparse

import uvloop

from benchmarks.document_rag import measure

CASES = (
    ("memory", "memory"),
    ("pulsar-lite", "memory"),
    ("pulsar-lite", "milvus-lite"),
    ("pulsar-4 not-synced", "memory"),
    ("pulsar-4 synced", "memory"),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of requests")
    parser.add_argument("--where", action="store_true", help="also say where the processor time goes")
    chosen = parser.parse_args()
    print("document-RAG, instant models; ratio: p50 over that of the bare bus (4 hops) in the same run")
    for broker, store in CASES:
        if chosen.only in f"{broker}, {store}":
            for label, figures, bare in uvloop.run(
                measure(broker, store, scale=chosen.scale, where=chosen.where)
            ):
                print(
                    f"{figures.row()}  bare bus {bare:5.2f} ms  ratio {figures.p50 / bare:5.1f}  ({label})",
                    flush=True,
                )


if __name__ == "__main__":
    main()
