"""How long runs are kept: by age, by number, or for ever. What is past that is erased, a little at a time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from clew_services.errors import ClewError
from clew_services.ports import TraceFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_services.ports import Clock, TraceRow, TraceStore
    from clew_services.runtime.observe import Observer

PAGE = 500
"""Runs that are looked at in one go."""

ERASED_AT_ONCE = 50
"""Of these: what is written meanwhile waits for so many."""

PAGES = 20
"""Pages of one call of :func:`sweep`: what waits for the store meanwhile waits no longer than that."""

SWEEP_EVERY = 600.0
"""Seconds between two sweeps of all collections."""

_LISTED = TraceFilter()


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept of a collection: runs that were asked within ``days``, and the newest ``runs``. None: all.

    A run that waits for a person goes by its age alone. A tool's own run goes with the run that it belongs to, and is
    not counted. Runs of which the question never came have no age and no place in a list, and stay.
    """

    days: float | None = None
    runs: int | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """How far a sweep of a collection came: runs that were ``erased``, runs of tools included.

    Unless it is ``done``, the next call takes this and goes on: below the cursor ``after``, having counted ``kept``.
    """

    erased: int = 0
    kept: int = 0
    after: str = ""
    done: bool = False


async def sweep(
    store: TraceStore, collection: str, retention: Retention, now: float, *, begun: Swept | None = None
) -> Swept:
    """Erase of ``collection`` what ``retention`` does not keep at ``now`` (seconds since 1970), as far as a call goes.

    One call looks at 10,000 runs at most. ``begun`` is what the call before returned. Runs that begin meanwhile are for
    the next sweep. Raises what the store raises.
    """
    swept = begun or Swept()
    for _ in range(PAGES):
        if swept.done:
            break
        swept = await _page(store, collection, retention, now, swept)
    return swept


async def _page(store: TraceStore, collection: str, retention: Retention, now: float, swept: Swept) -> Swept:
    too_old = TraceFilter(until=_oldest(retention, now), tools=True) if retention.days is not None else None
    if too_old and not swept.after:
        old = await store.list(collection, limit=PAGE, where=too_old)
        erased = await _erase(store, collection, old)
        if erased:  # a store that erases nothing of what it lists shall not be asked for ever
            return replace(swept, erased=swept.erased + erased)
    if retention.runs is None:
        return replace(swept, done=True)
    rows = await store.list(collection, limit=PAGE, where=_LISTED, after=swept.after)
    room = max(0, retention.runs - swept.kept)
    beyond = [row for row in rows[room:] if row.state != "needs_input"]
    return Swept(
        erased=swept.erased + await _erase(store, collection, beyond),
        kept=swept.kept + min(room, len(rows)),
        after=rows[-1].cursor if rows else swept.after,
        done=len(rows) < PAGE,
    )


async def _erase(store: TraceStore, collection: str, rows: Sequence[TraceRow]) -> int:
    uris = [row.session_uri for row in rows]
    erased = 0
    for first in range(0, len(uris), ERASED_AT_ONCE):
        erased += await store.erase(collection, uris[first : first + ERASED_AT_ONCE])
    return erased


def _oldest(retention: Retention, now: float) -> str:
    """When a run must have been asked to be kept. No calendar goes back for ever: then everything is."""
    try:
        oldest = datetime.fromtimestamp(now, UTC) - timedelta(days=retention.days or 0.0)
    except OverflowError:
        return "0001"
    return oldest.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


class Sweeper:
    """Sweeps all collections of ``store`` every ``every`` seconds, from when it is begun until it is closed.

    A sweep that erased something is logged as ``traces_swept``, one that failed as ``sweep_failed``; the next round
    tries again.
    """

    def __init__(
        self,
        store: TraceStore,
        retention: Retention,
        *,
        clock: Clock,
        observer: Observer,
        every: float = SWEEP_EVERY,
    ) -> None:
        """Nothing is swept before ``begin``."""
        self._store, self._retention, self._every = store, retention, every
        self._clock, self._observer = clock, observer
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> Sweeper:
        """Sweep from now on, in a task of this event loop."""
        self._task = asyncio.create_task(self._run())
        return self

    async def close(self) -> None:
        """Stop, before the next page. Idempotent."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def sweep_all(self) -> None:
        """Sweep every collection once. Raises nothing that a store may raise."""
        try:
            for collection in await self._store.collections():
                await self._sweep(collection)
        except ClewError as error:
            self._observer.event("sweep_failed", "warning", error=error.type, message=str(error)[:200])

    async def _sweep(self, collection: str) -> None:
        swept, now = Swept(), self._clock.now()
        while not swept.done:
            swept = await sweep(self._store, collection, self._retention, now, begun=swept)
        if swept.erased:
            self._observer.event("traces_swept", collection=collection, erased=swept.erased)

    async def _run(self) -> None:
        while True:
            await self._clock.sleep(self._every)
            await self.sweep_all()
