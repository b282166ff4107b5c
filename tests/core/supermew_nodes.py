"""The runs behind the vectors of single nodes: each up to its node, and the node done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clew_services.core import progress, replies
from clew_services.core.progress import Progress
from tests.core import supermew_run as pipeline
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

Step = Callable[[Ran, Script], Ran]


def docs(*names: str) -> list[dict[str, Any]]:
    return [
        {"filename": "doc.pdf", "page_number": 1, "text": f"text {name}", "score": 0.03, "rrf_rank": rank}
        | {"chunk_id": name}
        for rank, name in enumerate(names, 1)
    ]


def at(
    *steps: Step,
    question: str = QUESTION,
    found: tuple[str, ...] = (),
    again: tuple[str, ...] = (),
    part: int = 0,
    **models: Any,
) -> tuple[Ran, Ran]:
    """The run before the last of `steps`, and after it."""
    script = Script({"retrieval": {question: docs(*found), "*": docs(*again)}} | models)
    before = after = Ran(progress.asked(question, part=part))
    for step in steps:
        before, after = after, step(after, script)
    return before, after


def spend(ran: Ran, _: Script) -> Ran:
    return pipeline.spent(ran)


FIRST: tuple[Step, ...] = (pipeline.classify, pipeline.retrieve_initial, pipeline.grade)
SECOND: tuple[Step, ...] = (*FIRST, pipeline.rewrite, pipeline.retrieve_rewritten)
THIRD: tuple[Step, ...] = (*SECOND, pipeline.grade)


def first(grade: dict[str, Any], *found: str) -> tuple[Ran, Ran]:
    return at(*FIRST, found=found, grader_outputs=[grade])


def second(*steps: Step, again: tuple[str, ...], rewrite: Any = None, grade: Any = None) -> tuple[Ran, Ran]:
    return at(
        *steps,
        found=("c1",),
        again=again,
        rewrite_output=rewrite or STEP_BACK,
        grader_outputs=[PARTIAL, grade],
    )


def resumed(*steps: Step) -> tuple[Ran, Ran]:
    script = Script({"retrieval": {"*": docs("h1")}, "grader_outputs": [SUPPORTED]})
    before = after = pipeline.begin_again(SNAPSHOT, "丹瑾")
    for step in steps:
        before, after = after, step(after, script)
    return before, after


RUNS: dict[str, Callable[[], tuple[Ran, Ran]]] = {
    "SN-02": lambda: at(pipeline.classify),
    "SN-04": lambda: at(pipeline.classify, question=HARD, planner_output=SIMPLE_PLAN),
    "SN-05": lambda: at(pipeline.classify, question=HARD, planner_output=PLAN),
    "SN-06": lambda: (at(pipeline.classify, question=HARD, planner_output=PLAN)[1],) * 2,  # the plan says it
    "SN-09": lambda: first(SUPPORTED | {"reason": "直接回答"}, "c1", "c2"),
    "SN-12": lambda: first(OFF_TOPIC, "c1", "c2"),
    "SN-13": lambda: first(SUPPORTED),
    "SN-14": lambda: first(PARTIAL, "c1"),
    "SN-16": lambda: second(*SECOND, again=("c9", "c1")),
    "SN-17": lambda: second(*THIRD, again=("c9", "c1"), grade=SUPPORTED),
    "SN-19": lambda: second(*SECOND, again=("c9", "c1"), rewrite=HYDE),
    "SN-20": lambda: second(*THIRD, again=("c9", "c1"), rewrite=HYDE, grade=SUPPORTED),
    "SN-21": lambda: second(*THIRD, again=("c9",), grade=PARTIAL),
    "SN-22": lambda: second(*THIRD, again=("c9",), grade=SEVERAL),
    "SN-23": lambda: second(
        *THIRD, again=("c9",), grade=PARTIAL | {"answerability": "none", "confidence": 0.2, "reason": ""}
    ),
    "SN-24": lambda: second(
        *THIRD, again=("c9",), grade=SUPPORTED | {"route": "rewrite", "confidence": 0.95}
    ),
    "SN-25": lambda: at(*FIRST, spend, pipeline.rewrite, found=("c1", "c2"), grader_outputs=[PARTIAL]),
    "SN-26": lambda: at(pipeline.retrieve_initial, question="甲题", found=("a1",), part=1),
    "SN-31": lambda: resumed(pipeline.retrieve_targeted),
    "SN-32": lambda: resumed(pipeline.retrieve_targeted, pipeline.grade),
}
"""The nodes that change a run's state, by vector."""


def state(now: Progress) -> dict[str, Any]:
    """The state as SuperMew has it, its request context and trace aside."""
    grade, decision, rewrite = now.grade, now.decision, now.rewrite
    return {
        "question": now.question,
        "query": now.query,
        "context": replies.context(now.evidence),
        "docs": [each.chunk_id for each in now.evidence],
        "route": decision and decision.route,
        "retrieval_status": decision and decision.status,
        "evidence_relevance": grade and grade.relevance,
        "evidence_answerability": grade and grade.answerability,
        "evidence_ambiguity": grade and grade.ambiguity,
        "evidence_confidence": grade and grade.confidence,
        "missing_slots": list(grade.missing_slots) if grade else [],
        "hitl_prompt": now.prompt,
        "hitl_options": list(now.options),
        "rewrite_count": now.rewrite_count,
        "rewrite_method": rewrite and rewrite.method,
        "rewritten_query": rewrite and rewrite.query,
        "step_back_question": rewrite and rewrite.step_back_question,
        "hyde_document": rewrite and rewrite.hyde_document,
        "complexity": now.complexity,
        "complexity_reason": now.complexity_reason,
        "sub_questions": None if now.parts is None else list(now.parts),
        "is_sub_agent": now.is_part,
        "rag_step_group": f"子问题 {now.part}" if now.is_part else None,
        "rag_step_group_label": now.question if now.is_part else None,
    }
