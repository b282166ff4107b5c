"""The catalog in SQL: collections, documents with their versions and parents, and vectors by content hash."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from clew_services.adapters.stores.catalog_parents import ParentTables
from clew_services.adapters.stores.sql import SqlStore
from clew_services.ports import CollectionInfo, DocumentInfo, Parent

SCHEMA = 3
"""Version of the tables; since 2 there are parents, and notes of which version uses which vectors; since 3 a
collection has its analyzer."""

HASHES_PER_QUERY = 500
"""Content hashes that one statement asks for."""

METADATA = sa.MetaData()
COLLECTIONS = sa.Table(
    "collections",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("embedder", sa.Text, nullable=False),
    sa.Column("dimensions", sa.Integer, nullable=False),
    sa.Column("analyzer", sa.Text, nullable=False, server_default=""),
)
DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    sa.Column("collection", sa.Text, primary_key=True),
    sa.Column("document_id", sa.Text, primary_key=True),
    sa.Column("version", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("chunks", sa.Integer, nullable=False),
    sa.Column("characters", sa.BigInteger, nullable=False),
    sa.Column("pages", sa.Integer, nullable=False),
    sa.Column("ingested_at", sa.Double, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
)
sa.Index(
    # At most one ready version, whoever writes at the same time.
    "one_ready_version",
    DOCUMENTS.c.collection,
    DOCUMENTS.c.document_id,
    unique=True,
    sqlite_where=DOCUMENTS.c.state == "ready",
    postgresql_where=DOCUMENTS.c.state == "ready",
)
VECTORS = sa.Table(
    "vectors",
    METADATA,
    sa.Column("embedder", sa.Text, primary_key=True),
    sa.Column("content_hash", sa.Text, primary_key=True),
    sa.Column("vector", sa.LargeBinary, nullable=False),
)
PARENTS = ParentTables(METADATA, VECTORS)

_HASHES = sa.select(VECTORS.c.content_hash, VECTORS.c.vector).where(
    VECTORS.c.embedder == sa.bindparam("embedder"),
    VECTORS.c.content_hash.in_(sa.bindparam("hashes", expanding=True)),
)

_SERVING = sa.select(DOCUMENTS.c.document_id, DOCUMENTS.c.version).where(
    DOCUMENTS.c.collection == sa.bindparam("collection"),
    DOCUMENTS.c.state == "ready",
    DOCUMENTS.c.document_id.in_(sa.bindparam("documents", expanding=True)),
)


@sa.event.listens_for(METADATA, "after_create")
def _upgrade(_: sa.MetaData, connection: sa.Connection, **__: object) -> None:
    """Give the table of an earlier version the column that it lacks; in the transaction that makes the tables."""
    has = {column["name"] for column in sa.inspect(connection).get_columns(COLLECTIONS.name)}
    if COLLECTIONS.c.analyzer.name not in has:
        column = sa.schema.CreateColumn(COLLECTIONS.c.analyzer).compile(dialect=connection.dialect)
        connection.execute(sa.text(f"ALTER TABLE {COLLECTIONS.name} ADD COLUMN {column}"))


class SqlCatalog:
    """The catalog at a database URL; ``sqlite://`` keeps it in memory.

    Vectors are kept as little-endian float32, so what comes back is what a float32 model gave. Raises
    StoreFailed as the port says, and StoreIncompatible for a database of a newer Clew.
    """

    def __init__(self, url: str) -> None:
        self._store = SqlStore(url, METADATA, name="catalog", version=SCHEMA)
        self._dialect = postgresql if self._store.dialect == "postgresql" else sqlite

    async def open(self) -> None:
        """Connect and make the tables that are missing."""
        await self._store.open()

    async def collection(self, name: str) -> CollectionInfo | None:
        """The collection, if somebody made it."""
        return await self._store.call(lambda c: _collection(c, name))

    async def create_collection(self, info: CollectionInfo) -> CollectionInfo:
        """Make it, or return the one that exists, whatever its embedder and analyzer."""

        def create(connection: sa.Connection) -> CollectionInfo:
            insert = self._dialect.insert(COLLECTIONS).on_conflict_do_nothing()
            connection.execute(insert, asdict(info))
            return _collection(connection, info.name) or info

        return await self._store.call(create)

    async def collections(self) -> Sequence[CollectionInfo]:
        """All, by name in code point order."""
        rows = await self._store.call(lambda c: c.execute(sa.select(COLLECTIONS)).mappings().all())
        return sorted((CollectionInfo(**row) for row in rows), key=lambda info: info.name)

    async def put_document(self, info: DocumentInfo) -> None:
        """Write a version; ``ready`` retires all others of the document, in the same transaction."""

        def put(connection: sa.Connection) -> None:
            if info.state == "ready":
                others = sa.and_(
                    _is_document(info.collection, info.document_id),
                    DOCUMENTS.c.version != info.version,
                    DOCUMENTS.c.state != "retired",
                )
                connection.execute(sa.update(DOCUMENTS).where(others).values(state="retired"))
            row = asdict(info)
            insert = self._dialect.insert(DOCUMENTS).values(row)
            connection.execute(insert.on_conflict_do_update(index_elements=DOCUMENTS.primary_key, set_=row))

        await self._store.call(put)

    async def documents(self, collection: str) -> Sequence[DocumentInfo]:
        """The ready and the failed ones of a collection, by name in code point order."""
        return await self._documents(
            DOCUMENTS.c.collection == collection, DOCUMENTS.c.state.in_(("ready", "failed"))
        )

    async def document(self, collection: str, document_id: str) -> DocumentInfo | None:
        """The ready version of a document."""
        found = await self._documents(_is_document(collection, document_id), DOCUMENTS.c.state == "ready")
        return found[0] if found else None

    async def serving(self, collection: str, document_ids: Collection[str]) -> Mapping[str, str]:
        """The ready version of each of these documents."""
        keys = {"collection": collection, "documents": list(document_ids)}
        rows: Sequence[Any] = await self._store.call(lambda c: c.execute(_SERVING, keys).all())
        return {row.document_id: row.version for row in rows}

    async def retired(self, collection: str) -> Sequence[DocumentInfo]:
        """Versions that were replaced and whose chunks may still be in the vector store."""
        return await self._documents(DOCUMENTS.c.collection == collection, DOCUMENTS.c.state == "retired")

    async def versions(self, collection: str, document_id: str) -> Sequence[DocumentInfo]:
        """Every version of a document that is known, in any state."""
        return await self._documents(_is_document(collection, document_id))

    async def drop_version(self, collection: str, document_id: str, version: str) -> None:
        """Forget one version, or all for ``""``: parents too, and vectors that nothing else uses."""
        this = _is_document(collection, document_id)
        if version:
            this = sa.and_(this, DOCUMENTS.c.version == version)

        def drop(connection: sa.Connection) -> None:
            if document_id:
                PARENTS.drop(connection, collection, document_id, version)
                connection.execute(sa.delete(DOCUMENTS).where(this))

        await self._store.call(drop)

    async def put_parents(self, collection: str, parents: Sequence[Parent]) -> None:
        """Write parents by chunk id; a second write of an id replaces the first."""
        await self._store.call(lambda c: PARENTS.put(c, collection, parents))

    async def parents(self, collection: str, chunk_ids: Sequence[str]) -> Mapping[str, Parent]:
        """These parents, by chunk id; missing ones are absent."""
        return await self._store.call(lambda c: PARENTS.read(c, collection, chunk_ids))

    async def count_parents(self, collection: str, document_id: str = "", version: str = "") -> int:
        """How many parents the collection, a document or one version of it has."""
        return await self._store.call(lambda c: PARENTS.count(c, collection, document_id, version))

    async def use_vectors(
        self, collection: str, document_id: str, version: str, embedder: str, hashes: Sequence[str]
    ) -> None:
        """Note, before they are remembered, that a version uses the vectors of these content hashes."""
        await self._store.call(
            lambda c: PARENTS.use(
                c, collection, document_id, version=version, embedder=embedder, hashes=hashes
            )
        )

    async def vectors(self, embedder: str, hashes: Sequence[str]) -> Mapping[str, Sequence[float]]:
        """Vectors computed before, by content hash; missing ones are absent."""

        def read(connection: sa.Connection) -> dict[str, Sequence[float]]:
            found: dict[str, Sequence[float]] = {}
            for start in range(0, len(hashes), HASHES_PER_QUERY):
                keys = {"embedder": embedder, "hashes": list(hashes[start : start + HASHES_PER_QUERY])}
                for content_hash, blob in connection.execute(_HASHES, keys):
                    found[content_hash] = np.frombuffer(blob, "<f4").tolist()
            return found

        return await self._store.call(read)

    async def put_vectors(self, embedder: str, vectors: Mapping[str, Sequence[float]]) -> None:
        """Remember vectors by content hash; one that is known already stays."""
        rows = [
            {"embedder": embedder, "content_hash": key, "vector": np.asarray(vector, "<f4").tobytes()}
            for key, vector in vectors.items()
        ]
        if rows:
            insert = self._dialect.insert(VECTORS).on_conflict_do_nothing()
            await self._store.call(lambda c: c.execute(insert, rows))

    async def close(self) -> None:
        """Commit what waits and disconnect."""
        await self._store.close()

    async def _documents(self, *conditions: sa.ColumnElement[bool]) -> list[DocumentInfo]:
        query = sa.select(DOCUMENTS).where(*conditions)
        rows: Sequence[Any] = await self._store.call(lambda c: c.execute(query).mappings().all())
        # Sorted here, for databases differ in how they collate.
        return sorted((DocumentInfo(**row) for row in rows), key=lambda d: (d.name, d.document_id, d.version))


def _is_document(collection: str, document_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(DOCUMENTS.c.collection == collection, DOCUMENTS.c.document_id == document_id)


def _collection(connection: sa.Connection, name: str) -> CollectionInfo | None:
    query = sa.select(COLLECTIONS).where(COLLECTIONS.c.name == name)
    row = connection.execute(query).mappings().first()
    return CollectionInfo(**row) if row else None
