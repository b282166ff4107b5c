"""Where the processor time of a document question goes: the event loop's thread by component, and the other threads."""

from __future__ import annotations

import cProfile
import os
import pstats
from collections import defaultdict
from pathlib import Path

COMPONENTS = (
    ("explain: facts to triples", ("clew_translators/explain",)),
    ("codec: JSON to messages and back", ("pydantic", "clew_translators/bus", "json/")),
    ("runtime: settle, pack, consume", ("clew_services/runtime",)),
    (
        "handlers, retrieval, decisions",
        ("clew_services/handlers", "clew_services/core", "clew_services/retrieve"),
    ),
    ("bus adapter and client library", ("clew_services/adapters/bus", "_pulsar")),
    ("ledger and catalog, loop side", ("clew_services/adapters/stores",)),
    ("client", ("clew_services/client", "benchmarks/")),
)


class Where:
    """Profiles what happens between ``__enter__`` and ``__exit__``, then prints shares."""

    def __init__(self, requests: int) -> None:
        self._requests = requests
        self._profile = cProfile.Profile()
        self._before: dict[str, float] = {}

    def __enter__(self) -> None:
        self._before = _threads()
        self._profile.enable()

    def __exit__(self, *_: object) -> None:
        self._profile.disable()
        own: defaultdict[str, float] = defaultdict(float)
        stats = pstats.Stats(self._profile).stats  # type: ignore[attr-defined]
        for (path, _line, name), (_calls, _primitive, alone, _with, _callers) in stats.items():
            own[_component(f"{path}:{name}")] += alone
        total = sum(own.values())
        print("event loop's thread, under a profiler (shares, not milliseconds):")
        for component, seconds in sorted(own.items(), key=lambda item: -item[1]):
            print(f"  {100 * seconds / total:5.1f} %  {component}")
        print("threads, milliseconds of processor time a request, the profiler's own included:")
        for thread, seconds in sorted(_threads().items(), key=lambda item: -item[1]):
            used = 1000 * (seconds - self._before.get(thread, 0.0)) / self._requests
            if used >= 0.05:
                print(
                    f"  {used:5.2f} ms  {'event loop' if thread == str(os.getpid()) else 'thread ' + thread}"
                )


def _component(place: str) -> str:
    return next(
        (name for name, marks in COMPONENTS if any(mark in place for mark in marks)), "Python and asyncio"
    )


def _threads() -> dict[str, float]:
    """Seconds of processor time by thread id."""
    used = {}
    for task in Path("/proc/self/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        used[task.name] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used
