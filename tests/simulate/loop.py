"""An event loop without a world: time is a number, and who is next is drawn from a seed.

Nothing is read from a socket or a thread, so a run is a function of its seed. Whatever a task of a *process* was
about to do is forgotten when the process is killed, as a kernel forgets it: no ``finally`` runs.
"""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from typing_extensions import override


class Process:
    """What tasks belong to, by the context in which they run. A dead one never runs again."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dead = False
        self.awaited_since: float | None = None
        """Since when it is up again while there is work, until it did some."""


PROCESS: ContextVar[Process | None] = ContextVar("PROCESS", default=None)


class Stuck(AssertionError):
    """Nobody has anything to do, and somebody waits."""


class SimLoop(asyncio.BaseEventLoop):
    """``order`` chooses among what is ready; ``fifo`` is the share of steps that take the oldest, as asyncio does."""

    def __init__(self, order: random.Random, *, fifo: float = 0.5, limit: int = 400_000) -> None:
        super().__init__()
        self.steps = 0
        self.before_step: Callable[[int], None] = lambda _: None
        self._order, self._fifo, self._limit = order, fifo, limit
        self._now = 1_000.0
        self._graves: list[Any] = []
        self.slow_callback_duration = 1e9
        self.set_exception_handler(lambda *_: None)  # what the dead would have said

    @override
    def time(self) -> float:
        return self._now

    @override
    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """At once: a thread is a world of its own."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - as a thread hands over whatever was raised
            done.set_exception(error)
        return done

    @override
    async def shutdown_default_executor(self) -> None:
        """There is none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps in a selector."""

    def _process_events(self, event_list: Any) -> None:
        """There are none."""

    def _run_once(self) -> None:
        self.steps += 1
        if self.steps > self._limit:
            raise Stuck(f"no end after {self._limit} steps")
        self.before_step(self.steps)
        ready: Any = self._ready  # type: ignore[attr-defined]
        self._wake(ready)
        if not ready:
            raise Stuck("nobody has anything to do")
        if len(ready) > 1 and self._order.random() >= self._fifo:
            ready.rotate(-self._order.randrange(len(ready)))
        handle = ready.popleft()
        if handle.cancelled():
            return
        process = handle._context.get(PROCESS)
        if process is not None and process.dead:
            self._graves.append(handle)  # kept, so that nothing of it is closed before the end
            return
        handle._run()

    def _wake(self, ready: Any) -> None:
        """Move timers that are due to ``ready``; if nothing else is, time moves to the next of them."""
        timers: Any = self._scheduled  # type: ignore[attr-defined]
        while timers and (timers[0].cancelled() or timers[0].when() <= self._now or not ready):
            timer = heapq.heappop(timers)
            timer._scheduled = False
            if timer.cancelled():
                continue
            self._now = max(self._now, timer.when())
            ready.append(timer)
