"""A world of documents for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.retrieve.world import CountingCatalog, World


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[CountingCatalog]:
    made = CountingCatalog(f"sqlite:///{tmp_path / 'catalog'}.sqlite3")
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def world(catalog: CountingCatalog) -> World:
    return World(catalog=catalog)
