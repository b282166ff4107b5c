"""The catalog port's parents, and the vectors that versions use, on SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clew_schema.evidence import Evidence
from clew_services.adapters.stores.catalog_sql import SCHEMA, SqlCatalog
from clew_services.ports import Parent
from tests.contract.test_catalog import document, name, postgres_url, url

__all__ = ["name", "postgres_url", "url"]  # fixtures of the catalog's other tests


@pytest.fixture
async def catalog(url: str) -> AsyncIterator[SqlCatalog]:
    made = SqlCatalog(url)
    yield made
    await made.close()


def parent(chunk_id: str, document_id: str = "d", version: str = "1", children: int = 2) -> Parent:
    return Parent(
        evidence=Evidence(
            chunk_id=chunk_id,
            document_id=document_id,
            version=version,
            filename="ü/..\n'",
            page=1,
            page_end=2,
            start=3,
            end=5_000_000_000,
            ordinal=4,
            level=2,
            parent_id="urn:chunk:above",
            content_hash="h",
            text="中文 'quoted' \\ \U0001f9f6",
        ),
        children=children,
    )


async def test_parents_come_back_whole_and_missing_ones_are_absent(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_parents(name, [parent("a"), parent("b")])
    await catalog.put_parents(name, [])
    assert await catalog.parents(name, ["b", "none", "a"]) == {"a": parent("a"), "b": parent("b")}
    assert await catalog.parents(name, []) == {}


async def test_many_are_written_and_read_at_once(catalog: SqlCatalog, name: str) -> None:
    many = {f"urn:chunk:{n}": parent(f"urn:chunk:{n}") for n in range(1203)}
    await catalog.put_parents(name, list(many.values()))
    assert await catalog.parents(name, list(many)) == many


async def test_a_second_write_of_an_id_replaces_the_first(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_parents(name, [parent("a"), parent("b")])
    moved = parent("a", "e", "2", children=3)
    await catalog.put_parents(name, [moved])
    assert await catalog.parents(name, ["a", "b"]) == {"a": moved, "b": parent("b")}
    assert await catalog.count_parents(name, "e", "2") == 1
    assert await catalog.count_parents(name) == 2


async def test_parents_are_counted_by_collection_document_and_version(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_parents(name, [parent("a"), parent("b"), parent("c", version="2"), parent("d", "e")])
    await catalog.put_parents(f"{name}2", [parent("x")])
    assert await catalog.count_parents(name) == 4
    assert await catalog.count_parents(name, "d") == 3
    assert await catalog.count_parents(name, "d", "1") == 2
    assert await catalog.count_parents(name, "none") == 0


async def test_parents_of_another_collection_are_never_seen(catalog: SqlCatalog, name: str) -> None:
    other = f"{name}2"
    await catalog.put_parents(name, [parent("a")])
    assert await catalog.parents(other, ["a"]) == {}
    await catalog.put_parents(other, [parent("a", children=9)])
    assert await catalog.parents(name, ["a"]) == {"a": parent("a")}
    await catalog.drop_version(other, "d", "1")
    assert await catalog.parents(name, ["a"]) == {"a": parent("a")}
    assert await catalog.count_parents(other) == 0


async def test_a_dropped_version_takes_its_parents_along(catalog: SqlCatalog, name: str) -> None:
    await catalog.put_document(document(name, version="1", state="retired"))
    await catalog.put_document(document(name, version="2"))
    await catalog.put_parents(name, [parent("a"), parent("b", version="2"), parent("c", "other")])
    await catalog.drop_version(name, "d", "1")
    assert (await catalog.parents(name, ["a", "b", "c"])).keys() == {"b", "c"}
    assert await catalog.versions(name, "d") == [document(name, version="2")]


async def test_all_versions_of_a_document_go_at_once_those_that_are_not_listed_too(
    catalog: SqlCatalog, name: str
) -> None:
    await catalog.put_document(document(name, version="1", state="failed"))
    await catalog.put_document(document(name, version="2", state="building"))
    await catalog.put_document(document(name, "other"))
    await catalog.put_parents(name, [parent("a"), parent("b", version="unlisted"), parent("c", "other")])
    await catalog.drop_version(name, "d", "")
    assert await catalog.versions(name, "d") == []
    assert (await catalog.parents(name, ["a", "b", "c"])).keys() == {"c"}
    await catalog.drop_version(name, "", "")  # no document, not all
    assert await catalog.documents(name) == [document(name, "other")]
    assert await catalog.count_parents(name) == 1


async def test_versions_come_in_any_state_and_of_one_document(catalog: SqlCatalog, name: str) -> None:
    states = ("failed", "building", "retired", "ready")
    for state in reversed(states):
        await catalog.put_document(document(name, version=state, state=state))
    await catalog.put_document(document(name, "other"))
    await catalog.put_document(document(f"{name}2"))
    found = await catalog.versions(name, "d")
    assert {info.version: info.state for info in found} == {state: state for state in states}


async def test_vectors_go_with_the_last_version_that_uses_them(catalog: SqlCatalog, name: str) -> None:
    kept = {key: [0.5] for key in ("mine", "shared", "elsewhere", "twice", "unknown")}
    await catalog.put_vectors(name, kept)
    await catalog.put_vectors(f"{name} other", {"mine": [1.0]})
    await catalog.use_vectors(name, "d", "1", name, ["mine", "shared", "elsewhere", "twice", "twice"])
    await catalog.use_vectors(name, "d", "1", name, ["mine"])
    await catalog.use_vectors(name, "d", "2", name, ["twice"])
    await catalog.use_vectors(name, "e", "1", name, ["shared"])
    await catalog.use_vectors(f"{name}2", "d", "1", name, ["elsewhere"])
    await catalog.use_vectors(name, "d", "1", name, [])

    await catalog.drop_version(name, "d", "1")
    assert set(await catalog.vectors(name, list(kept))) == {"shared", "elsewhere", "twice", "unknown"}
    assert await catalog.vectors(f"{name} other", ["mine"]) == {"mine": [1.0]}  # of another embedder
    await catalog.drop_version(name, "d", "")
    await catalog.drop_version(name, "e", "1")
    assert set(await catalog.vectors(name, list(kept))) == {"elsewhere", "unknown"}


async def test_a_catalog_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    first = SqlCatalog(f"sqlite:///{path}")
    await first.put_document(document("c"))
    await first.close()
    with sqlite3.connect(path) as database:
        database.executescript(
            "DROP TABLE parents; DROP TABLE used_vectors; UPDATE schema_version SET version = 1;"
        )
    database.close()

    again = SqlCatalog(f"sqlite:///{path}")
    assert await again.documents("c") == [document("c")]
    await again.put_parents("c", [parent("a")])
    assert await again.count_parents("c") == 1
    await again.close()
    with sqlite3.connect(path) as database:
        versions = database.execute("SELECT name, version FROM schema_version").fetchall()
    database.close()
    assert versions == [("catalog", SCHEMA)]
