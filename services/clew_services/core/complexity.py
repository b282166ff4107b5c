"""Is a question one question, or several? A table of rules says so for the obvious ones; a planner for the rest.

Mode *strict* decides as SuperMew 0.1.0 does. Another mode is another tuple of rules handed to
:func:`look`. Every test below is on the lower-cased question with its blanks collapsed to single spaces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from clew_schema.base import Items, Message
from clew_schema.facts import Complexity, Mode
from clew_schema.limits import MAX_PARTS
from clew_services.errors import ModelReplyInvalid

LONGEST_OBVIOUS = 48
"""Code points of the longest question that is judged without a planner."""
LONGEST_SHORT = 18
"""Code points of a question that is simple because it is short, marks at its end aside."""

_COMPLEX = (
    *(
        "比较",
        "对比",
        "区别",
        "差异",
        "优缺点",
        "优势",
        "劣势",
        "分析",
        "总结",
        "综合",
        "原因",
        "成因",
        "影响",
    ),
    *("方案", "步骤", "如何", "为什么", "以及", "同时", "并且", "和", "与", "谁更"),
    *("compare", "versus", "difference", "different", "analyze", "summarize", "trade-off", "pros and cons"),
    *("why ", "how ", "complex"),
)
_DIMENSIONS = (
    *("属性", "武器", "定位", "技能", "机制", "参数", "规格", "性能", "价格", "优点", "缺点", "作用"),
)
_SIMPLE = (
    *(
        "是什么",
        "是谁",
        "哪里",
        "何时",
        "多少",
        "是否",
        "哪个",
        "哪种",
        "属性",
        "参数",
        "规格",
        "定义",
        "含义",
    ),
    *("what is", "who is", "where is", "when is", "how many", "which"),
)
_CJK = re.compile("[\u4e00-\u9fff]")
_FINAL_MARKS = "?？。.!！"
_QUESTION_MARKS = "?？;；"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table. ``reason`` is what the trace says of a simple question; null asks the planner."""

    id: str
    reason: str | None
    when: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the rules say of a question: ``reason`` when it is simple, else null; and the rule that decided."""

    reason: str | None
    rule: str


def _contains(markers: tuple[str, ...]) -> Callable[[str], bool]:
    return lambda question: any(marker in question for marker in markers)


def _many_dimensions(question: str) -> bool:
    return sum(marker in question for marker in _DIMENSIONS) >= 2


def _keywords(question: str) -> bool:
    return question.count(" ") >= 2 and _CJK.search(question) is not None


STRICT: tuple[Rule, ...] = (
    Rule("F01-empty-or-long", None, lambda q: not q or len(q) > LONGEST_OBVIOUS),
    Rule("F02-complex-marker", None, _contains(_COMPLEX)),
    Rule("F03-enumeration", None, _contains(("、",))),
    Rule("F04-keywords", None, _keywords),
    Rule("F05-dimensions", None, _many_dimensions),
    Rule("F06-several-marks", None, lambda q: sum(map(q.count, _QUESTION_MARKS)) > 1),
    Rule("F07-simple-marker", "obvious_simple_fast_path:single_fact_marker", _contains(_SIMPLE)),
    Rule(
        "F08-short",
        "obvious_simple_fast_path:short_single_intent",
        lambda q: len(q.rstrip(_FINAL_MARKS)) <= LONGEST_SHORT,
    ),
    Rule("F09-unclear", None, lambda _: True),
)
"""SuperMew's order of rules. The last one always matches."""


def look(question: str, *, rules: tuple[Rule, ...] = STRICT) -> Look:
    """What the first of ``rules`` that matches says; total when the last one always matches."""
    plain = " ".join(question.split()).lower()
    rule = next(rule for rule in rules if rule.when(plain))
    return Look(reason=rule.reason, rule=rule.id)


class PlanReply(Message):
    """What the planner says of a question."""

    complexity: Complexity
    reason: str = ""
    sub_questions: Items[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a question will be worked on, and the id of the rule that says so.

    ``parts`` is null when nobody was asked for any, else 0 to MAX_PARTS; ``dropped`` ones were more than that.
    """

    complexity: Complexity
    reason: str
    parts: tuple[str, ...] | None = None
    dropped: int = 0
    rule: str = ""


UNAVAILABLE = Plan(
    complexity="simple", reason="planner_unavailable", parts=(), rule="P05-planner-unavailable"
)
"""Improved: without a planner every question is one question (quirk Q15)."""


def plan(reply: PlanReply, mode: Mode = "strict") -> Plan:
    """The planner's reply with its blanks removed. A simple question has no parts.

    Strict: more than MAX_PARTS parts are refused, one part is enough to be complex. Improved: those that are too
    many are dropped and counted, and a question with one part is simple (quirk Q15).

    Raises ModelReplyInvalid for a complex question without a part, and, strict, for too many.
    """
    if mode == "strict" and len(reply.sub_questions) > MAX_PARTS:
        raise ModelReplyInvalid(
            f"the planner named {len(reply.sub_questions)} sub_questions; at most {MAX_PARTS} are worked on"
        )
    parts = tuple(part for part in map(str.strip, reply.sub_questions) if part)
    reason = reply.reason.strip()
    if reply.complexity == "simple":
        return Plan(complexity="simple", reason=reason, parts=(), rule="P01-planned-simple")
    if not parts:
        raise ModelReplyInvalid(
            f"the planner called the question complex and named no part of it; give 1 to {MAX_PARTS} sub_questions"
        )
    if mode == "improved" and len(parts) == 1:
        return Plan(complexity="simple", reason=reason, parts=(), rule="P03-one-part")
    kept = parts[:MAX_PARTS]
    rule = "P04-parts-dropped" if len(parts) > MAX_PARTS else "P02-planned-complex"
    return Plan(complexity="complex", reason=reason, parts=kept, dropped=len(parts) - len(kept), rule=rule)


def obvious(question: str) -> Plan | None:
    """The plan of a question that a rule knows to be simple; null: ask a planner."""
    seen = look(question)
    return None if seen.reason is None else Plan(complexity="simple", reason=seen.reason, rule=seen.rule)
