"""A retriever that finds what it was told to find: for tests, measurements and demonstrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew_schema.evidence import Evidence, Retrieval
from clew_services.adapters.models.chat_scripted import ScriptExhausted
from clew_services.core.ranking import numbered
from clew_services.core.rejecting import rejected
from clew_services.ports import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew_services.ports import Clock, Search

    Entry = Found | Exception | tuple[Evidence, ...]


class ScriptedRetriever:
    """The Retriever port by script. ``calls`` holds (collection, search, doc_limit, fetch_limit) of every call.

    The script is a list with one entry a call, or a function of a :class:`Search` that gives one. An entry is a
    Found, or a tuple of Evidence, which is numbered and cut to a ``doc_limit`` that was given (the rest is rejected as
    beyond it); or an exception, which is raised. One call too many raises ScriptExhausted. With ``delay`` seconds each
    call takes its time on ``clock``.
    """

    def __init__(
        self,
        script: Sequence[Entry] | Callable[[Search], Entry],
        *,
        delay: float = 0.0,
        clock: Clock | None = None,
    ) -> None:
        if delay and clock is None:
            raise ValueError(f"a delay of {delay} s needs a clock")
        self.calls: tuple[tuple[str, Search, int, int], ...] = ()
        self._script, self._delay, self._clock = script, delay, clock

    async def retrieve(
        self, collection: str, search: Search, *, doc_limit: int = 0, fetch_limit: int = 0
    ) -> Found:
        """What the script has for this call."""
        # The entry is taken before the delay, so concurrent calls get theirs in the order they came.
        entry = self._take(search)
        self.calls = (*self.calls, (collection, search, doc_limit, fetch_limit))
        if self._clock is not None and self._delay:
            await self._clock.sleep(self._delay)
        if isinstance(entry, Exception):
            raise entry
        if isinstance(entry, Found):
            return entry
        whole = numbered(entry)
        evidence = whole[:doc_limit] if doc_limit else whole
        count = len(evidence)
        return Found(
            evidence=evidence,
            retrieval=Retrieval(
                top_k=doc_limit,
                recall_count=len(entry),
                merged_count=len(entry),
                candidate_count=len(entry),
                kept_count=count,
                legs=("dense", "bm25"),
            ),
            rejected=tuple(rejected(each, "beyond-limit") for each in whole[count:]),
        )

    def _take(self, search: Search) -> Entry:
        if callable(self._script):
            return self._script(search)
        if len(self.calls) < len(self._script):
            return self._script[len(self.calls)]
        raise ScriptExhausted(f"the retriever's call {len(self.calls) + 1} has no entry in the script")
