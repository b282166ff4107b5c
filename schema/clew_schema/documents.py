"""Documents in, progress out."""

from typing import Literal

from clew_schema.base import Message
from clew_schema.errors import Error

DocumentState = Literal["received", "parsed", "embedding", "ready", "unchanged", "failed", "deleted"]
AnalyzerName = Literal["auto", "standard", "jieba", "english", "chinese"]


class DocumentLoad(Message):
    """Take this document into ``collection``; or, with ``delete``, remove every trace of it from there.

    ``content`` is the file, base64; ``name`` its name, never a path that is opened. A deletion names the
    document by ``document_id`` or by ``name``.

    ``analyzer`` is how texts are split into words, for a collection that this document makes; of one that exists it
    must be the analyzer. Empty: the service's setting; ``auto``: chosen from this document's text.
    """

    collection: str = ""
    name: str = ""
    media_type: str = ""
    content: str = ""
    document_id: str = ""
    user: str = ""
    delete: bool = False
    analyzer: AnalyzerName | Literal[""] = ""


class DocumentStatus(Message):
    """How far a document is. ``chunks_done`` of ``chunks`` are searchable once ``state`` is ``ready``."""

    document_id: str = ""
    collection: str = ""
    name: str = ""
    version: str = ""
    state: DocumentState = "received"
    chunks: int = 0
    chunks_done: int = 0
    error: Error | None = None
