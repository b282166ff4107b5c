"""What a span says of its fact: name, kind, attributes and events, by the conventions of GenAI and OpenInference."""

from __future__ import annotations

import json
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from clew_schema.facts import (
    AnswerWritten,
    EvidenceGraded,
    EvidenceRetrieved,
    RunFailed,
    ToolChosen,
    ToolObserved,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew_schema.evidence import Evidence
    from clew_schema.facts import Fact
    from clew_translators.spans import AttributeValue

    Attributes = dict[str, AttributeValue]

_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "evidence_retrieved": "RETRIEVER",
        "edges_retrieved": "RETRIEVER",
        "edges_selected": "RERANKER",
        "evidence_graded": "EVALUATOR",
        "tool_observed": "TOOL",
        "finding_received": "AGENT",
    }
)
_OPERATIONS: Mapping[str, str] = MappingProxyType(
    {"evidence_retrieved": "retrieval", "edges_retrieved": "retrieval", "tool_observed": "execute_tool"}
)


_PASS = (("clew.part", "part"), ("clew.pass", "pass_number"))
_DECISION = (("clew.route", "route"), ("clew.status", "status"), ("clew.rule", "resolved_by"))
_FIELDS: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType(
    {
        "question_planned": (
            ("clew.complexity", "complexity"),
            ("clew.mode", "mode"),
            ("clew.rule", "resolved_by"),
        ),
        "evidence_retrieved": (
            *_PASS,
            ("clew.stage", "stage"),
            ("clew.mode", "retrieval.mode"),
            ("clew.candidates", "retrieval.candidate_count"),
            ("embedding.model_name", "retrieval.embedder"),
        ),
        "evidence_graded": (
            *_PASS,
            ("clew.grader", "grader"),
            ("clew.relevance", "grade.relevance"),
            ("clew.answerability", "grade.answerability"),
            *_DECISION,
        ),
        "query_rewritten": (*_PASS, ("clew.method", "method")),
        "parts_joined": _DECISION,
        "budget_exhausted": (("clew.budget", "budget"), ("clew.spent", "spent"), *_DECISION),
        "run_paused": (("clew.ticket", "ticket"), ("clew.round", "round"), ("clew.status", "status")),
        "run_resumed": (("clew.ticket", "ticket"), ("user.id", "person")),
        "ticket_cancelled": (("clew.ticket", "ticket"), ("user.id", "person")),
        "answer_written": (("clew.outcome", "outcome"), ("clew.coverage", "coverage")),
        "tool_chosen": (("clew.iteration", "number"),),
        "tool_observed": (("clew.iteration", "number"),),
        "concluded": (("clew.termination", "reason"),),
        "pattern_chosen": (("clew.pattern", "pattern"),),
        "edges_retrieved": (("clew.edges", "edge_count"),),
        "run_failed": (("error.type", "error_type"), ("clew.attempt", "attempt")),
    }
)
"""By kind of fact: attributes, and the field that each is read from."""

_TEXTS: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType(
    {
        "evidence_retrieved": (("input.value", "query"), ("gen_ai.retrieval.query.text", "query")),
        "query_rewritten": (("output.value", "text"),),
        "run_paused": (("output.value", "prompt"),),
        "run_resumed": (("input.value", "answer"),),
        "answer_written": (("output.value", "text"),),
        "tool_chosen": (("output.value", "thought"),),
        "tool_observed": (("output.value", "observation"), ("gen_ai.tool.call.result", "observation")),
        "concluded": (("output.value", "answer"),),
    }
)
"""As ``_FIELDS``, for what people and documents said."""


def kind_of(fact: Fact) -> str:
    """OpenInference's kind: ``LLM`` for a step that asked a model, else by what the step does."""
    if known := _KINDS.get(fact.kind):
        return known
    return "LLM" if _model(fact) else "CHAIN"


def name_of(fact: Fact) -> str:
    """The span's name: ``{operation} {model or tool}`` where the conventions have one, else what the step did."""
    match fact:
        case ToolObserved():
            return f"execute_tool {fact.number}"
        case EvidenceRetrieved() if fact.part:
            return f"retrieval part {fact.part} pass {fact.pass_number}"
        case EvidenceRetrieved():
            return f"retrieval pass {fact.pass_number}"
        case _:
            return f"chat {model}" if (model := _model(fact)) else fact.kind.replace("_", " ")


def _model(fact: Fact) -> str:
    """The model that was asked, where one was: a rule or a reader without a model is none."""
    return getattr(fact, "model", None) or ""


def attributes_of(fact: Fact, *, content: bool) -> Attributes:
    """The attributes of one fact; texts only with ``content``."""
    told: Attributes = {}
    if operation := _OPERATIONS.get(fact.kind, "chat" if _model(fact) else ""):
        told["gen_ai.operation.name"] = operation
    if model := _model(fact):
        told |= {"gen_ai.request.model": model, "llm.model_name": model}
    for ours, genai, openinference in (
        ("in_token", "gen_ai.usage.input_tokens", "llm.token_count.prompt"),
        ("out_token", "gen_ai.usage.output_tokens", "llm.token_count.completion"),
    ):
        if (count := getattr(fact, ours, None)) is not None:
            told |= {genai: count, openinference: count}
    if prompt := getattr(fact, "prompt_version", ""):
        told["clew.prompt_version"] = prompt
    for attribute, path in _FIELDS.get(fact.kind, ()):
        if (value := attrgetter(path)(fact)) not in {None, ""}:
            told[attribute] = value
    if isinstance(fact, EvidenceRetrieved):
        told |= _retrieval(fact)
    elif isinstance(fact, ToolChosen | ToolObserved):
        told |= _tool(fact, content=content)
    return told | _texts(fact) if content else told


def _tool(fact: ToolChosen | ToolObserved, *, content: bool) -> Attributes:
    """The name of a tool that there is: what else a model calls for is a text of its own."""
    if isinstance(fact, ToolObserved):
        return {"error.type": "tool"} if fact.failed else {}
    return {"gen_ai.tool.name": fact.action} if content or fact.action in fact.candidates else {}


def _retrieval(fact: EvidenceRetrieved) -> Attributes:
    told: Attributes = {"clew.rejected": len(fact.rejected)}
    for place, found in enumerate(fact.evidence):
        prefix = f"retrieval.documents.{place}.document"
        told[f"{prefix}.id"] = found.chunk_id
        if (score := _score(found)) is not None:
            told[f"{prefix}.score"] = score
        told[f"{prefix}.metadata"] = json.dumps(
            {
                "document": found.document_id,
                "version": found.version,
                "page": found.page,
                "start": found.start,
                "end": found.end,
            },
            ensure_ascii=False,
        )
    return told


def _score(found: Evidence) -> float | None:
    """The score by which the evidence was ordered last."""
    scores = (found.rerank_score, found.fused_score, found.dense_score, found.bm25_score)
    return next((score for score in scores if score is not None), None)


def _texts(fact: Fact) -> Attributes:
    told: Attributes = {attribute: getattr(fact, name) for attribute, name in _TEXTS.get(fact.kind, ())}
    if isinstance(fact, EvidenceRetrieved):
        told |= {f"retrieval.documents.{n}.document.content": e.text for n, e in enumerate(fact.evidence)}
    elif isinstance(fact, ToolChosen):
        told["gen_ai.tool.call.arguments"] = json.dumps(fact.arguments, ensure_ascii=False)
    return told


def events_of(fact: Fact, *, content: bool) -> Iterator[tuple[str, Attributes]]:
    """What happened within the step: evaluations of the evidence and of each claim, and what failed."""
    match fact:
        case EvidenceGraded():
            graded: Attributes = {
                "gen_ai.evaluation.name": "relevance",
                "gen_ai.evaluation.score.label": fact.grade.relevance,
                "gen_ai.evaluation.score.value": fact.grade.confidence,
            }
            yield (
                "gen_ai.evaluation.result",
                graded | ({"gen_ai.evaluation.explanation": fact.grade.reason} if content else {}),
            )
        case AnswerWritten():
            for claim in fact.claims:
                yield (
                    "gen_ai.evaluation.result",
                    {
                        "gen_ai.evaluation.name": "claim_support",
                        "gen_ai.evaluation.score.label": claim.verdict,
                        "clew.claim": claim.number,
                    },
                )
        case RunFailed():
            failed: Attributes = {"exception.type": fact.error_type}
            yield "exception", failed | ({"exception.message": fact.message} if content else {})
        case _:
            return
