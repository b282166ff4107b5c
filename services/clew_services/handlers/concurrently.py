"""Several things at once, of which none is left behind."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

T = TypeVar("T")


async def together(*work: Awaitable[T]) -> tuple[T, ...]:
    """The results, in order, once all of it is done; then the first error is raised, if there was any."""
    if len(work) == 1:
        return (await work[0],)
    results = await asyncio.gather(*work, return_exceptions=True)
    raise_first(results)
    return tuple(result for result in results if not isinstance(result, BaseException))


def raise_first(results: Iterable[object]) -> None:
    """Raise the first exception among ``results``; nothing when there is none."""
    for result in results:
        if isinstance(result, BaseException):
            raise result
