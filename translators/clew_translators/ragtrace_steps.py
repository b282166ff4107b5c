"""The steps of a run, folded into its RAGTrace: what each step writes, and what it leaves as it was.

The fold keeps SuperMew's ways: a second retrieval's figures are merged into the first one's key by key, so
one that only the first had stays; the current evidence is emptied by a pause and kept when nothing is known;
a synthesis numbers the evidence anew, and the traces of its parts show the new numbers. What the fold returns
is raw: it may hold nulls and ``rewrite_count``, which :func:`clew_translators.ragtrace.normalise` removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from clew_schema.evidence import Evidence, Grade, RetrievalStatus, Route
from clew_translators.ragtrace import Trace, chunk, normalise_part
from clew_translators.ragtrace_fields import RETRIEVAL_FIELDS

_TOOL = {"tool_used": True, "tool_name": "search_knowledge_base"}
_PAUSES = frozenset({"clarify", "scope_select"})


class Step(Protocol):
    """What a step of a run writes into its trace."""

    def after(self, trace: Trace) -> Trace:
        """The trace when this step is done; the one before is not changed."""
        ...


def fold(steps: Iterable[Step]) -> Trace:
    """The raw trace of a run from its ``steps`` in order; ``{}`` before the first."""
    trace: Trace = {}
    for step in steps:
        trace = step.after(trace)
    return trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The first pass, with which a trace begins. ``retrieval``: its figures by name; others are ignored."""

    query: str
    evidence: tuple[Evidence, ...]
    retrieval: Mapping[str, Any]
    complexity: str | None = None
    complexity_reason: str | None = None

    def after(self, _: Trace) -> Trace:
        """A new trace. A part has no complexity of its own: it is written as null."""
        plan = {"complexity": self.complexity, "complexity_reason": self.complexity_reason}
        found = _pass("initial", "initial_retrieved_chunks", self.evidence, self.retrieval)
        return _TOOL | {"query": self.query} | found | plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A pass was graded and a route chosen; ``prompt`` is what a person would be asked."""

    grade: Grade
    route: Route
    status: RetrievalStatus
    prompt: str = ""

    def after(self, trace: Trace) -> Trace:
        """Ten fields; a pause empties the current evidence, and nothing known leaves it for the reader."""
        grade = self.grade
        written = {
            "route": self.route,
            "retrieval_status": self.status,
            "evidence_relevance": grade.relevance,
            "evidence_answerability": grade.answerability,
            "evidence_ambiguity": grade.ambiguity,
            "evidence_confidence": grade.confidence,
            "evidence_reason": grade.reason,
            "missing_slots": list(grade.missing_slots),
            "hitl_prompt": self.prompt,
            "hitl_options": list(grade.hitl_options),
        }
        return trace | written | ({"retrieved_chunks": []} if self.route in _PAUSES else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """The question was rewritten; ``rewrite_count`` includes this rewrite. One of the two texts is empty."""

    method: Literal["step_back", "hyde"]
    query: str
    rewrite_count: int
    step_back_question: str = ""
    hyde_document: str = ""

    def after(self, trace: Trace) -> Trace:
        """The method, the query, the raw count, and the text of the method."""
        written = {
            "rewrite_method": self.method,
            "rewritten_query": self.query,
            "rewrite_count": self.rewrite_count,
        }
        texts = {"step_back_question": self.step_back_question, "hyde_document": self.hyde_document}
        return trace | written | {name: text for name, text in texts.items() if text}


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteRefused:
    """A rewrite was asked for and the run had none left; ``route`` is taken instead."""

    reason: str = "rewrite_budget_exhausted"
    route: Route = "no_knowledge"
    status: RetrievalStatus = "no_knowledge"

    def after(self, trace: Trace) -> Trace:
        """What was decided instead, and why; the grade stays."""
        ended = {"route": self.route, "retrieval_status": self.status}
        return trace | ended | {"evidence_reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedAgain:
    """A pass with the rewritten question."""

    evidence: tuple[Evidence, ...]
    retrieval: Mapping[str, Any]

    def after(self, trace: Trace) -> Trace:
        """The evidence is replaced, the figures are merged, the old grade stays until the next."""
        return trace | _pass("rewritten", "rewrite_retrieved_chunks", self.evidence, self.retrieval)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesised:
    """The parts became one. ``part_traces``: raw, in the planned order, one per result.

    ``origins`` says for each piece of ``evidence`` in which part, and at which place in it, it was first seen.
    """

    query: str
    complexity_reason: str | None
    sub_questions: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    origins: tuple[tuple[int, int], ...]
    merged_count: int
    part_traces: tuple[Mapping[str, Any] | None, ...]
    route: Route
    status: RetrievalStatus
    relevance: str
    answerability: str
    prompt: str = ""
    options: tuple[str, ...] = ()
    renumbers_parts: bool = True

    def after(self, _: Trace) -> Trace:
        """A new trace, with those of the parts in it; raises NotThisMessage when one of them is none.

        Unless it ``renumbers_parts``, those are raw, and show what each part saw.
        """
        chunks = [chunk(each) for each in self.evidence]
        return _TOOL | {
            "query": self.query,
            "retrieved_chunks": chunks,
            "retrieval_stage": "synthesis",
            "complexity": "complex",
            "complexity_reason": self.complexity_reason,
            "sub_questions": list(self.sub_questions),
            "sub_agent_count": len(self.part_traces),
            "synthesis_merged_count": self.merged_count,
            "sub_traces": self._sub_traces(chunks),
            "retrieval_status": self.status,
            "evidence_relevance": self.relevance,
            "evidence_answerability": self.answerability,
            "evidence_confidence": None,
            "route": self.route,
            "hitl_prompt": self.prompt,
            "hitl_options": list(self.options),
        }

    def _sub_traces(self, chunks: list[Trace]) -> list[Trace]:
        """The parts' traces; a piece of evidence that was kept shows its new number and score in its part too."""
        parts = [None if part is None else dict(part) for part in self.part_traces]
        if not self.renumbers_parts:
            return [part for part in parts if part]
        for (number, place), renumbered in zip(self.origins, chunks, strict=True):
            part = parts[number]
            if part is not None:
                _renumber(part, place, renumbered)
        return [normalised for part in parts if (normalised := normalise_part(part)) is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """A person answered. ``answer`` is verbatim; ``query`` is what it made of the question."""

    query: str
    answer: str
    from_route: str
    from_status: str
    complexity: str | None = None
    complexity_reason: str | None = None
    sub_questions: tuple[str, ...] = ()

    def after(self, _: Trace) -> Trace:
        """A new trace: nothing of the paused run is in it but its plan, where it has one."""
        plan = {
            "complexity": self.complexity,
            "complexity_reason": self.complexity_reason,
            "sub_questions": list(self.sub_questions),
        }
        began = {
            "query": self.query,
            "hitl_resumed": True,
            "hitl_answer": self.answer,
            "hitl_resume_from_status": self.from_status,
            "hitl_resume_from_route": self.from_route,
        }
        return _TOOL | began | {name: value for name, value in plan.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedTargeted:
    """The pass after a person's answer."""

    query: str
    evidence: tuple[Evidence, ...]
    retrieval: Mapping[str, Any]

    def after(self, trace: Trace) -> Trace:
        """The evidence, the figures, and that it was searched for with the person's answer."""
        name = "hitl_targeted_retrieval"
        again = {"query": self.query, "hitl_resumed": True, "hitl_resume_strategy": "targeted_retrieval"}
        found = _pass(name, "hitl_targeted_retrieved_chunks", self.evidence, self.retrieval)
        return trace | _TOOL | again | found


def _pass(
    stage: str, name: str, evidence: tuple[Evidence, ...], retrieval: Mapping[str, Any]
) -> dict[str, Any]:
    """What every retrieval writes: the evidence twice, the stage, and those of its figures that are not null."""
    chunks = [chunk(each) for each in evidence]
    figures = {key: retrieval[key] for key in RETRIEVAL_FIELDS if retrieval.get(key) is not None}
    return {"retrieved_chunks": chunks, name: list(chunks), "retrieval_stage": stage} | figures


def _renumber(part: dict[str, Any], place: int, renumbered: Trace) -> None:
    """Put the synthesis's chunk where the part had it, in each list; the lists themselves are copied first."""
    for name in ("retrieved_chunks", "initial_retrieved_chunks"):
        chunks = list(part.get(name) or ())
        if place < len(chunks):
            chunks[place] = renumbered
            part[name] = chunks
