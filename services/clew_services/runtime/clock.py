"""Clocks: the real one, and one that a test moves."""

from __future__ import annotations

import asyncio
import time
from heapq import heappop, heappush


class SystemClock:
    """Wall-clock time."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return after ``seconds``."""
        await asyncio.sleep(max(0.0, seconds))


class ManualClock:
    """Time that stands still until ``advance``; sleepers wake in the order of their times."""

    def __init__(self, now: float = 1_767_225_600.0) -> None:
        """``now`` defaults to 2026-01-01T00:00:00Z."""
        self._now = now
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> float:
        """Seconds since 1970, as last set."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until somebody advances the clock far enough."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiter = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self._sleepers, (self._now + seconds, self._count, waiter))
        await waiter

    async def advance(self, seconds: float) -> None:
        """Move time on, waking who is due, and let them run."""
        self._now += seconds
        while self._sleepers and self._sleepers[0][0] <= self._now:
            waiter = heappop(self._sleepers)[2]
            if not waiter.done():
                waiter.set_result(None)
            await asyncio.sleep(0)
        await asyncio.sleep(0)
