"""A run's RAGTrace from the run's facts: a pure projection, computed whenever somebody wants to read it.

Mode *strict* is SuperMew's record to the letter, its oddities included: the figures of two retrievals are
merged key by key, a synthesis renumbers the evidence of its parts too, options are kept on every route, a
wrong value refuses the whole record, and a failed run has none. Mode *improved* has the same 59 fields, and

* the figures are those of the last retrieval alone (quirk Q23), without endpoint and error texts (Q20);
* parts keep the ranks that they saw (Q31);
* the current evidence is what goes on: that of an earlier pass, when the grading kept it, and what an
  exhausted budget falls back on; ``rewrite_retrieved_chunks`` is the rewritten pass alone;
* a prompt and options stand only where a person is asked, in the words that they were asked;
* a part that could not be graded has no grade, and its ``evidence_reason`` is the error's type;
* one bad value costs that field alone (Q32), and a failed run keeps what it came to (Q14).

An answer of a person begins a new trace in both modes. Where only parts waited, it begins those anew; the whole
is their synthesis again, and says at its top that it was resumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clew_schema.evidence import Evidence
from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    PartsJoined,
    QueryRewritten,
    RunFailed,
    RunPaused,
    RunResumed,
)
from clew_translators.ragtrace import Trace, chunk, normalise
from clew_translators.ragtrace_fields import RETRIEVAL_FIELDS
from clew_translators.ragtrace_figures import figures, public_figures, retrieval_of
from clew_translators.ragtrace_quarantine import quarantined
from clew_translators.ragtrace_run import Told, joined_evidence
from clew_translators.ragtrace_steps import (
    Graded,
    Resumed,
    Retrieved,
    RetrievedAgain,
    RetrievedTargeted,
    RewriteRefused,
    Rewritten,
    Synthesised,
)

__all__ = ["Projection", "figures", "project", "rag_trace", "resume_state", "retrieval_of"]

PAUSES = frozenset({"clarify", "scope_select"})
_RESUME_FIELDS = (
    "hitl_resumed",
    "hitl_answer",
    "hitl_resume_strategy",
    "hitl_resume_from_status",
    "hitl_resume_from_route",
)
_STRATEGY = {"hitl_resume_strategy": "targeted_retrieval"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What a run's facts make: the trace (null: there is none), the fields left out of it, and the pause's snapshot.

    ``told`` is the run as it was read for them.
    """

    trace: Trace | None
    invalid: tuple[str, ...]
    resume_state: dict[str, Any] | None
    told: Told


def rag_trace(facts: Sequence[Fact]) -> Trace | None:
    """The trace of the run whose facts, all and in their order, these are; null while nothing was retrieved.

    Strict mode raises NotThisMessage, naming the field, for a value that no trace may hold; improved mode never
    raises.
    """
    return project(facts).trace


def resume_state(facts: Sequence[Fact]) -> dict[str, Any] | None:
    """The seven things that a resumed run knows of this one; null unless its last decision waits for a person."""
    return project(facts).resume_state


def project(facts: Sequence[Fact]) -> Projection:
    """Trace, quarantined fields and snapshot in one go, as :func:`rag_trace` and :func:`resume_state` say."""
    told = Told()
    for fact in facts:
        told.take(fact)
        _write(told, fact)
    top = told.top if told.top is not None else _unjoined(told)
    raw = top if told.strict else _improved(top)
    failed = bool(facts) and isinstance(facts[-1], RunFailed)
    state = None if failed else _snapshot(told, facts)
    if told.strict:
        return Projection(trace=None if failed else normalise(raw), invalid=(), resume_state=state, told=told)
    trace, invalid = quarantined(raw)
    return Projection(trace=trace, invalid=invalid, resume_state=state, told=told)


def _write(told: Told, fact: Fact) -> None:
    """What one fact writes into the trace of its part, or of the whole."""
    match fact:
        case EvidenceRetrieved():
            told.traces[fact.part] = _retrieved(told, fact)
        case EvidenceGraded():
            told.traces[fact.part] = _graded(told, fact)
        case QueryRewritten():
            text = {"step_back": "step_back_question", "hyde": "hyde_document"}[fact.method]
            rewritten = Rewritten(
                method=fact.method, query=fact.query, rewrite_count=fact.rewrite_count, **{text: fact.text}
            )
            told.traces[fact.part] = rewritten.after(told.traces.get(fact.part, {}))
        case PartsJoined():
            told.traces[0] = _joined(told, fact)
        case BudgetExhausted():
            told.traces[0] = _exhausted(told, fact)
        case RunPaused() if not told.strict:
            told.traces[0] = told.traces.get(0, {}) | {
                "hitl_prompt": fact.prompt,
                "hitl_options": list(fact.options),
            }
        case RunResumed():
            _resumed(told, fact)


def _retrieved(told: Told, fact: EvidenceRetrieved) -> Trace:
    part, before = fact.part, told.traces.get(fact.part, {})
    shown = figures(fact.retrieval) if told.strict else public_figures(fact.retrieval)
    if not told.strict:
        before = {name: value for name, value in before.items() if name not in _FIGURES}
    query = told.question(part)
    if fact.stage == "initial":
        step = Retrieved(query=query, evidence=fact.evidence, retrieval=shown, **told.plan(part))
        return step.after(before)
    if fact.stage == "rewritten":
        return RetrievedAgain(evidence=fact.evidence, retrieval=shown).after(before)
    return RetrievedTargeted(query=query, evidence=fact.evidence, retrieval=shown).after(before)


def _graded(told: Told, fact: EvidenceGraded) -> Trace:
    before = told.traces.get(fact.part, {})
    if fact.failure and not told.strict:
        decided = {"route": fact.route, "retrieval_status": fact.status, "evidence_reason": fact.failure}
        return before | decided | {"hitl_prompt": "", "hitl_options": []}
    step = Graded(grade=fact.grade, route=fact.route, status=fact.status, prompt=fact.asks)
    if fact.kept_pass and not told.strict:
        before = before | {"retrieved_chunks": _chunks(told.current(fact.part))}
    return step.after(before)


def _joined(told: Told, fact: PartsJoined) -> Trace:
    parts = [told.traces.get(number) for number in told.part_numbers]
    before = told.traces.get(0, {})
    step = Synthesised(
        query=told.question(0),
        complexity_reason=told.planned.reason if told.planned else None,
        sub_questions=told.sub_questions,
        evidence=joined_evidence(told, fact),
        origins=tuple((each.part - 1, each.place - 1) for each in fact.origins),
        merged_count=fact.merged_count,
        part_traces=tuple(parts if told.strict else map(_improved, parts)),
        route=fact.route,
        status=fact.status,
        relevance=fact.relevance,
        answerability=fact.answerability,
        prompt=fact.asks,
        options=fact.options,
        renumbers_parts=told.strict,
    )
    resumed = {} if told.strict or not before.get("hitl_resumed") else before | _STRATEGY
    return step.after(before) | {name: resumed[name] for name in _RESUME_FIELDS if name in resumed}


def _exhausted(told: Told, fact: BudgetExhausted) -> Trace:
    before = told.traces.get(0, {})
    reason = "rewrite_budget_exhausted" if fact.budget == "rewrites" else "round_budget_exhausted"
    ended = RewriteRefused(reason=reason, route=fact.route, status=fact.status).after(before)
    if told.strict or fact.route in PAUSES:
        return ended
    return ended | {"retrieved_chunks": _chunks(told.fallback())}


def _resumed(told: Told, fact: RunResumed) -> None:
    """The traces of those who waited begin anew, and that of the whole."""
    parts = {each.part for each in fact.questions} - {0}
    for part in {0} | parts:
        plan = told.plan(part)
        began = Resumed(
            query=told.question(part),
            answer=fact.answer,
            from_route=fact.from_route,
            from_status=fact.from_status,
            sub_questions=told.sub_questions if part == 0 else (),
            **plan,
        )
        told.traces[part] = began.after({})


def _unjoined(told: Told) -> Trace | None:
    """A whole that never came together, as it is: its plan and what its parts wrote. Strict mode has no such trace."""
    parts = [told.traces[number] for number in told.part_numbers if number in told.traces]
    if told.strict or not parts:
        return None
    plan = {**told.plan(0), "sub_questions": list(told.sub_questions)}
    begun = {"tool_used": True, "tool_name": "search_knowledge_base", "query": told.question(0)}
    return begun | plan | {"sub_traces": [_improved(part) for part in parts]}


def _improved(trace: Trace | None) -> Trace | None:
    """A prompt and options stand only where a person is asked."""
    if not trace or trace.get("route") in PAUSES or "hitl_options" not in trace:
        return trace
    return trace | {"hitl_prompt": "", "hitl_options": []}


def _snapshot(told: Told, facts: Sequence[Fact]) -> dict[str, Any] | None:
    top: Mapping[str, Any] = told.top or {}
    last = facts[-1] if facts else None
    ended = isinstance(last, AnswerWritten) and not last.outcome.startswith("needs_")
    if ended or top.get("route") not in PAUSES:
        return None
    plan = told.plan(0)
    return {
        "question": told.question(0),
        "route": top["route"],
        "retrieval_status": top["retrieval_status"],
        "rewrite_count": told.rewrite_count,
        **plan,
        "sub_questions": list(told.sub_questions),
    }


def _chunks(evidence: Iterable[Evidence]) -> list[Trace]:
    return [chunk(each) for each in evidence]


_FIGURES = frozenset(RETRIEVAL_FIELDS)
