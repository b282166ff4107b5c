"""The record of a fact: the rest of it, as JSON on its activity, so that a trace can be read back to the facts.

Terms are for questions to a graph; a record is for :mod:`clew_translators.explain.facts`. It holds the fact's fields
that differ from their defaults, but for the long ones, which a term holds as they are: what was asked and searched for,
evidence and citations, what was thought and answered. Times are here too, for stores write an ``xsd:dateTime`` in their
own way. The seal stands beside the record, for it is over all of the fact.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from clew_schema.facts import (
    AnswerWritten,
    EdgesSelected,
    EvidenceGraded,
    EvidenceRetrieved,
    PlanMade,
    QuestionDecomposed,
)
from clew_translators.explain.names import chunk_of, document_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew_schema.evidence import Citation, Claim, Evidence, Rejected
    from clew_schema.facts import Fact

ELSEWHERE: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        kind: dict.fromkeys(("seal", *fields), True) | nested
        for kind, fields, nested in (
            ("question_asked", ("query", "traceparent"), {}),
            ("evidence_retrieved", ("query", "evidence", "rejected"), {}),
            ("evidence_graded", (), {"grade": {"chunks"}}),
            ("answer_written", ("text", "citations", "claims", "checks"), {}),
            ("tool_chosen", ("thought", "action", "arguments"), {}),
            ("tool_observed", ("observation", "error"), {}),
            ("concluded", ("answer", "thought"), {}),
            ("plan_made", ("steps",), {}),
            ("plan_step_done", ("goal", "result"), {}),
            ("question_decomposed", ("goals",), {}),
            ("finding_received", ("goal", "answer"), {}),
            ("edges_selected", ("edges",), {}),
        )
    }
)
"""By kind of fact, the fields that terms hold; of the kinds that are not named, the seal."""

_SEAL: dict[str, Any] = {"seal": True}


def record_of(fact: Fact) -> dict[str, Any]:
    """The rest of ``fact``, with its kind, as JSON values."""
    rest = fact.model_dump(exclude=ELSEWHERE.get(fact.kind, _SEAL), exclude_defaults=True)
    return {"kind": fact.kind} | rest | _of_parts(fact)


def _of_parts(fact: Fact) -> dict[str, Any]:
    """What the terms of the parts of ``fact`` leave out, or how many parts there are."""
    parts: dict[str, Any] = {}
    match fact:
        case EvidenceRetrieved():
            parts["evidence"] = [_evidence(found) for found in fact.evidence]
            if fact.rejected:
                parts["rejected"] = [_rejected(left) for left in fact.rejected]
        case EvidenceGraded(grade=grade) if grade.chunks:
            parts["chunks"] = len(grade.chunks)
        case AnswerWritten():
            parts["citations"] = [_ids(citation) for citation in fact.citations]
            parts["checks"] = len(fact.checks)
            if fact.claims:
                parts["claims"] = [_claim(claim) for claim in fact.claims]
        case PlanMade():
            parts["steps"] = len(fact.steps)
        case QuestionDecomposed():
            parts["goals"] = len(fact.goals)
        case EdgesSelected():
            parts["edges"] = [selected.edge.model_dump(exclude_defaults=True) for selected in fact.edges]
    return parts


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


def _rejected(left: Rejected) -> dict[str, Any]:
    rest: dict[str, Any] = _ids(left)
    if left.into and chunk_of(left.into) != left.into:
        rest["into"] = left.into
    return rest


def _claim(claim: Claim) -> dict[str, Any]:
    rest: dict[str, Any] = {"citations": claim.citations} if claim.citations else {}
    return rest | ({"id": claim.id} if claim.id else {})


def _ids(span: Evidence | Rejected | Citation) -> dict[str, Any]:
    """The ids that are no IRIs: those stand in the graph under names that we made of them."""
    odd: dict[str, Any] = {}
    if chunk_of(span.chunk_id) != span.chunk_id:
        odd["chunk_id"] = span.chunk_id
    if span.document_id and document_of(span.document_id) != span.document_id:
        odd["document_id"] = span.document_id
    return odd
