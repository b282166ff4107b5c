"""TrustGraph's other messages: models, embeddings, queries and tools, with TrustGraph's names and defaults.

Nothing of ours is added to them. They are here so that our services can call TrustGraph's on its own
topics, and so that its clients can call ours. Requests are answered by the response of the same name;
a response with ``error`` holds nothing else. What concerns documents and settings is in ``library``.
"""

from pydantic import ConfigDict, Field

from clew_schema.base import Items, Message
from clew_schema.errors import Error
from clew_schema.rdf import Term, Triple

# --- reranking ------------------------------------------------------------------------------------


class RerankerQuery(Message):
    """A question to rank documents by; ids are the caller's own and come back in the results."""

    query_id: str = ""
    query_text: str = ""


class RerankerDocument(Message):
    """A document to be ranked."""

    document_id: str = ""
    document_text: str = ""


class RerankerRequest(Message):
    """Rank ``documents`` for every one of ``queries``; at most ``limit`` results for each."""

    queries: Items[RerankerQuery] = ()
    documents: Items[RerankerDocument] = ()
    limit: int = 10


class RerankerResult(Message):
    """How well a document fits a query; a greater score is better, the scale is the model's."""

    document_id: str = ""
    query_id: str = ""
    score: float = 0.0


class RerankerResponse(Message):
    """The ranking, best first."""

    error: Error | None = None
    results: Items[RerankerResult] = ()


# --- chat models ----------------------------------------------------------------------------------


class PromptRequest(Message):
    """Fill the prompt template ``id`` and send it to the model. Each of ``terms`` is JSON text."""

    id: str = ""
    terms: dict[str, str] = {}
    streaming: bool = False


class PromptResponse(Message):
    """The model's ``text``, or, when the template asks for a value, that value as JSON text in ``object``."""

    error: Error | None = None
    text: str = ""
    object: str = ""
    end_of_stream: bool = False
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None


class TextCompletionRequest(Message):
    """Complete ``prompt`` under the instructions ``system``.

    ``schema_text`` is the field that travels as ``schema``: a JSON Schema for the reply, as text. The
    name is taken in pydantic; it is read and written as ``schema`` everywhere, and may be given by either.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    system: str = ""
    prompt: str = ""
    streaming: bool = False
    response_format: str | None = None
    schema_text: str | None = Field(default=None, alias="schema")


class TextCompletionResponse(Message):
    """The reply, or a piece of it."""

    error: Error | None = None
    response: str = ""
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None
    end_of_stream: bool = False


# --- embeddings -----------------------------------------------------------------------------------


class EmbeddingsRequest(Message):
    """Embed every one of ``texts``."""

    texts: Items[str] = ()


class EmbeddingsResponse(Message):
    """One vector for each text, in the same order."""

    error: Error | None = None
    vectors: Items[Items[float]] = ()


class DocumentEmbeddingsRequest(Message):
    """The chunks of ``collection`` that are nearest to ``vector``."""

    vector: Items[float] = ()
    limit: int = 0
    collection: str = ""


class ChunkMatch(Message):
    """A chunk and how near it is."""

    chunk_id: str = ""
    score: float = 0.0


class DocumentEmbeddingsResponse(Message):
    """The chunks, nearest first."""

    error: Error | None = None
    chunks: Items[ChunkMatch] = ()


class GraphEmbeddingsRequest(Message):
    """The entities of ``collection`` that are nearest to ``vector``."""

    vector: Items[float] = ()
    limit: int = 0
    collection: str = ""


class EntityMatch(Message):
    """An entity of the graph and how near it is."""

    entity: Term | None = None
    score: float = 0.0


class GraphEmbeddingsResponse(Message):
    """The entities, nearest first."""

    error: Error | None = None
    entities: Items[EntityMatch] = ()


class RowEmbeddingsRequest(Message):
    """The rows of a table whose indexed values are nearest to ``vector``; ``index_name`` null: any index."""

    vector: Items[float] = ()
    limit: int = 10
    collection: str = ""
    schema_name: str = ""
    index_name: str | None = None


class RowIndexMatch(Message):
    """An index value, the text that was embedded for it, and how near it is."""

    index_name: str = ""
    index_value: Items[str] = ()
    text: str = ""
    score: float = 0.0


class RowEmbeddingsResponse(Message):
    """The index values, nearest first."""

    error: Error | None = None
    matches: Items[RowIndexMatch] = ()


# --- queries --------------------------------------------------------------------------------------


class KeywordIndexRequest(Message):
    """The chunks of ``collection`` that contain the words of ``query``."""

    query: str = ""
    limit: int = 0
    collection: str = ""


class KeywordIndexResponse(Message):
    """The chunks, best first."""

    error: Error | None = None
    chunks: Items[ChunkMatch] = ()


class TriplesQueryRequest(Message):
    """The triples of ``collection`` that match; a term that is null matches any, ``g`` null the default graph."""

    collection: str = ""
    s: Term | None = None
    p: Term | None = None
    o: Term | None = None
    g: str | None = None
    limit: int = 0
    streaming: bool = False
    batch_size: int = 20


class TriplesQueryResponse(Message):
    """The triples, or a batch of them; the last batch is final."""

    error: Error | None = None
    triples: Items[Triple] = ()
    is_final: bool = True


class StructuredQueryRequest(Message):
    """A question in natural language to the tables of ``collection``."""

    question: str = ""
    collection: str = ""


class StructuredQueryResponse(Message):
    """The rows as JSON text in ``data``, and what went wrong with parts of the query."""

    error: Error | None = None
    data: str = ""
    errors: Items[str] = ()


# --- tools ----------------------------------------------------------------------------------------


class ToolRequest(Message):
    """Call the MCP tool ``name``; ``parameters`` is a JSON object as text, null when there are none."""

    name: str = ""
    parameters: str | None = ""


class ToolResponse(Message):
    """What the tool returned: text, or a value as JSON text in ``object``."""

    error: Error | None = None
    text: str = ""
    object: str = ""


class ToolServiceRequest(Message):
    """Call a tool that is a service of its own; both fields are JSON objects as text."""

    config: str = ""
    arguments: str = ""


class ToolServiceResponse(Message):
    """What the tool said, or a piece of it."""

    error: Error | None = None
    response: str = ""
    end_of_stream: bool = False
