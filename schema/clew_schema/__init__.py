"""What travels between Clew's services: messages, topics, ids and limits. Depends on pydantic alone.

A client team installs this distribution and publishes, say, an :class:`AgentRequest` to
``TopicSpace().full("agent-request")`` with any Pulsar client: the body is ``message.model_dump_json()``.
"""

from clew_schema.agent import AgentRequest, AgentResponse, AgentStep, PlanStep
from clew_schema.base import Message, RunMessage
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.envelope import Envelope
from clew_schema.errors import DeadLetter, Error
from clew_schema.evidence import Citation, Evidence, Grade, Retrieval
from clew_schema.facts import Fact
from clew_schema.grading import GradingRequest, GradingResponse
from clew_schema.rdf import Metadata, Term, Triple, Triples
from clew_schema.retrieval import (
    DocumentRagQuery,
    DocumentRagResponse,
    GraphRagQuery,
    GraphRagResponse,
    ReturnAddress,
    Source,
)
from clew_schema.topics import TOPICS, Topic, TopicSpace, queue_topic

__all__ = [
    "TOPICS",
    "AgentRequest",
    "AgentResponse",
    "AgentStep",
    "Citation",
    "DeadLetter",
    "DocumentLoad",
    "DocumentRagQuery",
    "DocumentRagResponse",
    "DocumentStatus",
    "Envelope",
    "Error",
    "Evidence",
    "Fact",
    "Grade",
    "GradingRequest",
    "GradingResponse",
    "GraphRagQuery",
    "GraphRagResponse",
    "Message",
    "Metadata",
    "PlanStep",
    "Retrieval",
    "ReturnAddress",
    "RunMessage",
    "Source",
    "Term",
    "Topic",
    "TopicSpace",
    "Triple",
    "Triples",
    "queue_topic",
]
