"""Ingest: take a document in and say that it is ready, or remove it and say that it is gone."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema import topics
from clew_schema.documents import DocumentStatus
from clew_schema.limits import DEFAULT_COLLECTION
from clew_services.core.chunking import document_id
from clew_services.errors import BadRequest, Unreadable
from clew_services.ingest import Document
from clew_services.runtime.outcome import Outcome, Send

if TYPE_CHECKING:
    from clew_schema.documents import DocumentLoad
    from clew_schema.errors import Error
    from clew_services.ingest import Ingester
    from clew_services.ports import Tell


@dataclass(frozen=True, slots=True)
class LoadDocument:
    """Bound to ``document-load``; sends one ``DocumentStatus``: ``ready``, ``unchanged`` or ``deleted``."""

    ingester: Ingester

    async def __call__(self, load: DocumentLoad, tell: Tell) -> Outcome:
        """Take the document in, telling how far it is; or delete it."""
        if load.delete:
            return Outcome(send=(Send(topics.DOCUMENT_STATUS, await self._delete(load)),))
        last = DocumentStatus()

        async def progress(status: DocumentStatus) -> None:
            nonlocal last
            last = status
            if status.state in {"received", "parsed", "embedding"}:
                await tell(topics.DOCUMENT_STATUS, status)

        await self.ingester.ingest(_document(load), load.collection, progress, analyzer=load.analyzer)
        return Outcome(send=(Send(topics.DOCUMENT_STATUS, last),))

    async def _delete(self, load: DocumentLoad) -> DocumentStatus:
        if not load.document_id and not load.name.strip():
            raise BadRequest("a deletion names its document: set `document_id` or `name`")
        document = load.document_id or await self.ingester.named(load.collection, load.name)
        gone = await self.ingester.delete(load.collection, document)
        return DocumentStatus(
            document_id=document,
            collection=gone.collection,
            name=gone.name,
            version=gone.version,
            state="deleted",
        )


def load_failed(load: DocumentLoad | None, error: Error) -> Send[DocumentStatus]:
    """The news that a document was not taken in, or not deleted; what was ready before a load goes on serving."""
    collection = (load.collection if load else "") or DEFAULT_COLLECTION
    name = load.name if load else ""
    status = DocumentStatus(
        document_id=(load.document_id if load else "") or document_id(collection, name),
        collection=collection,
        name=name,
        state="failed",
        error=error,
    )
    return Send(topics.DOCUMENT_STATUS, status)


def _document(load: DocumentLoad) -> Document:
    """The file in the message. Raises Unreadable when it has no name, or its content is no base64."""
    if not load.name.strip():
        raise Unreadable("the document has no name: set `name` to its file name")
    try:
        data = base64.b64decode(load.content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Unreadable(f"{load.name}: `content` is not base64 ({error})") from error
    return Document(name=load.name, data=data, media_type=load.media_type, document_id=load.document_id)
