"""Questions in SPARQL to RDF datasets, each answered by a process of its own, which is ended when its time is over.

pyoxigraph cannot stop a query that it began: whoever asks for all pairs of all quads would hold a thread for ever. So
the store takes a snapshot of the files, which are linked and not copied, and another process opens that: it holds up
no writer, sees one state of the collection, and dies with its deadline. Its memory and its life are bounded by the
operating system, too, so that it cannot outlive us for long.

The default graph is the union of the collection's graphs as pyoxigraph makes it: a triple that two graphs tell is
found twice there. Whoever counts says DISTINCT, or names the graph.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew_services.adapters.stores.query_results import read_result
from clew_services.adapters.stores.sparql_text import check_question
from clew_services.errors import BadRequest, DeadlineExceeded, StoreFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from clew_services.ports import QueryResult

AT_ONCE = 2
"""Queries at once; others wait for their turn, and the waiting counts as their time."""

_MODULE = "clew_services.adapters.stores.oxigraph_query_process"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Where the process finds the quads of a collection: each of these may be missing.

    ``own`` is a copy of the collection's dataset, ``shared`` one of the dataset in which its graphs begin with
    ``prefix``; ``file`` holds N-Quads. They are deleted after the query.
    """

    own: str = ""
    shared: str = ""
    prefix: str = ""
    file: str = ""


class Questions:
    """Asks at most AT_ONCE at once."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def ask(
        self,
        sparql: str,
        snapshot: Callable[[Path], Awaitable[Snapshot]],
        *,
        folder: Path | None,
        seconds: float,
        limit: int,
    ) -> QueryResult:
        """Answer ``sparql`` over what ``snapshot`` puts into the folder that it is given, which lies in ``folder``.

        Raises BadRequest, DeadlineExceeded, and what ``snapshot`` raises.
        """
        check_question(sparql)
        if not seconds > 0:
            raise BadRequest(f"a query needs some time: seconds is {seconds}")
        try:
            async with asyncio.timeout(seconds), self._turn:
                with tempfile.TemporaryDirectory(
                    prefix="query-", dir=folder, ignore_cleanup_errors=True
                ) as room:
                    over = await snapshot(Path(room))
                    task = asdict(over) | {"sparql": sparql, "limit": max(0, limit), "seconds": seconds}
                    return _read(*await _process(json.dumps(task).encode()))
        except TimeoutError:
            raise DeadlineExceeded(
                f"the query took longer than {seconds:g} seconds: ask for less, or allow more"
            ) from None


async def _process(task: bytes) -> tuple[int, bytes, bytes]:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        _MODULE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        told, said = await child.communicate(task)
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    return child.returncode or 0, told, said


def _read(code: int, told: bytes, said: bytes) -> QueryResult:
    """What the process answered."""
    if code:
        words = said.decode(errors="replace").strip().splitlines()
        if code < 0 or "MemoryError" in "".join(words[-1:]) or "memory allocation" in "".join(words):
            raise BadRequest("the query needs more memory than it may have: ask for less at once")
        raise StoreFailed(f"a query ended with {code}: {words[-1] if words else 'no word'}"[:500])
    answer: dict[str, Any] = json.loads(told)
    if "refused" in answer:
        raise BadRequest(answer["refused"])
    return read_result(answer)
