"""A ledger in memory: for tests, and for a single process that may forget everything when it ends."""

from __future__ import annotations

from clew_services.errors import StoreFailed
from clew_services.ports import Record


class MemoryLedger:
    """Keeps records in a dictionary; first writer wins. Its state dies with it."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], Record] = {}
        self._closed = False

    async def lookup(self, step: str, message_id: str) -> Record | None:
        """The record, or null."""
        self._check()
        return self._records.get((step, message_id))

    async def record(self, record: Record) -> Record:
        """Keep ``record``, or return the one that was kept first."""
        self._check()
        return self._records.setdefault((record.step, record.message_id), record)

    async def prune(self, before: float) -> int:
        """Forget records older than ``before``; how many went."""
        self._check()
        old = [key for key, record in self._records.items() if record.recorded_at < before]
        for key in old:
            del self._records[key]
        return len(old)

    async def close(self) -> None:
        """No further call is answered."""
        self._closed = True

    def _check(self) -> None:
        if self._closed:
            raise StoreFailed("the ledger store is closed")
