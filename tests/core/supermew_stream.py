"""The setups behind SuperMew's vectors of a chat's turn: what was pending, what the run found, what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clew_services.core import conversation, resuming
from clew_services.core.conversation import ChatMessage, Conversation, Failed, Ran, Said, Turn
from clew_services.core.resuming import Snapshot
from clew_translators.ragtrace_facts import project
from tests.core import supermew
from tests.translators import ragtrace_scripts

QUESTION, PROMPT = "这个角色的属性是什么？", "请补充角色名"
BEFORE = (ChatMessage(role="human", content=QUESTION), ChatMessage(role="ai", content=PROMPT))
SNAPSHOT: dict[str, Any] = {
    "question": QUESTION,
    "route": "clarify",
    "retrieval_status": "needs_clarification",
    "rewrite_count": 0,
    "complexity": "simple",
    "complexity_reason": "obvious_simple_fast_path:single_fact_marker",
    "sub_questions": [],
}
PENDING = resuming.pending(
    id="t1",
    created_at="2026-07-11T00:00:00Z",
    original_question=QUESTION,
    snapshot=Snapshot.model_validate(SNAPSHOT),
    route="clarify",
    status="needs_clarification",
    prompt=PROMPT,
)
WAITING = Conversation(session_id="s", messages=BEFORE, pending=PENDING)
FOUND = [{"filename": "doc.pdf", "page_number": 1, "text": "text h1", "score": 0.03, "chunk_id": "h1"}]
GRADE = {"relevance": "weak", "answerability": "partial", "route": "rewrite", "confidence": 0.44}


def resumed(answer: str, route: str, status: str, *, docs: Any = (), text: str = "", prompt: str = "") -> Ran:
    """A run that began again with ``answer`` and came to ``route``."""
    given = {
        "resume_state": SNAPSHOT,
        "answer": answer,
        "retrieval": {"*": docs},
        "grader_outputs": [GRADE],
    }
    decided = {"route": route, "retrieval_status": status, "hitl_prompt": prompt}
    query = resuming.refine(QUESTION, answer)
    run = project(ragtrace_scripts.of_resume(given, decided | {"query": query}))
    goes_on = route in {"answer", "rewrite"}
    return Ran(
        pieces=(text,) if text else (),
        evidence_count=len(docs) if goes_on else 0,
        trace=run.trace,
        resume_state=run.resume_state,
        id="t2",
        created_at="2026-07-11T00:01:00Z",
    )


def strict(before: Conversation, message: str, outcome: Ran | Failed) -> Turn:
    return conversation.take_turn(before, Said(text=message), outcome, mode="strict")


DAMAGED = resuming.read_pending({"id": "t1", "prompt": PROMPT, "unknown": 1})
TURNS: dict[str, Callable[[str], Turn]] = {
    "ST-04": lambda said: strict(
        WAITING, said, resumed(said, "answer", "answerable", docs=FOUND, text="湮灭[1]")
    ),
    "ST-05": lambda said: strict(
        WAITING, said, resumed(said, "rewrite", "needs_rewrite", docs=FOUND, text="可能是湮灭[1]")
    ),
    "ST-06": lambda said: strict(WAITING, said, resumed(said, "no_knowledge", "no_knowledge")),
    "ST-07": lambda said: strict(
        WAITING,
        said,
        resumed(said, "scope_select", "needs_scope_selection", docs=FOUND, prompt="选"),
    ),
    "ST-08": lambda said: strict(WAITING, said, resumed(said, "no_knowledge", "no_knowledge")),
    "ST-09": lambda said: strict(
        Conversation(session_id="s"), said, Failed(message="GRADE_MODEL is required for evidence grading")
    ),
    "ST-10": lambda said: strict(
        Conversation(session_id="s", messages=BEFORE, pending=DAMAGED), said, Ran(pieces=("嗨",))
    ),
}


def streamed(given: Any, expect: dict[str, Any]) -> None:
    """What the vector expects of the turn; of a trace, a step or a question it names only some fields."""
    vector = next(each["id"] for each in supermew.VECTORS if each["expect"] is expect)
    turn = TURNS[vector](given["message"])
    assert len(turn.events) == len(expect["events"])
    for event, expected in zip(turn.events, expect["events"], strict=True):
        assert told(event, expected) == expected
    assert [[each.role, each.content] for each in turn.messages] == expect["stored_messages"]
    pending = None if turn.pending is None else turn.pending.model_dump(mode="json")
    assert told(pending, expect["pending_hitl"]) == expect["pending_hitl"]
    assert (turn.title, turn.saves) == (expect["title"], expect["saves"])


def told(value: Any, expected: Any) -> Any:
    """``value`` cut to the fields that ``expected`` names."""
    if isinstance(value, dict) and isinstance(expected, dict):
        return {name: told(value[name], expected[name]) for name in expected if name in value}
    return value
