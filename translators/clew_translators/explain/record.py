"""The record of a fact: the rest of it, as JSON on its activity, so that a trace can be read back to the facts.

Terms are for questions to a graph; a record is for :mod:`clew_translators.explain.facts`. It holds the fact's fields
that differ from their defaults, but for the long ones, which a term holds as they are: the question, what was searched
for, evidence and citations, the answer. Times are here too, for stores write an ``xsd:dateTime`` in their own way.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from clew_schema.facts import AnswerWritten, EvidenceRetrieved
from clew_translators.explain.names import chunk_of, document_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.evidence import Citation, Evidence
    from clew_schema.facts import Fact

ELSEWHERE: Mapping[str, set[str]] = MappingProxyType(
    {
        "question_asked": {"query"},
        "evidence_retrieved": {"query", "evidence"},
        "answer_written": {"text", "citations", "checks"},
        "tool_chosen": {"thought", "action", "arguments"},
        "tool_observed": {"observation"},
        "concluded": {"answer", "thought"},
    }
)
"""By kind of fact, the fields that terms hold."""


def record_of(fact: Fact) -> dict[str, Any]:
    """The rest of ``fact``, with its kind, as JSON values."""
    record = {"kind": fact.kind} | fact.model_dump(exclude=ELSEWHERE.get(fact.kind), exclude_defaults=True)
    if isinstance(fact, EvidenceRetrieved):
        record["evidence"] = [_evidence(found) for found in fact.evidence]
    elif isinstance(fact, AnswerWritten):
        record["citations"] = [_ids(citation) for citation in fact.citations]
        record["checks"] = len(fact.checks)
    return record


def _evidence(found: Evidence) -> dict[str, Any]:
    rest: dict[str, Any] = _ids(found)
    if found.parent_id and chunk_of(found.parent_id) != found.parent_id:
        rest["parent_id"] = found.parent_id
    if found.file_type:
        rest["file_type"] = found.file_type
    if found.page_end:
        rest["page_end"] = found.page_end
    if found.ordinal:
        rest["ordinal"] = found.ordinal
    return rest


def _ids(span: Evidence | Citation) -> dict[str, Any]:
    """The ids that are no IRIs: those stand in the graph under names that we made of them."""
    odd: dict[str, Any] = {}
    if chunk_of(span.chunk_id) != span.chunk_id:
        odd["chunk_id"] = span.chunk_id
    if span.document_id and document_of(span.document_id) != span.document_id:
        odd["document_id"] = span.document_id
    return odd
