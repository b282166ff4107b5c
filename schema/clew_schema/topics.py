"""Topics are typed values: a name, the body that travels there, and what orders it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.base import Message
from clew_schema.cancelling import CancelRequest, CancelResponse
from clew_schema.dead_letters import DeadLetterRequest, DeadLetterResponse
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.errors import DeadLetter
from clew_schema.grading import GradingRequest, GradingResponse
from clew_schema.rdf import Triples
from clew_schema.retrieval import (
    DocumentRagQuery,
    DocumentRagResponse,
    GraphRagQuery,
    GraphRagResponse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Topic(Generic[M]):
    """A short name ↔ the type of its bodies ↔ the field whose value is the partition key."""

    name: str
    body: type[M]
    key: str
    about: str

    def key_of(self, body: M) -> str:
        """The partition key of ``body``; ``""`` when it has none."""
        value: Any = body
        for name in self.key.split("."):
            value = getattr(value, name, None)
        return value if isinstance(value, str) else ""


AGENT_REQUEST = Topic(
    "agent-request", AgentRequest, "session_id", "questions to the agent, and its next iterations"
)
AGENT_RESPONSE = Topic("agent-response", AgentResponse, "session_id", "what the agent says")
DOCUMENT_RAG_REQUEST = Topic("document-rag-request", DocumentRagQuery, "session_id", "questions to documents")
DOCUMENT_RAG_RESPONSE = Topic(
    "document-rag-response", DocumentRagResponse, "session_id", "answers from documents"
)
GRAPH_RAG_REQUEST = Topic("graph-rag-request", GraphRagQuery, "session_id", "questions to a knowledge graph")
GRAPH_RAG_RESPONSE = Topic(
    "graph-rag-response", GraphRagResponse, "session_id", "answers from a knowledge graph"
)
GRADING_REQUEST = Topic("grading-request", GradingRequest, "session_id", "evidence to be graded")
GRADING_RESPONSE = Topic("grading-response", GradingResponse, "session_id", "graded evidence, with its route")
AGENT_OBSERVATION = Topic(
    "agent-observation",
    DocumentRagResponse,
    "session_id",
    "results of the agent's bus tools, by return address",
)
EXPLAINABILITY = Topic("explainability", Triples, "metadata.root", "what every step decided, as RDF quads")
DOCUMENT_LOAD = Topic("document-load", DocumentLoad, "name", "documents to be taken in")
DOCUMENT_STATUS = Topic("document-status", DocumentStatus, "document_id", "how far documents are")
DEAD_LETTER = Topic("dead-letter", DeadLetter, "session_id", "messages that could not be handled")
DEAD_LETTER_REQUEST = Topic(
    "dead-letter-request", DeadLetterRequest, "letter_id", "what operators ask of the dead letters"
)
DEAD_LETTER_RESPONSE = Topic(
    "dead-letter-response", DeadLetterResponse, "action", "what operators are told of the dead letters"
)
CANCEL_REQUEST = Topic("cancel-request", CancelRequest, "session_id", "runs that are to end")
CANCEL_RESPONSE = Topic("cancel-response", CancelResponse, "session_id", "what came of that")

TOPICS: tuple[Topic[Any], ...] = (
    AGENT_REQUEST,
    AGENT_RESPONSE,
    AGENT_OBSERVATION,
    DOCUMENT_RAG_REQUEST,
    DOCUMENT_RAG_RESPONSE,
    GRAPH_RAG_REQUEST,
    GRAPH_RAG_RESPONSE,
    GRADING_REQUEST,
    GRADING_RESPONSE,
    EXPLAINABILITY,
    DOCUMENT_LOAD,
    DOCUMENT_STATUS,
    DEAD_LETTER,
    DEAD_LETTER_REQUEST,
    DEAD_LETTER_RESPONSE,
    CANCEL_REQUEST,
    CANCEL_RESPONSE,
)
"""Every topic, in the order of the reference."""

RESPONSES: tuple[Topic[Any], ...] = (
    AGENT_RESPONSE,
    DOCUMENT_RAG_RESPONSE,
    GRAPH_RAG_RESPONSE,
    DOCUMENT_STATUS,
    DEAD_LETTER_RESPONSE,
    CANCEL_RESPONSE,
)
"""Topics that go back to the caller: ``reply-to`` replaces their name."""

ENTRIES: tuple[Topic[Any], ...] = (
    AGENT_REQUEST,
    DOCUMENT_RAG_REQUEST,
    GRAPH_RAG_REQUEST,
    DOCUMENT_LOAD,
    DEAD_LETTER_REQUEST,
    CANCEL_REQUEST,
)
"""Topics that callers publish to. What stands there is theirs to get wrong."""

Profile = Literal["clew", "trustgraph"]

_PART = r"[\w.=:~+@%-]{1,128}"
_FULL_NAME = re.compile(rf"(?:non-)?persistent://{_PART}/{_PART}/{_PART}")
_SERVICE_TOPICS = frozenset(topic.name for topic in TOPICS if topic not in RESPONSES)

_TRUSTGRAPH_QUEUES: Mapping[str, str] = {
    "agent-request": "request:{space}:agent:{flow}",
    "agent-response": "response:{space}:agent:{flow}",
    "document-rag-request": "request:{space}:document-rag:{flow}",
    "document-rag-response": "response:{space}:document-rag:{flow}",
    "graph-rag-request": "request:{space}:graph-rag:{flow}",
    "graph-rag-response": "response:{space}:graph-rag:{flow}",
    "explainability": "flow:{space}:triples-store:{flow}",
}
"""TrustGraph's queues for what both have; what is ours alone stays in our own namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSpace:
    """Where topics live. ``full`` turns a short name into the name that Pulsar knows.

    Profile ``trustgraph`` uses TrustGraph's names for the topics that both have (``workspace`` and
    ``flow`` are TrustGraph's), so that our services can stand in for its own.
    """

    tenant: str = "public"
    namespace: str = "default"
    profile: Profile = "clew"
    trustgraph_space: str = "tg"
    workspace: str = "default"
    flow: str = "default"

    def full(self, name: str) -> str:
        """The full topic name; a name that is already full is left alone."""
        if "://" in name:
            return name
        if self.profile == "trustgraph" and (queue := _TRUSTGRAPH_QUEUES.get(name)):
            return queue_topic(
                queue.format(space=self.trustgraph_space, flow=f"{self.workspace}:{self.flow}")
            )
        return f"persistent://{self.tenant}/{self.namespace}/{name}"

    def own(self, name: str) -> str:
        """The full name in our own namespace: where our services send to each other, whatever the profile.

        TrustGraph's request topics are not persistent, and a run's state travels in our requests.
        """
        return f"persistent://{self.tenant}/{self.namespace}/{name}"

    def answerable(self, name: str, *, tool: bool = False) -> str | None:
        """The full name of the topic ``name`` if answers may go there, else null.

        Ours, well-formed, and no topic that a service reads: an answer there would be a request.
        ``tool``: the name stands in a return address, so it may be where a service waits for its tools.
        """
        full = self.full(name)
        if not _FULL_NAME.fullmatch(full) or not self.owns(full) or full.endswith(".retry"):
            return None
        taken = {self.own(topic) for topic in _SERVICE_TOPICS} | {
            self.full(topic) for topic in _SERVICE_TOPICS
        }
        if tool:
            taken.discard(self.own(AGENT_OBSERVATION.name))
        return None if full in taken else full

    def retry(self, topic: str, service: str) -> str:
        """The topic of delayed copies for one service's reading of ``topic`` (always persistent, always ours)."""
        return f"persistent://{self.tenant}/{self.namespace}/{topic}.{service}.retry"

    def owns(self, full_name: str) -> bool:
        """Whether ``full_name`` lies in our tenant and namespace: what a caller may name as ``reply-to``."""
        rest = full_name.partition("://")[2]
        inside = rest.startswith(f"{self.tenant}/{self.namespace}/")
        return inside or (
            self.profile == "trustgraph" and rest.startswith(f"{self.trustgraph_space}/response/")
        )


def queue_topic(queue: str) -> str:
    """TrustGraph's queue id ``class:topicspace:topic`` as a Pulsar topic; a full topic name is left alone.

    ``flow`` is persistent, ``request``, ``response`` and ``notify`` are not. Raises ValueError for
    anything else, saying what was expected.
    """
    if "://" in queue:
        return queue
    kind, *rest = queue.split(":", 2)
    if len(rest) != 2:
        msg = f"Invalid queue format: {queue}, expected class:topicspace:topic"
        raise ValueError(msg)
    if kind not in {"flow", "request", "response", "notify"}:
        msg = f"Invalid queue class: {kind}, expected flow, request, response, or notify"
        raise ValueError(msg)
    persistence = "persistent" if kind == "flow" else "non-persistent"
    return f"{persistence}://{rest[0]}/{kind}/{rest[1]}"
