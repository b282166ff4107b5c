"""Documents out: versions that were replaced, and whole documents with every trace of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clew_services.core.chunking import document_id as derived_id
from clew_services.errors import BadRequest, RetrievalFailed

if TYPE_CHECKING:
    from clew_services.ports import Catalog, DocumentInfo, VectorStore

ALL = ""
"""Every version."""


async def retire(catalog: Catalog, vectors: VectorStore, collection: str, document_id: str) -> None:
    """Delete the chunks of the versions of a document that were replaced, then forget these versions."""
    for old in await catalog.retired(collection):
        if old.document_id == document_id:
            await vectors.delete(collection, document_id, version=old.version)
            await catalog.drop_version(collection, document_id, old.version)


async def named(catalog: Catalog, collection: str, name: str) -> str:
    """The id of the document of that name, one that a deletion left half done included.

    Raises BadRequest when there is none, and when there are several, under ids of their senders' own.
    """
    usual = derived_id(collection, name)
    known = (*await catalog.documents(collection), *await catalog.retired(collection))
    found = {info.document_id for info in known if info.name == name}
    if await catalog.versions(collection, usual):
        found.add(usual)
    if len(found) > 1:
        raise BadRequest(
            f"{len(found)} documents of collection {collection!r} are named {name!r}: "
            f"give the document_id of one, {' or '.join(sorted(found))}"
        )
    if not found:
        raise BadRequest(f"there is no document {name!r} in collection {collection!r}")
    return found.pop()


async def delete(catalog: Catalog, vectors: VectorStore, collection: str, document_id: str) -> DocumentInfo:
    """Remove every trace of a document from both stores, and return what was known of it.

    Raises BadRequest for a document that is not there, RetrievalFailed when its leaves do not go.
    """
    versions = await catalog.versions(collection, document_id)
    info = await catalog.collection(collection)
    if not versions or info is None:
        raise BadRequest(f"there is no document {document_id!r} in collection {collection!r}")
    for version in versions:  # from now on nothing of it is found
        await catalog.put_document(replace(version, state="retired"))
    await vectors.ensure(info)
    await vectors.delete(collection, document_id)
    await vectors.flush(collection)
    if left := await vectors.count(collection, document_id):
        raise RetrievalFailed(
            f"{versions[0].name}: {left} chunks are still in the vector store; delete the document again"
        )
    # Last, and at once: until then a second deletion knows that there is something to delete.
    await catalog.drop_version(collection, document_id, ALL)
    return max(versions, key=lambda version: (version.state == "ready", version.ingested_at))
