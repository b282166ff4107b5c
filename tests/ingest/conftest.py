"""A world for each test."""

from collections.abc import AsyncIterator

import pytest

from tests.ingest.world import Shelf, World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    catalog = Shelf()
    await catalog.open()
    yield World(catalog)
    await catalog.close()
