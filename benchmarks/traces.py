"""``python -m benchmarks.traces [--runs N] [--collections N] [--listed N]``: the trace store on disk, in this process.

Written are runs of a question with eight pieces of evidence (some 160 quads), in batches of about 1,000 quads. Time is
that of the store alone; memory is the whole process's, and shall not grow with the number of runs. Then pages of 50
are read from an index of ``--listed`` runs: with and without filters, also such as few runs or none go through.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import tempfile
import time
from pathlib import Path

from clew_schema.evidence import Evidence
from clew_schema.facts import EvidenceRetrieved, QuestionAsked
from clew_schema.rdf import Triples
from clew_services.adapters.stores.oxigraph_entries import Entry
from clew_services.adapters.stores.oxigraph_index import RunIndex
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.ports import TraceFilter, TraceRow
from clew_translators.explain import explain
from clew_translators.trace import STATES, RunState

AT_ONCE = 7
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
PAGES = {
    "the newest": (TraceFilter(), ""),
    "half way down": (TraceFilter(), "2026-07-01T00:00:00Z urn:x"),
    "answered": (TraceFilter(states=frozenset({"answered"})), ""),
    "of an agent, failed or running": (
        TraceFilter(mechanisms=frozenset({"agent"}), states=frozenset({"failed", "running"})),
        "",
    ),
    "of one person in 1,000": (TraceFilter(person="p7"), ""),
    "waiting, of that person": (TraceFilter(person="p7", states=frozenset({"needs_input"})), ""),
    "in March": (TraceFilter(since="2026-03", until="2026-04"), ""),
    "of nobody": (TraceFilter(person="nobody"), ""),
    "with a text that most have": (TraceFilter(text="POLICY"), ""),
    "with a text that none has": (TraceFilter(text="unheard of"), ""),
}


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
        spent, quads, reported = 0.0, 0, 0
        for first in range(0, runs, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, runs))
            batches = [batch(number, f"c{(first // AT_ONCE) % collections}") for number in numbers]
            quads += sum(len(made.triples) for made in batches)
            began = time.perf_counter()
            await store.add(batches)
            spent += time.perf_counter() - began
            done = numbers[-1] + 1
            if done // every > reported:
                reported = done // every
                gc.collect()
                disk = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
                print(
                    f"{done:6} runs  {done / spent:6.0f} runs/s  {quads / spent:8.0f} quads/s"
                    f"  {resident():5} MB  {sum(1 for _ in Path('/proc/self/fd').iterdir()):4} descriptors"
                    f"  {disk // 10**6:5} MB on disk",
                    flush=True,
                )
        await store.close()


def entry(number: int, of: int, chance: random.Random) -> Entry:
    """A run of the year 2026: nine in ten are answered, one in fifty is an agent's, a thousand people ask."""
    state: RunState = chance.choices(STATES, (1, 2, 1, 0, 6, 90))[0]
    hour, minute, second = number % 24, number % 60, number // 60 % 60
    month, day = 1 + number * 12 // of, 1 + number % 28
    person = f"urn:clew:person:p{number % 1_000}"
    row = TraceRow(
        session_uri=f"urn:trustgraph:docrag:{number:08d}-0000-4000-8000-000000000000",
        mechanism="agent" if number % 50 == 0 else "document-rag",
        query=f"What is the return policy of item {number}?",
        asked_at=f"2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{number % 10**6:06}Z",
        collection="c",
        state=state,
    )
    return Entry(row=row, asker=person, persons=(person,))


def measure_pages(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index, chance = RunIndex(Path(folder) / "runs.sqlite3"), random.Random(1)
        index.adopted()
        for number in range(runs):
            index.put(entry(number, runs, chance))
            if number % 1_000 == 0:
                index.commit()
        index.commit()
        for name, (where, after) in PAGES.items():
            times, found = [], index.page("c", 50, where, after)
            for _ in range(3):
                began = time.perf_counter()
                found = index.page("c", 50, where, after)
                times.append(time.perf_counter() - began)
            print(
                f"a page among {runs} runs, {name:32} {min(times) * 1e3:9.2f} ms  {len(found):3} rows",
                flush=True,
            )
        index.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traces", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--collections", type=int, default=1)
    parser.add_argument("--listed", type=int, default=1_000_000, help="runs of which pages are read; 0: none")
    chosen = parser.parse_args()
    asyncio.run(measure(chosen.runs, chosen.collections))
    if chosen.listed:
        measure_pages(chosen.listed)
