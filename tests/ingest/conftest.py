"""A world for each test."""

from collections.abc import AsyncIterator

import pytest

from clew_services.adapters.stores.catalog_sql import SqlCatalog
from tests.ingest.world import World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    catalog = SqlCatalog("sqlite://")
    await catalog.open()
    yield World(catalog)
    await catalog.close()
