"""TrustGraph's messages about documents and settings: librarian, config, and documents on their way in.

Names and defaults are TrustGraph's. Where TrustGraph has bytes, JSON has text: a file is base64,
the text of a chunk is itself.
"""

from clew_schema.base import Items, Message
from clew_schema.errors import Error
from clew_schema.rdf import Metadata, Triple

# --- the librarian --------------------------------------------------------------------------------


class DocumentMetadata(Message):
    """What the librarian knows of a document; ``time`` is seconds since 1970, ``kind`` a media type."""

    id: str = ""
    time: int = 0
    kind: str = ""
    title: str = ""
    comments: str = ""
    metadata: Items[Triple] = ()
    tags: Items[str] = ()
    parent_id: str = ""
    document_type: str = "source"


class ProcessingMetadata(Message):
    """That a document was given to a flow, to be taken into ``collection``."""

    id: str = ""
    document_id: str = ""
    time: int = 0
    flow: str = ""
    collection: str = ""
    tags: Items[str] = ()


class Criteria(Message):
    """A condition on documents that are listed."""

    key: str = ""
    value: str = ""
    operator: str = ""


class UploadSession(Message):
    """An upload in pieces that is not finished; ``document_metadata_json`` is a DocumentMetadata as text."""

    upload_id: str = ""
    document_id: str = ""
    document_metadata_json: str = ""
    total_size: int = 0
    chunk_size: int = 0
    total_chunks: int = 0
    chunks_received: int = 0
    created_at: str = ""


class LibrarianRequest(Message):
    """``operation`` (``add-document``, ``get-document-content``, ``begin-upload``, …) says which fields count."""

    operation: str = ""
    document_id: str = ""
    processing_id: str = ""
    document_metadata: DocumentMetadata | None = None
    processing_metadata: ProcessingMetadata | None = None
    content: str = ""
    collection: str = ""
    criteria: Items[Criteria] = ()
    total_size: int = 0
    chunk_size: int = 0
    upload_id: str = ""
    chunk_index: int = 0
    include_children: bool = False


class LibrarianResponse(Message):
    """The answer to a request; which fields count follows from its operation."""

    error: Error | None = None
    document_metadata: DocumentMetadata | None = None
    content: str = ""
    document_metadatas: Items[DocumentMetadata] = ()
    processing_metadatas: Items[ProcessingMetadata] = ()
    upload_id: str = ""
    chunk_size: int = 0
    total_chunks: int = 0
    chunk_index: int = 0
    chunks_received: int = 0
    bytes_received: int = 0
    total_bytes: int = 0
    document_id: str = ""
    object_id: str = ""
    upload_state: str = ""
    received_chunks: Items[int] = ()
    missing_chunks: Items[int] = ()
    upload_sessions: Items[UploadSession] = ()
    is_final: bool = True


# --- settings -------------------------------------------------------------------------------------


class ConfigKey(Message):
    """The name of a setting."""

    type: str = ""
    key: str = ""


class ConfigValue(Message):
    """A setting; ``workspace`` is filled in only where values of several workspaces are listed."""

    type: str = ""
    key: str = ""
    value: str = ""
    workspace: str = ""


class ConfigRequest(Message):
    """``operation``: get, list, getvalues, getvalues-all-ws, getkeys-all-ws, put, delete or config."""

    operation: str = ""
    workspace: str = ""
    keys: Items[ConfigKey] = ()
    type: str = ""
    values: Items[ConfigValue] = ()


class ConfigResponse(Message):
    """Settings as of ``version``; ``config`` holds them by type and key."""

    version: int = 0
    values: Items[ConfigValue] = ()
    directory: Items[str] = ()
    config: dict[str, dict[str, str]] = {}
    error: Error | None = None


class WorkspaceChanges(Message):
    """Workspaces that came and went."""

    created: Items[str] = ()
    deleted: Items[str] = ()


class ConfigPush(Message):
    """Settings changed: the workspaces concerned, by the type of the setting."""

    version: int = 0
    changes: dict[str, Items[str]] = {}
    workspace_changes: WorkspaceChanges | None = None


# --- documents on their way in --------------------------------------------------------------------


class Document(Message):
    """A file, base64."""

    metadata: Metadata | None = None
    data: str = ""
    document_id: str = ""


class TextDocument(Message):
    """The text of a document."""

    metadata: Metadata | None = None
    text: str = ""
    document_id: str = ""


class Chunk(Message):
    """A piece of a document's text."""

    metadata: Metadata | None = None
    chunk: str = ""
    document_id: str = ""
