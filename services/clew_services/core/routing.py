"""What happens after grading: a table of rules, the first match wins.

Mode *strict* decides as SuperMew 0.1.0 does in all 540 combinations of its inputs; mode *improved* differs where
that is a known quirk (``docs/explanation/quirks.md``), by rules whose ids begin with I. A grade's confidence, reason
and proposed words are never consulted: they explain a decision, they do not make it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clew_schema.evidence import Grade, RetrievalStatus, Route
from clew_schema.facts import Mode
from clew_schema.limits import MAX_REWRITES

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

    @property
    def suffices(self) -> bool:
        """Whether the evidence states the whole answer, though it is not to the point."""
        return self.grade.relevance == "weak" and self.grade.answerability == "sufficient"

    def suggests(self, route: Route) -> bool:
        """Whether the grader would take ``route``."""
        return self.grade.route == route


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table. ``id`` goes into the trace and never changes its meaning.

    ``status`` is what the rule says of the retrieval, where that does not follow from the route and the grade.
    """

    id: str
    route: Route
    when: Callable[[Situation], bool]
    status: RetrievalStatus | None = None


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

_BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in STRICT}

IMPROVED: tuple[Rule, ...] = (
    _BY_ID["R01-nothing-relevant"],
    # Q03, Q04: what is supported is answered, whatever else the grader would do; its doubts are told as assumptions.
    Rule("I01-supported-answer", "answer", lambda s: s.supported),
    _BY_ID["R02-missing-slot"],
    _BY_ID["R03-multiple-candidates"],
    # Q04: conditions that are named as missing are missing, and directions to choose from are several.
    Rule("I02-named-slots", "clarify", lambda s: s.suggests("clarify") and bool(s.grade.missing_slots)),
    Rule(
        "I03-named-options",
        "scope_select",
        lambda s: s.suggests("scope_select") and len(s.grade.hitl_options) > 1,
    ),
    # Q02: one rule for a whole question and for a part. Beside the point but sufficient is less than an answer.
    Rule("I04-weak-but-sufficient", "answer", lambda s: s.suffices, status="partial"),
    _BY_ID["R05-part-answerable"],
    _BY_ID["R06-part-unanswerable"],
    _BY_ID["R07-rewrite-suggested"],
    _BY_ID["R08-rewritten-partial"],
    _BY_ID["R09-rewrite-exhausted"],
    _BY_ID["R10-partial-rewrite"],
    _BY_ID["R11-partial-exhausted"],
    _BY_ID["R13-unsupported"],
)
"""SuperMew's order without its quirks."""

RULES: Mapping[Mode, tuple[Rule, ...]] = {"strict": STRICT, "improved": IMPROVED}


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
    return Decision(route=rule.route, status=rule.status or _status(rule.route, grade), rule=rule.id)


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


_CJK = re.compile("[\u3400-\u9fff]")

_ENGLISH: Mapping[str, str] = {
    "scope_select": "The documents hold several subjects that this may be about. Which one do you mean?",
    "slots": "The documents have something on this, but a condition is missing: ",
    "clarify": "The documents have something on this, but not enough for an answer. What exactly do you want to know?",
}
_CHINESE: Mapping[str, str] = {
    "scope_select": "我在知识库中找到了多个可能相关的方向。你想问的是哪一个？",
    "slots": "我找到了相关内容，但还缺少关键信息：",
    "clarify": "我找到了相关内容，但证据不足以确定答案。请补充一下你具体想问的条件。",
}


def clarification(grade: Grade, route: Route, question: str | None = None) -> str:
    """What to ask the person for ``route``; ``""`` for a route that asks nothing.

    The grader's own words come first, unchanged; then what is missing; then a general question. The fixed
    texts are SuperMew's; with ``question``, English ones for a question that has no Chinese character.
    """
    if route not in {"clarify", "scope_select"}:
        return ""
    if grade.hitl_prompt:
        return grade.hitl_prompt
    english = question is not None and not _CJK.search(question)
    texts, comma = (_ENGLISH, ", ") if english else (_CHINESE, "、")
    if route == "scope_select":
        return texts["scope_select"]
    if grade.missing_slots:
        return texts["slots"] + comma.join(grade.missing_slots)
    return texts["clarify"]
