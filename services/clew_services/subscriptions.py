"""Which subscription reads which topic: to make them before anything is published, and for the autoscaler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clew_schema import topics
from clew_services.letter_box import INBOX

if TYPE_CHECKING:
    from clew_schema.topics import Topic, TopicSpace

READERS: tuple[tuple[str, Topic[Any]], ...] = (
    ("document-rag.plan", topics.DOCUMENT_RAG_REQUEST),
    ("document-rag.answer", topics.GRADING_RESPONSE),
    ("grading.grade", topics.GRADING_REQUEST),
    ("agent.think", topics.AGENT_REQUEST),
    ("agent.observe", topics.AGENT_OBSERVATION),
    ("ingest.load", topics.DOCUMENT_LOAD),
    ("trace-store.store", topics.EXPLAINABILITY),
    ("dead-letters.work", topics.DEAD_LETTER_REQUEST),
    ("cancel.run", topics.CANCEL_REQUEST),
)
"""Every step of every service, with its topic. A test compares it with the wiring."""


def subscriptions(space: TopicSpace) -> dict[str, list[str]]:
    """Full topic name to the subscriptions on it, delayed copies included."""
    wanted: dict[str, list[str]] = {}
    for step, topic in READERS:
        service = step.partition(".")[0]
        for full in (space.full(topic.name), space.retry(topic.name, service)):
            wanted.setdefault(full, []).append(step)
    wanted.setdefault(space.full(topics.DEAD_LETTER.name), []).append(INBOX)
    return wanted
