"""What the catalog keeps of a version's chunks: its parents, and which remembered vectors its leaves use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from clew_schema.evidence import Evidence
from clew_services.ports import Parent

IDS_PER_QUERY = 500
"""Chunk ids that one statement asks for."""


class ParentTables:
    """The tables, in the catalog's ``metadata``; ``vectors`` is its table of vectors by content hash."""

    def __init__(self, metadata: sa.MetaData, vectors: sa.Table) -> None:
        self._vectors = vectors
        self._parents = sa.Table(
            "parents",
            metadata,
            sa.Column("collection", sa.Text, primary_key=True),
            sa.Column("chunk_id", sa.Text, primary_key=True),
            sa.Column("document_id", sa.Text, nullable=False),
            sa.Column("version", sa.Text, nullable=False),
            sa.Column("children", sa.Integer, nullable=False),
            sa.Column("evidence", sa.Text, nullable=False),
            sa.Index("parents_of_version", "collection", "document_id", "version"),
        )
        self._used = sa.Table(
            "used_vectors",
            metadata,
            sa.Column("collection", sa.Text, primary_key=True),
            sa.Column("document_id", sa.Text, primary_key=True),
            sa.Column("version", sa.Text, primary_key=True),
            sa.Column("embedder", sa.Text, primary_key=True),
            sa.Column("content_hash", sa.Text, primary_key=True),
            sa.Index("users_of_vector", "embedder", "content_hash"),
        )

    def put(self, connection: sa.Connection, collection: str, parents: Sequence[Parent]) -> None:
        """Write parents by chunk id; a second write of an id replaces the first."""
        rows = [
            {
                "collection": collection,
                "chunk_id": parent.evidence.chunk_id,
                "document_id": parent.evidence.document_id,
                "version": parent.evidence.version,
                "children": parent.children,
                "evidence": parent.evidence.model_dump_json(),
            }
            for parent in parents
        ]
        if rows:
            insert = _dialect(connection).insert(self._parents)
            changed = {column.name: column for column in insert.excluded if not column.primary_key}
            connection.execute(
                insert.on_conflict_do_update(index_elements=self._parents.primary_key, set_=changed), rows
            )

    def read(self, connection: sa.Connection, collection: str, ids: Sequence[str]) -> dict[str, Parent]:
        """These parents, by chunk id."""
        table, found = self._parents, dict[str, Parent]()
        for start in range(0, len(ids), IDS_PER_QUERY):
            query = sa.select(table.c.chunk_id, table.c.evidence, table.c.children).where(
                table.c.collection == collection, table.c.chunk_id.in_(ids[start : start + IDS_PER_QUERY])
            )
            for chunk_id, evidence, children in connection.execute(query):
                found[chunk_id] = Parent(evidence=Evidence.model_validate_json(evidence), children=children)
        return found

    def count(self, connection: sa.Connection, collection: str, document_id: str, version: str) -> int:
        """How many parents there are of the collection, a document or one version of it."""
        which = _of(self._parents, collection, document_id, version)
        query = sa.select(sa.func.count()).select_from(self._parents).where(which)
        return connection.execute(query).scalar_one()

    def use(
        self,
        connection: sa.Connection,
        collection: str,
        document_id: str,
        *,
        version: str,
        embedder: str,
        hashes: Sequence[str],
    ) -> None:
        """Note that a version's leaves use the vectors of these content hashes."""
        key = {"collection": collection, "document_id": document_id, "version": version, "embedder": embedder}
        rows = [key | {"content_hash": each} for each in dict.fromkeys(hashes)]
        if rows:
            connection.execute(_dialect(connection).insert(self._used).on_conflict_do_nothing(), rows)

    def drop(self, connection: sa.Connection, collection: str, document_id: str, version: str) -> None:
        """Forget the parents of a version (``""``: of all versions), and vectors that only it used."""
        connection.execute(
            sa.delete(self._parents).where(_of(self._parents, collection, document_id, version))
        )
        mine, vectors = self._used, self._vectors
        this = _of(mine, collection, document_id, version)
        other = mine.alias("other")
        others = sa.exists().where(
            other.c.embedder == mine.c.embedder,
            other.c.content_hash == mine.c.content_hash,
            sa.not_(_of(other, collection, document_id, version)),
        )
        alone = sa.select(mine.c.embedder, mine.c.content_hash).where(this, sa.not_(others))
        connection.execute(
            sa.delete(vectors).where(sa.tuple_(vectors.c.embedder, vectors.c.content_hash).in_(alone))
        )
        connection.execute(sa.delete(mine).where(this))


def _of(table: sa.FromClause, collection: str, document_id: str, version: str) -> sa.ColumnElement[bool]:
    """The rows of a collection, a document (``""``: all) or one version of it (``""``: all)."""
    wanted = {"collection": collection, "document_id": document_id, "version": version}
    return sa.and_(
        *(table.c[name] == value for name, value in wanted.items() if value or name == "collection")
    )


def _dialect(connection: sa.Connection) -> Any:
    """The dialect's own statements: both know ``ON CONFLICT``."""
    return postgresql if connection.dialect.name == "postgresql" else sqlite
