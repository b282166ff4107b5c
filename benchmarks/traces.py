"""``python -m benchmarks.traces [--runs N] [--collections N]``: the trace store on disk, in this process.

Runs of a question with eight pieces of evidence (139 quads), eight at a time. Time is that of the store alone; memory
is the whole process's, and shall not grow with the number of runs.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
from pathlib import Path

from clew_schema.evidence import Evidence
from clew_schema.facts import EvidenceRetrieved, QuestionAsked
from clew_schema.rdf import Triples
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators.explain import explain

AT_ONCE = 8
WHEN = "2026-01-31T12:00:00Z"
FOUND = EvidenceRetrieved(
    query="q",
    evidence=tuple(
        Evidence(
            chunk_id=f"urn:chunk:00000000-0000-4000-8000-{number:012d}",
            document_id="urn:document:d",
            version="v1",
            filename="h.pdf",
            page=number,
            end=600,
            content_hash="0" * 64,
            text="t" * 600,
            rank=number,
        )
        for number in range(1, 9)
    ),
)


def batch(number: int, collection: str) -> Triples:
    asked = QuestionAsked(mechanism="document-rag", query="q", started_at=WHEN, ended_at=WHEN)
    made = explain(
        [asked, FOUND],
        session_id=f"{number:08d}-0000-4000-8000-000000000000",
        collection=collection,
        mechanism="document-rag",
    )
    assert made is not None
    return made


def resident() -> int:
    """Megabytes of memory of this process."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


async def measure(runs: int, collections: int, *, every: int = 2_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = OxigraphTraceStore(Path(folder))
        spent, quads = 0.0, 0
        for first in range(0, runs, AT_ONCE):
            batches = [batch(first + n, f"c{(first // AT_ONCE) % collections}") for n in range(AT_ONCE)]
            quads += sum(len(made.triples) for made in batches)
            began = time.perf_counter()
            await store.add(batches)
            spent += time.perf_counter() - began
            if (first + AT_ONCE) % every == 0:
                gc.collect()
                disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
                print(
                    f"{first + AT_ONCE:6} runs  {(first + AT_ONCE) / spent:6.0f} runs/s  {quads / spent:8.0f} quads/s"
                    f"  {resident():5} MB  {sum(1 for _ in Path('/proc/self/fd').iterdir()):4} descriptors"
                    f"  {disk // 10**6:5} MB on disk",
                    flush=True,
                )
        await store.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traces", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--collections", type=int, default=1)
    chosen = parser.parse_args()
    asyncio.run(measure(chosen.runs, chosen.collections))
