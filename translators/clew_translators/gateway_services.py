"""What TrustGraph's gateway spells differently from the models, service by service.

Each service has a request and a response, and each of these a :class:`~clew_translators.gateway_shape.Shape`. What
services tell only each other (the trail, return addresses and the state that they echo) is ``internal``: it crosses
the gateway in neither direction, so no caller can forge it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from clew_schema import services as tg
from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.limits import DEFAULT_COLLECTION
from clew_schema.rdf import Triples
from clew_schema.retrieval import (
    DocumentRagQuery,
    DocumentRagResponse,
    GraphRagQuery,
    GraphRagResponse,
)
from clew_translators.gateway_shape import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.base import Message

_AGENT_EXTRAS = frozenset({"user", "parent_uri"})
_RAG_EXTRAS = frozenset({"session_id", "parent_uri", "ticket", "answer"})
_TOKENS = frozenset({"in_token", "out_token", "model"})
_COLLECTION = {"collection": DEFAULT_COLLECTION}


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A request, its response, and the field of the response that says that it is the last (``""``: each is)."""

    request: Shape[Any]
    response: Shape[Any]
    final: str = ""


def _own(model: type[Message], *without: frozenset[str]) -> frozenset[str]:
    """All of a model's fields but those."""
    return frozenset(model.model_fields).difference(*without)


def _kebab(*names: str) -> dict[str, str]:
    return {name: name.replace("_", "-") for name in names}


def _plain(name: str, request: type[Message], response: type[Message], **differences: Any) -> Service:
    """A service whose request and response are written in full, under the models' own names."""
    return Service(
        request=Shape(
            name=name, model=request, always=_own(request, frozenset({"index_name"})), **differences
        ),
        response=Shape(name=name, model=response, always=_own(response, frozenset({"error"}))),
    )


def _rag_request(name: str, model: type[Message], defaults: Mapping[str, int]) -> Shape[Any]:
    internal = frozenset({"reply"})
    return Shape(
        name=name,
        model=model,
        keys=_kebab(*defaults),
        required=frozenset({"query"}),
        defaults={**_COLLECTION, **defaults},
        integers=frozenset(defaults),
        always=_own(model, _RAG_EXTRAS, internal),
        internal=internal,
    )


def _rag_response(name: str, model: type[Message]) -> Shape[Any]:
    return Shape(
        name=name,
        model=model,
        # An absent response is null, for "" is written.
        defaults={"response": None} if model is DocumentRagResponse else {},
        always=frozenset({"end_of_stream", "end_of_session"}),
        unless_null=_TOKENS | {"response", "explain_graph", "coverage", "rag_trace", "ext"},
        internal=frozenset({"state"}),
    )


# Defaults of absent keys are TrustGraph's, whatever our services would choose for a limit of 0.
SERVICES: Mapping[str, Service] = MappingProxyType(
    {
        "agent": Service(
            request=Shape(
                name="agent",
                model=AgentRequest,
                required=frozenset({"question"}),
                defaults={"state": None},
                always=_own(AgentRequest, _AGENT_EXTRAS, frozenset({"trail"})),
                internal=frozenset({"trail"}),
            ),
            response=Shape(
                name="agent",
                model=AgentResponse,
                always=frozenset({"end_of_message", "end_of_dialog"}),
                unless_null=_TOKENS | {"explain_graph"},
            ),
            final="end_of_dialog",
        ),
        "document-rag": Service(
            request=_rag_request("document-rag", DocumentRagQuery, {"doc_limit": 20, "fetch_limit": 0}),
            response=_rag_response("document-rag", DocumentRagResponse),
            final="end_of_session",
        ),
        "graph-rag": Service(
            request=_rag_request(
                "graph-rag",
                GraphRagQuery,
                {
                    "entity_limit": 50,
                    "triple_limit": 30,
                    "max_subgraph_size": 1000,
                    "max_path_length": 2,
                    "edge_score_limit": 30,
                    "edge_limit": 25,
                    "max_reranker_input": 350,
                },
            ),
            response=_rag_response("graph-rag", GraphRagResponse),
            final="end_of_session",
        ),
        "triples-query": Service(
            request=Shape(
                name="triples-query",
                model=tg.TriplesQueryRequest,
                keys=_kebab("batch_size"),
                defaults={**_COLLECTION, "limit": 10000},
                integers=frozenset({"limit", "batch_size"}),
                always=frozenset({"limit", "collection", "streaming", "batch_size"}),
                unless_null=frozenset({"g"}),
            ),
            response=Shape(
                name="triples-query",
                model=tg.TriplesQueryResponse,
                keys={"triples": "response"},
                always=frozenset({"triples"}),
                internal=frozenset({"is_final"}),
            ),
            final="is_final",
        ),
        "prompt": Service(
            request=Shape(name="prompt", model=tg.PromptRequest),
            response=Shape(
                name="prompt",
                model=tg.PromptResponse,
                always=frozenset({"text", "object", "end_of_stream"}),
                unless_null=_TOKENS,
            ),
            final="end_of_stream",
        ),
        "text-completion": Service(
            request=Shape(
                name="text-completion",
                model=tg.TextCompletionRequest,
                required=frozenset({"system", "prompt"}),
                always=frozenset({"system", "prompt"}),
                unless_null=frozenset({"response_format", "schema_text"}),
            ),
            response=Shape(
                name="text-completion",
                model=tg.TextCompletionResponse,
                always=frozenset({"response", "end_of_stream"}),
                unless_null=_TOKENS,
            ),
            final="end_of_stream",
        ),
        "embeddings": _plain(
            "embeddings", tg.EmbeddingsRequest, tg.EmbeddingsResponse, required=frozenset({"texts"})
        ),
        **{
            f"{kind}-embeddings-query": _plain(
                f"{kind}-embeddings-query",
                request,
                response,
                required=frozenset({"vector"}),
                defaults={**_COLLECTION, "limit": 10},
                integers=frozenset({"limit"}),
            )
            for kind, request, response in (
                ("document", tg.DocumentEmbeddingsRequest, tg.DocumentEmbeddingsResponse),
                ("graph", tg.GraphEmbeddingsRequest, tg.GraphEmbeddingsResponse),
                ("row", tg.RowEmbeddingsRequest, tg.RowEmbeddingsResponse),
            )
        },
        "reranker": _plain("reranker", tg.RerankerRequest, tg.RerankerResponse),
        "tool": Service(
            request=Shape(
                name="tool",
                model=tg.ToolRequest,
                defaults={"parameters": None},
                json_text=frozenset({"parameters"}),
                unless_null=frozenset({"parameters"}),
            ),
            response=Shape(name="tool", model=tg.ToolResponse, json_text=frozenset({"object"})),
        ),
        "structured-query": Service(
            request=Shape(
                name="structured-query",
                model=tg.StructuredQueryRequest,
                defaults=_COLLECTION,
                always=_own(tg.StructuredQueryRequest),
            ),
            response=Shape(
                name="structured-query",
                model=tg.StructuredQueryResponse,
                always=frozenset({"data", "errors"}),
                json_text=frozenset({"data"}),
            ),
        ),
    }
)
"""The services that have a translator, by the translator's name."""

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "triples": "triples-query",
        "document-embeddings": "document-embeddings-query",
        "graph-embeddings": "graph-embeddings-query",
        "row-embeddings": "row-embeddings-query",
        "mcp-tool": "tool",
    }
)
"""The gateway's kinds of services whose translator has another name."""

BATCH: Shape[Triples] = Shape(name="triples", model=Triples, always=_own(Triples))
"""The frames of the import and export sockets."""
