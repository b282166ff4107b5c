"""Asking documents and knowledge graphs, and what comes back."""

from typing import Any, Literal

from clew_schema.base import Items, Message, RunMessage
from clew_schema.errors import Error
from clew_schema.evidence import Citation, CitationCheck, Claim
from clew_schema.facts import Outcome
from clew_schema.rdf import Triple

RagMessageType = Literal["", "chunk", "explain", "end"]


class ReturnAddress(Message):
    """Where a bus tool sends its result, and what it hands back unread.

    The answering service publishes its final response to ``topic`` with ``id`` set to ``correlation``
    and ``state`` echoed, so the asker needs no memory of having asked.
    """

    topic: str
    correlation: str = ""
    state: str = ""


class DocumentRagQuery(RunMessage):
    """A question to documents. ``doc_limit`` 0 means the service's default.

    ``user`` is who asks, if that is to be kept in the trace.

    With ``ticket`` it is the answer of a person that a paused run waits for, in ``answer``; or, with
    ``cancel``, the wish not to be asked any more. ``query`` is not read then.
    """

    query: str = ""
    doc_limit: int = 0
    fetch_limit: int = 0
    streaming: bool = False
    parent_uri: str = ""
    reply: ReturnAddress | None = None
    ticket: str = ""
    answer: str = ""
    cancel: bool = False
    user: str = ""

    @property
    def wants_stream(self) -> bool:
        """Whether the caller asked for steps and text while they come."""
        return self.streaming


class DocumentRagResponse(RunMessage):
    """Text, an explanation, or the end of a document question.

    ``message_type`` is ``chunk`` (a piece of the text), ``explain`` (triples of a step), ``end`` (the end of a
    stream, with the whole text) or ``""`` (the one answer of a call without streaming, or an error).
    The last message of a run has ``end_of_session``; an error has both end flags. A run that waits for a person
    ends its messages too: ``ticket`` names what to answer, ``options`` what to choose from, ``expires_at`` until
    when (UTC, ISO 8601). The final answer carries ``rag_trace`` (SuperMew's record of the run, 59 fields at
    most) and beside it ``ext`` (what that cannot hold).
    """

    error: Error | None = None
    response: str | None = ""
    end_of_stream: bool = False
    explain_id: str | None = None
    explain_graph: str | None = None
    explain_triples: Items[Triple] = ()
    message_type: RagMessageType = ""
    end_of_session: bool = False
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None
    message_id: str = ""
    outcome: Outcome | None = None
    citations: Items[Citation] = ()
    claims: Items[Claim] = ()
    checks: Items[CitationCheck] = ()
    coverage: float | None = None
    ticket: str = ""
    options: Items[str] = ()
    expires_at: str = ""
    rag_trace: dict[str, Any] | None = None
    ext: dict[str, Any] | None = None
    state: str = ""


class Source(Message):
    """A document that an answer rests on."""

    uri: str = ""
    title: str = ""


class GraphRagQuery(RunMessage):
    """A question to a knowledge graph. A limit of 0 means the service's default."""

    query: str = ""
    entity_limit: int = 0
    triple_limit: int = 0
    max_subgraph_size: int = 0
    max_path_length: int = 0
    edge_score_limit: int = 0
    edge_limit: int = 0
    max_reranker_input: int = 0
    streaming: bool = False
    parent_uri: str = ""
    reply: ReturnAddress | None = None

    @property
    def wants_stream(self) -> bool:
        """Whether the caller asked for steps and text while they come."""
        return self.streaming


class GraphRagResponse(RunMessage):
    """As :class:`DocumentRagResponse`, for a graph question, with the documents its edges came from."""

    error: Error | None = None
    response: str = ""
    end_of_stream: bool = False
    explain_id: str | None = None
    explain_graph: str | None = None
    explain_triples: Items[Triple] = ()
    message_type: RagMessageType = ""
    end_of_session: bool = False
    in_token: int | None = None
    out_token: int | None = None
    model: str | None = None
    sources: Items[Source] = ()
    message_id: str = ""
    state: str = ""
