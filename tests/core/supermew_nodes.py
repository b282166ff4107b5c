"""The runs behind the vectors of single nodes: each whole, and how far it came when its node was done."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Protocol

from clew_schema.evidence import Evidence
from clew_schema.facts import (
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    QueryRewritten,
    QuestionAsked,
    QuestionPlanned,
)
from clew_services.core import replies
from tests.core.supermew_run import Ran, Script

QUESTION = "丹瑾是什么属性？"
HARD = "请说明系统里检索模块的整体设计思路与取舍"
SUPPORTED = {"relevance": "strong", "answerability": "sufficient", "route": "answer", "confidence": 0.9}
PARTIAL = {
    "relevance": "weak",
    "answerability": "partial",
    "route": "rewrite",
    "confidence": 0.44,
    "reason": "线索弱",
}
SEVERAL = {
    "relevance": "strong",
    "answerability": "partial",
    "ambiguity": "multiple_candidates",
    "route": "scope_select",
    "confidence": 0.5,
    "hitl_options": ["A", "B"],
}
OFF_TOPIC = {
    "relevance": "none",
    "answerability": "none",
    "route": "no_knowledge",
    "confidence": 0.8,
    "hitl_options": ["残留"],
    "reason": "离题",
}
STEP_BACK = {"rewrite_method": "step_back", "step_back_question": "角色属性体系是什么？", "hyde_document": ""}
HYDE = {"rewrite_method": "hyde", "step_back_question": "", "hyde_document": "丹瑾的属性为湮灭。"}
PLAN = {"complexity": "complex", "reason": "对比", "sub_questions": ["甲题", "乙题"]}
SIMPLE_PLAN = {"complexity": "simple", "reason": "单点"}
SNAPSHOT = {
    "question": "这个角色的属性是什么？",
    "route": "clarify",
    "retrieval_status": "needs_clarification",
    "rewrite_count": 0,
    "complexity": "simple",
    "complexity_reason": "obvious_simple_fast_path:single_fact_marker",
    "sub_questions": [],
}


class Asker(Protocol):
    """What answers questions with a script: the handlers alone, or all services on a bus."""

    async def ask(self, question: str) -> Ran:
        """The whole run."""
        ...

    async def answer(self, record: dict[str, Any], answer: str) -> Ran:
        """The rest of a run that paused as ``record`` says."""
        ...


Make = Callable[..., Asker]
"""An Asker for a script; ``rewrites`` is its budget of them, if not one."""

Pair = tuple[Ran, Ran]
"""A run just before its node, and when the node was done."""


def docs(*names: str) -> list[dict[str, Any]]:
    return [
        {"filename": "doc.pdf", "page_number": 1, "text": f"text {name}", "score": 0.03, "rrf_rank": rank}
        | {"chunk_id": name}
        for rank, name in enumerate(names, 1)
    ]


def pair(ran: Ran, kind: Any, number: int = 1) -> Pair:
    after = ran.until(kind, number)
    return Ran(after.question, after.facts[:-1], after.part), after


async def first(make: Make, grade: dict[str, Any], *found: str) -> Pair:
    script = Script(
        {
            "retrieval": {QUESTION: docs(*found), "*": docs("c9")},
            "grader_outputs": [grade, SUPPORTED],
            "rewrite_output": STEP_BACK,
        }
    )
    return pair(await make(script).ask(QUESTION), EvidenceGraded)


async def second(make: Make, kind: Any, *again: str, rewrite: Any = None, grade: Any = None) -> Pair:
    """The second fact of ``kind`` of a run that rewrites once."""
    script = Script(
        {
            "retrieval": {QUESTION: docs("c1"), "*": docs(*again)},
            "grader_outputs": [PARTIAL, grade or SUPPORTED],
            "rewrite_output": rewrite or STEP_BACK,
        }
    )
    return pair(await make(script).ask(QUESTION), kind, 2)


async def planned(make: Make, question: str = QUESTION, plan: dict[str, Any] | None = None) -> Pair:
    script = Script({"retrieval": {"*": []}, "planner_output": plan})
    return pair(await make(script).ask(question), QuestionPlanned)


async def prepared(make: Make) -> Pair:
    """The plan says it all: there is no step of its own."""
    _, after = await planned(make, HARD, PLAN)
    return after, after


async def spent(make: Make) -> Pair:
    """A run whose budget of rewrites is none, as no setting makes it."""
    script = Script({"retrieval": {"*": docs("c1", "c2")}, "grader_outputs": [PARTIAL]})
    return pair(await make(script, rewrites=0).ask(QUESTION), BudgetExhausted)


async def part(make: Make) -> Pair:
    ran = await whole_of_part(make)
    return pair(Ran(ran.question, ran.facts, part=1), EvidenceRetrieved)


async def whole_of_part(make: Make) -> Ran:
    script = Script(
        {
            "retrieval": {"甲题": docs("a1"), "乙题": []},
            "planner_output": PLAN,
            "grader_outputs": {"甲题": PARTIAL | {"confidence": 0.5, "reason": ""}},
        }
    )
    return await make(script).ask(HARD)


async def resumed(make: Make, kind: Any, snapshot: dict[str, Any] = SNAPSHOT, answer: str = "丹瑾") -> Pair:
    script = Script({"retrieval": {"*": docs("h1")}, "grader_outputs": [SUPPORTED]})
    return pair(await make(script).answer(snapshot, answer), kind)


RUNS: dict[str, Callable[[Make], Coroutine[Any, Any, Pair]]] = {
    "SN-02": planned,
    "SN-04": lambda make: planned(make, HARD, SIMPLE_PLAN),
    "SN-05": lambda make: planned(make, HARD, PLAN),
    "SN-06": prepared,
    "SN-09": lambda make: first(make, SUPPORTED | {"reason": "直接回答"}, "c1", "c2"),
    "SN-12": lambda make: first(make, OFF_TOPIC, "c1", "c2"),
    "SN-13": lambda make: first(make, SUPPORTED),
    "SN-14": lambda make: first(make, PARTIAL, "c1"),
    "SN-16": lambda make: second(make, EvidenceRetrieved, "c9", "c1"),
    "SN-17": lambda make: second(make, EvidenceGraded, "c9", "c1"),
    "SN-19": lambda make: second(make, EvidenceRetrieved, "c9", "c1", rewrite=HYDE),
    "SN-20": lambda make: second(make, EvidenceGraded, "c9", "c1", rewrite=HYDE),
    "SN-21": lambda make: second(make, EvidenceGraded, "c9", grade=PARTIAL),
    "SN-22": lambda make: second(make, EvidenceGraded, "c9", grade=SEVERAL),
    "SN-23": lambda make: second(
        make,
        EvidenceGraded,
        "c9",
        grade=PARTIAL | {"answerability": "none", "confidence": 0.2, "reason": ""},
    ),
    "SN-24": lambda make: second(
        make, EvidenceGraded, "c9", grade=SUPPORTED | {"route": "rewrite", "confidence": 0.95}
    ),
    "SN-25": spent,
    "SN-26": part,
    "SN-31": lambda make: resumed(make, EvidenceRetrieved),
    "SN-32": lambda make: resumed(make, EvidenceGraded),
}
"""The nodes that change a run's state, by vector."""


def state(ran: Ran) -> dict[str, Any]:
    """The state as SuperMew has it, its request context and trace aside."""
    run, part = ran.run, ran.part
    branch = run.branches.get(part)
    graded = (
        branch.grades[-1]
        if branch and branch.grades and branch.grades[-1].pass_number > branch.since
        else None
    )
    spent = next((fact for fact in ran.facts if isinstance(fact, BudgetExhausted)), None)
    evidence = () if branch is None or spent else branch.result.evidence if branch.graded else branch.found
    if branch is not None and branch.passes and branch.passes[-1].pass_number <= branch.since:
        evidence = ()
    grade = graded.grade if graded else None
    rewrite = next((fact for fact in reversed(ran.facts) if isinstance(fact, QueryRewritten)), None)
    plan = run.plan if not part else None
    ended = spent or graded
    asks = graded.asks if graded else ""
    return {
        "question": branch.question if branch else run.question,
        "query": branch.question if branch else run.question,
        "context": replies.context(evidence),
        "docs": names(evidence),
        "route": ended and ended.route,
        "retrieval_status": ended and ended.status,
        "evidence_relevance": grade and grade.relevance,
        "evidence_answerability": grade and grade.answerability,
        "evidence_ambiguity": grade and grade.ambiguity,
        "evidence_confidence": grade and grade.confidence,
        "missing_slots": list(grade.missing_slots) if grade else [],
        "hitl_prompt": asks,
        "hitl_options": list(grade.hitl_options) if grade else [],
        "rewrite_count": run.rewrite_count,
        "rewrite_method": rewrite and rewrite.method,
        "rewritten_query": rewrite and rewrite.query,
        "step_back_question": rewrite and (rewrite.text if rewrite.method == "step_back" else ""),
        "hyde_document": rewrite and (rewrite.text if rewrite.method == "hyde" else ""),
        "complexity": plan and plan.complexity,
        "complexity_reason": plan and plan.reason,
        "sub_questions": None if plan is None or plan.parts is None else list(plan.parts),
        "is_sub_agent": part > 0,
        "rag_step_group": f"子问题 {part}" if part else None,
        "rag_step_group_label": branch.question if part and branch else None,
    }


def names(evidence: Iterable[Evidence]) -> list[str]:
    """The chunks' names as the vectors write them: read from a trace, they are IRIs."""
    return [each.chunk_id.removeprefix("urn:chunk:") for each in evidence]


def began(question: str) -> Ran:
    return Ran(question, (QuestionAsked(mechanism="document-rag", query=question),))
