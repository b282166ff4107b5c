"""The trace store under test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from clew_services.ports import TraceStore
from tests.contract.trace_stores import STORES, Maker


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TraceStore]:
    async with cast("Maker", request.param)(tmp_path) as made:
        yield made
