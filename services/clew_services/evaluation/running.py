"""Ask every question of a set through the bus, as any client would, and judge what comes back."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from uuid import uuid4

from clew_schema.errors import Error
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.errors import EmbedderMismatch, EmptyCollection, Forbidden, UnknownCollection
from clew_services.evaluation.judging import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew_services.client import Client
    from clew_services.evaluation.cases import Case
    from clew_services.evaluation.judging import Judged

_POINTLESS = {
    error.type: error for error in (UnknownCollection, EmptyCollection, Forbidden, EmbedderMismatch)
}
"""What every further question would be answered with as well."""

SILENCE = 3
"""So many questions in a row without any response, and nobody is there."""


def _ignore(judged: Judged) -> None:
    del judged


async def ask_all(
    client: Client,
    cases: Sequence[Case],
    *,
    collection: str = "",
    doc_limit: int = 0,
    at_once: int = 1,
    timeout: float = 120.0,
    tell: Callable[[Judged], None] = _ignore,
) -> list[Judged]:
    """Ask ``cases``, ``at_once`` at a time, each as a run of its own; judged in their order, ``tell`` hears each.

    A run that fails counts as such. Raises UnknownCollection, EmptyCollection, Forbidden or EmbedderMismatch where
    the first of these was answered, TimeoutError when SILENCE questions in a row had no response within ``timeout``
    seconds, BusFailed when the broker takes no question.
    """
    slots, silent = asyncio.Semaphore(at_once), 0

    async def one(case: Case) -> Judged:
        nonlocal silent
        query = DocumentRagQuery(
            query=case.question, collection=collection, doc_limit=doc_limit, session_id=str(uuid4())
        )
        async with slots:
            began = time.perf_counter()
            try:
                response = await client.answer(query, timeout=timeout)
            except TimeoutError:
                silent += 1
                if silent >= SILENCE:
                    raise
                response = DocumentRagResponse(error=Error(type="timeout", message="no response in time"))
            else:
                silent = 0
            seconds = time.perf_counter() - began
        if response.error and response.error.type in _POINTLESS:
            raise _POINTLESS[response.error.type](response.error.message)
        judged = judge(case, response, seconds)
        tell(judged)
        return judged

    tasks = [asyncio.ensure_future(one(case)) for case in cases]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
