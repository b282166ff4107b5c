"""What RAGTrace's 59 fields cannot hold, in a record beside it: every pass, grade, rule, pause and piece of evidence.

Versioned, made of plain JSON values, and for everybody's eyes: no address of a service and no text that one
sent with an error. Names that later versions of SuperMew use for the same thing are used here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from clew_schema.evidence import Grade, Rerank
from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    PartsJoined,
    QueryRewritten,
    QuestionPlanned,
    RunFailed,
    RunPaused,
    RunResumed,
)
from clew_translators.ragtrace import Trace
from clew_translators.ragtrace_evidence import coverage, evidence
from clew_translators.ragtrace_facts import Projection, project

F = TypeVar("F")

VERSION = 1
"""Moves when a field changes its meaning or goes; a new field is no new version."""

_OUTCOMES = {
    "answerable": "ANSWERABLE",
    "partial": "INSUFFICIENT_EVIDENCE",
    "no_knowledge": "NO_KNOWLEDGE",
}
_DEGRADED = {"hybrid": None, "dense_fallback": "bm25_unavailable", "failed": "retrieval_failed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """The three records of a run; each null when there is nothing to say."""

    rag_trace: Trace | None
    ext: Trace
    hitl_resume_state: Trace | None

    def envelope(self) -> Trace:
        """One JSON object of all three; the snapshot only where a person is waited for."""
        state = self.hitl_resume_state
        told = {"rag_trace": self.rag_trace, "ext": self.ext}
        return told if state is None else told | {"hitl_resume_state": state}


def records(facts: Sequence[Fact], *, session_id: str = "", question_uri: str = "") -> Records:
    """Trace, ext and snapshot of a run in one go. The facts do not know their run's names: hand them in.

    Raises what :func:`clew_translators.ragtrace_facts.rag_trace` does.
    """
    projection = project(facts)
    return Records(
        rag_trace=projection.trace,
        ext=_ext(facts, projection, session_id, question_uri),
        hitl_resume_state=projection.resume_state,
    )


def ext(facts: Sequence[Fact], *, session_id: str = "", question_uri: str = "") -> Trace:
    """The record beside the trace, of all facts of a run in their order."""
    return records(facts, session_id=session_id, question_uri=question_uri).ext


def _ext(facts: Sequence[Fact], projection: Projection, session_id: str, question_uri: str) -> Trace:
    told = projection.told
    plan = _last(facts, QuestionPlanned)
    answer = _last(facts, AnswerWritten)
    failure = _last(facts, RunFailed)
    status = (projection.trace or {}).get("retrieval_status", "")
    record: Trace = {
        "version": VERSION,
        "run_id": session_id,
        "question_uri": question_uri,
        "mode": plan.mode if plan else None,
        "plan": _plan(plan),
        "retrieval_outcome": _OUTCOMES.get(status),
        "retrievals": _each(facts, EvidenceRetrieved, _retrieval),
        "grades": _each(facts, EvidenceGraded, _grade),
        "rewrites": _each(facts, QueryRewritten, _rewrite),
        "joins": _each(facts, PartsJoined, _join),
        "budgets": _each(facts, BudgetExhausted, _budget),
        "pauses": _pauses(facts),
        "coverage": coverage(told),
        **_gaps(told.joined),
        "evidence": evidence(told, answer),
        "citations": _citations(answer),
        "prompts": _prompts(facts),
        **_packing(facts, answer),
        "provider_error_code": failure.error_type if failure else None,
        "provider_error_stage": failure.step if failure else None,
        "trace_field_invalid": list(projection.invalid),
    }
    if projection.resume_state is not None:
        record["hitl_resume_state"] = projection.resume_state
    return record


def _plan(plan: QuestionPlanned | None) -> Trace | None:
    if plan is None:
        return None
    return {
        "complexity": plan.complexity,
        "reason": plan.reason,
        "resolved_by": plan.resolved_by,
        "planner": plan.planner,
        "parts": list(plan.parts or ()),
        "dropped": plan.dropped,
    }


def _retrieval(fact: EvidenceRetrieved) -> Trace:
    found = fact.retrieval
    return {
        "part": fact.part,
        "pass": fact.pass_number,
        "stage": fact.stage,
        "query": fact.query,
        "dense_query": found.dense_query or fact.query,
        "sparse_query": found.sparse_query or fact.query,
        "rerank_query": found.rerank_query or fact.query,
        "legs": list(found.legs),
        "fusion": found.fusion,
        "embedder": found.embedder,
        "recall_count": found.recall_count,
        "post_merge_candidate_count": found.merged_count,
        "candidate_count": found.candidate_count,
        "post_rerank_count": found.rerank.count,
        "post_threshold_count": found.kept_count,
        "retrieval_mode": found.mode,
        "retrieval_degraded_code": _DEGRADED[found.mode],
        "rerank": _rerank(found.rerank),
        "started_at": fact.started_at,
        "ended_at": fact.ended_at,
    }


def _rerank(rerank: Rerank) -> Trace:
    return {
        "attempted": rerank.attempted,
        "succeeded": rerank.succeeded,
        "model": rerank.model,
        "error_code": rerank.error_code,
        "fallback": rerank.attempted and not rerank.succeeded,
        "score_kind": rerank.score_kind,
        "threshold_applied": rerank.threshold_applied,
    }


def _grade(fact: EvidenceGraded) -> Trace:
    decided = {
        "part": fact.part,
        "pass": fact.pass_number,
        "route": fact.route,
        "status": fact.status,
        "resolved_by": fact.resolved_by,
        "kept_pass": fact.kept_pass or fact.pass_number,
        "grader": fact.grader,
        "failure": fact.failure,
    }
    return decided | ({} if fact.failure else _opinion(fact.grade))


def _opinion(grade: Grade) -> Trace:
    """What the grader said. Its confidence is its own word for it: nobody measured it."""
    return {
        "suggested_route": grade.route,
        "relevance": grade.relevance,
        "answerability": grade.answerability,
        "ambiguity": grade.ambiguity,
        "confidence": grade.confidence,
        "confidence_source": "self-reported",
        "missing_slots": list(grade.missing_slots),
        "reason": grade.reason,
    }


def _rewrite(fact: QueryRewritten) -> Trace:
    return {
        "part": fact.part,
        "pass": fact.pass_number,
        "method": fact.method,
        "rewriter": fact.rewriter,
        "rewrite_count": fact.rewrite_count,
    }


def _join(fact: PartsJoined) -> Trace:
    return {
        "route": fact.route,
        "status": fact.status,
        "resolved_by": fact.resolved_by,
        "merged_count": fact.merged_count,
        "deduplicated_count": len(fact.origins),
    }


def _budget(fact: BudgetExhausted) -> Trace:
    decided = {"route": fact.route, "status": fact.status, "resolved_by": fact.resolved_by}
    return {"budget": fact.budget, "spent": fact.spent} | decided


def _pauses(facts: Sequence[Fact]) -> list[Trace]:
    """Each question to a person, with the answer if there was one. The ticket itself is the asker's alone."""
    answers = {fact.ticket: fact.answer for fact in facts if isinstance(fact, RunResumed)}
    return [
        {
            "round": fact.round,
            "route": fact.route,
            "status": fact.status,
            "prompt": fact.prompt,
            "options": list(fact.options),
            "questions": [each.model_dump() for each in fact.questions],
            "expires_at": fact.expires_at,
            "answer": answers.get(fact.ticket),
        }
        for fact in facts
        if isinstance(fact, RunPaused)
    ]


def _gaps(joined: PartsJoined | None) -> Trace:
    gaps = joined.gaps if joined else ()
    return {
        "coverage_gap_codes": [gap.code for gap in gaps],
        "coverage_gap_questions": [gap.question for gap in gaps],
    }


def _citations(answer: AnswerWritten | None) -> Trace | None:
    """The verdicts on the answer's citations, and the share of its sentences that one supports."""
    if answer is None:
        return None
    checks = [check.model_dump() for check in answer.checks]
    return {"checks": checks, "coverage": answer.coverage, "gaps_disclosed": list(answer.gaps)}


def _prompts(facts: Sequence[Fact]) -> Trace:
    """The version of the prompt of each role that a model played, by role; of the last call where they differ."""
    roles: dict[type, str] = {
        QuestionPlanned: "planner",
        EvidenceGraded: "grader",
        QueryRewritten: "rewriter",
        AnswerWritten: "writer",
    }
    versions = ((roles.get(type(fact)), getattr(fact, "prompt_version", "")) for fact in facts)
    return {role: version for role, version in versions if role and version}


def _packing(facts: Sequence[Fact], answer: AnswerWritten | None) -> Trace:
    """How many pieces of evidence did not fit, or not whole, into what a model may be given."""
    graded = [fact for fact in facts if isinstance(fact, EvidenceGraded)]
    return {
        "grader_evidence_omitted_count": sum(fact.omitted for fact in graded),
        "grader_evidence_truncated_count": sum(fact.truncated for fact in graded),
        "writer_evidence_omitted_count": answer.omitted if answer else 0,
        "writer_evidence_truncated_count": answer.truncated if answer else 0,
    }


def _each(facts: Sequence[Fact], kind: type[F], told: Callable[[F], Trace]) -> list[Trace]:
    return [told(fact) for fact in facts if isinstance(fact, kind)]


def _last(facts: Sequence[Fact], kind: type[F]) -> F | None:
    return next((fact for fact in reversed(facts) if isinstance(fact, kind)), None)
