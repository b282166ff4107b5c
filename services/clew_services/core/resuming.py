"""A pause for a person: what is remembered, what is asked, and the question that their answer makes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationError

from clew_schema.base import Items, Message
from clew_schema.evidence import RetrievalStatus, Route
from clew_schema.facts import Complexity
from clew_schema.limits import MAX_PARTS

PauseRoute = Literal["clarify", "scope_select"]
PauseStatus = Literal["needs_clarification", "needs_scope_selection"]

STATUSES: frozenset[RetrievalStatus | None] = frozenset({"needs_clarification", "needs_scope_selection"})
ROUTES: frozenset[Route | None] = frozenset({"clarify", "scope_select"})

_PROMPTS: dict[PauseRoute, str] = {
    "scope_select": "我找到了多个可能相关的知识库方向，请选择你想继续查询的方向。",
    "clarify": "我找到了相关知识，但还缺少一个关键信息，请补充后我继续查询。",
}


class Snapshot(Message):
    """The seven things a resumed run knows of the paused one. Anything else in it is an error."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    route: str
    retrieval_status: str
    rewrite_count: int = Field(default=0, ge=0)
    complexity: Complexity | None = None
    complexity_reason: str | None = None
    sub_questions: Annotated[Items[str], Field(max_length=MAX_PARTS)] = ()


class Pending(Message):
    """What is kept while a person is asked. ``answers`` are those of earlier rounds, oldest first."""

    model_config = ConfigDict(extra="forbid")

    id: str
    original_question: str
    prompt: str
    options: Items[str] = ()
    route: PauseRoute
    retrieval_status: PauseStatus
    answers: Items[str] = ()
    resume_state: Snapshot
    created_at: str


def is_pause(status: str | None, route: str | None) -> bool:
    """Whether a run with this status and route waits for a person; either of them is enough."""
    return status in STATUSES or route in ROUTES


def refine(question: str, answer: str) -> str:
    """The question that ``answer`` makes of the paused ``question``: the answer, a colon, the question.

    The question stays as it is when the answer is blank or already stands in it; the answer stands alone
    when there is no question.
    """
    answer = answer.strip()
    if not question:
        return answer
    if not answer or answer in question:
        return question
    return f"{answer}：{question}"


def pending(
    *,
    id: str,  # noqa: A002 - the name of the field that it fills
    created_at: str,
    original_question: str,
    snapshot: Snapshot,
    route: str | None,
    status: str | None,
    prompt: str | None = None,
    options: Iterable[object] | None = None,
    answers: Iterable[str] = (),
) -> Pending:
    """The record of a pause. A choice of scope when the route or the status says so, else a clarification.

    The prompt is trimmed, and a blank one replaced by a general one (SuperMew's words); options are
    trimmed texts without the blank ones.
    """
    is_choice = route == "scope_select" or status == "needs_scope_selection"
    route_of_pause: PauseRoute = "scope_select" if is_choice else "clarify"
    return Pending(
        id=id,
        created_at=created_at,
        original_question=original_question,
        prompt=(prompt or "").strip() or _PROMPTS[route_of_pause],
        options=_trimmed(options or ()),
        route=route_of_pause,
        retrieval_status="needs_scope_selection" if is_choice else "needs_clarification",
        answers=tuple(answers),
        resume_state=snapshot,
    )


def read_pending(record: object) -> Pending | None:
    """The stored record of a pause; null when it is none, so that a damaged one is no question to answer."""
    try:
        return Pending.model_validate(record)
    except ValidationError:
        return None


def message(prompt: str, options: Iterable[object] = ()) -> str:
    """What a person reads: the prompt, and the options as a list when there are any."""
    lines = [f"- {option}" for option in _trimmed(options)]
    return "\n".join([prompt, "", "可选方向：", *lines]) if lines else prompt


def _trimmed(options: Iterable[object]) -> tuple[str, ...]:
    return tuple(text for text in (str(option).strip() for option in options) if text)
