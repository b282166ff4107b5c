"""Leaving a model's stream early without leaving its connection open."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from clew_services.ports import Usage

Stream = AsyncIterator[str | Usage]


@asynccontextmanager
async def closing(stream: Stream) -> AsyncIterator[Stream]:
    """Close ``stream`` at the end of the block, if it is of a kind that can be closed."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
