"""What happens after grading: a table of rules, the first match wins.

Mode *strict*, the only one so far, decides as SuperMew 0.1.0 does in all 540 combinations of its inputs.
Another mode is another tuple of rules handed to :func:`resolve`. A grade's confidence, reason, missing
slots and proposed words are never consulted: they explain a decision, they do not make it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew_schema.evidence import Grade, RetrievalStatus, Route

MAX_REWRITES = 1
"""Rewrites of one run, all parts and all pauses together."""

NO_EVIDENCE = Grade(
    relevance="none",
    answerability="none",
    ambiguity="none",
    route="no_knowledge",
    confidence=1.0,
    reason="no_retrieved_documents",
)
"""The grade of an empty retrieval: no model is asked what is certain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that a rule may look at. ``is_part``: the question is a part of a larger one."""

    evidence_count: int
    grade: Grade
    rewrite_count: int
    is_part: bool

    @property
    def may_rewrite(self) -> bool:
        """Whether the run's budget of rewrites is not used up."""
        return self.rewrite_count < MAX_REWRITES

    @property
    def supported(self) -> bool:
        """Whether the evidence is to the point and suffices."""
        return self.grade.relevance == "strong" and self.grade.answerability == "sufficient"

    def suggests(self, route: Route) -> bool:
        """Whether the grader would take ``route``."""
        return self.grade.route == route


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table. ``id`` goes into the trace and never changes its meaning."""

    id: str
    route: Route
    when: Callable[[Situation], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The route to take, what it says about the retrieval, and the id of the rule that chose it."""

    route: Route
    status: RetrievalStatus
    rule: str


STRICT: tuple[Rule, ...] = (
    Rule(
        "R01-nothing-relevant", "no_knowledge", lambda s: not s.evidence_count or s.grade.relevance == "none"
    ),
    Rule("R02-missing-slot", "clarify", lambda s: s.grade.ambiguity == "missing_slot"),
    Rule("R03-multiple-candidates", "scope_select", lambda s: s.grade.ambiguity == "multiple_candidates"),
    Rule("R04-supported-answer", "answer", lambda s: s.suggests("answer") and s.supported),
    Rule("R05-part-answerable", "answer", lambda s: s.is_part and s.grade.answerability != "none"),
    Rule("R06-part-unanswerable", "no_knowledge", lambda s: s.is_part),
    Rule("R07-rewrite-suggested", "rewrite", lambda s: s.suggests("rewrite") and s.may_rewrite),
    Rule(
        "R08-rewritten-partial",
        "clarify",
        lambda s: s.suggests("rewrite") and s.grade.answerability == "partial",
    ),
    Rule("R09-rewrite-exhausted", "no_knowledge", lambda s: s.suggests("rewrite")),
    Rule("R10-partial-rewrite", "rewrite", lambda s: s.grade.answerability == "partial" and s.may_rewrite),
    Rule("R11-partial-exhausted", "clarify", lambda s: s.grade.answerability == "partial"),
    Rule("R12-supported", "answer", lambda s: s.supported),
    Rule("R13-unsupported", "no_knowledge", lambda _: True),
)
"""SuperMew's order of rules. The last one always matches."""


def resolve(
    *, evidence_count: int, grade: Grade, rewrite_count: int, is_part: bool, rules: tuple[Rule, ...] = STRICT
) -> Decision:
    """The decision of the first of ``rules`` that matches; total for every input when the last always matches.

    ``evidence_count`` is the number of chunks that were graded, ``rewrite_count`` how many rewrites the
    run has used.
    """
    situation = Situation(
        evidence_count=evidence_count, grade=grade, rewrite_count=rewrite_count, is_part=is_part
    )
    rule = next(rule for rule in rules if rule.when(situation))
    return Decision(route=rule.route, status=_status(rule.route, grade), rule=rule.id)


def _status(route: Route, grade: Grade) -> RetrievalStatus:
    match route:
        case "answer":
            return "partial" if grade.answerability == "partial" else "answerable"
        case "rewrite":
            return "needs_rewrite"
        case "clarify":
            return "needs_clarification"
        case "scope_select":
            return "needs_scope_selection"
        case "no_knowledge":
            return "no_knowledge"


def clarification(grade: Grade, route: Route) -> str:
    """What to ask the person for ``route``; ``""`` for a route that asks nothing.

    The grader's own words come first, unchanged; then what is missing; then a general question. The
    fixed texts are SuperMew's, because strict mode answers as SuperMew does.
    """
    if route not in {"clarify", "scope_select"}:
        return ""
    if grade.hitl_prompt:
        return grade.hitl_prompt
    if route == "scope_select":
        return "我在知识库中找到了多个可能相关的方向。你想问的是哪一个？"
    if grade.missing_slots:
        return "我找到了相关内容，但还缺少关键信息：" + "、".join(grade.missing_slots)
    return "我找到了相关内容，但证据不足以确定答案。请补充一下你具体想问的条件。"
