"""A chat around the evidence pipeline: what one turn shows, stores and remembers. No I/O, no model, no time.

:func:`begin` is the moment at which a person's message arrived, :func:`end` that at which its run came to an
end; what happens between them (more steps, the text as it is written) is for whoever runs it to show. Store
each turn that they return as often as its ``saves`` grew, before you show that it ended.

Mode *strict* is SuperMew's chat: whatever is said while a question of ours waits is taken for its answer
(quirk Q10), and a failed run leaves an empty reply (Q14). In mode *improved* an answer names what it answers,
anything else is a new question while the old one goes on waiting, and a failed run leaves no reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from clew_schema.facts import Mode
from clew_services.core import replies, resuming
from clew_services.core.resuming import Pending, Snapshot

Event = Mapping[str, Any]

RECEIVED = "请求已接收，正在准备回答"
"""The first step of every turn, shown at once."""

NOTHING_FOUND = "知识库中没有找到可靠的相关信息，暂时无法基于知识库回答这个问题。"
"""The reply when a person's answer led to no evidence: no model is asked for it."""

DONE: Event = {"type": "[DONE]"}
"""The last event. On the wire it is ``data: [DONE]``, the others are JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message as it is stored; ``rag_trace`` is that of the run which an ``ai`` message came from."""

    role: Literal["human", "ai"]
    content: str
    rag_trace: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A chat as it was stored. ``pending`` is read with :func:`resuming.read_pending`: null when damaged."""

    session_id: str
    messages: tuple[ChatMessage, ...] = ()
    pending: Pending | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person wrote; ``ticket`` is the id of the pending question that it answers, if it names one."""

    text: str
    ticket: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How the run of a turn ended.

    ``pieces`` are the reply's text as it was streamed, ``evidence_count`` the pieces of evidence that it rests
    on; ``trace`` (null: nothing was searched) and ``resume_state`` are the records of the run. ``id`` and
    ``created_at`` (UTC, ISO 8601) are for the question that a pausing run asks: of its ticket.
    """

    pieces: tuple[str, ...] = ()
    evidence_count: int = 0
    trace: Mapping[str, Any] | None = None
    resume_state: Mapping[str, Any] | None = None
    id: str = ""
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The run failed; ``message`` is what a person may read of it."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn so far: the events in their order, and the whole conversation as it is to be stored.

    ``title`` is set by the first message alone. ``saves`` counts how often the conversation was to be stored.
    ``answers`` is the pending question that the message was taken to answer: resume its run, ask no new one.
    """

    session_id: str
    said: Said
    mode: Mode
    events: tuple[Event, ...]
    messages: tuple[ChatMessage, ...]
    pending: Pending | None
    title: str | None = None
    saves: int = 0
    answers: Pending | None = None


def begin(conversation: Conversation, said: Said, *, mode: Mode = "improved") -> Turn:
    """A message arrived: it is stored before anything is asked, and the first one names the conversation."""
    pending = conversation.pending
    answers = pending if pending and (mode == "strict" or said.ticket == pending.id) else None
    title = None if conversation.messages else replies.title(said.text)
    named = {"type": "session_title", "title": title, "session_id": conversation.session_id}
    step = {"type": "rag_step", "icon": "✓", "label": RECEIVED, "detail": "", "elapsed_ms": 0}
    return Turn(
        session_id=conversation.session_id,
        said=said,
        mode=mode,
        events=(step,) if title is None else (step, named),
        messages=(*conversation.messages, ChatMessage(role="human", content=said.text)),
        pending=pending,
        title=title,
        saves=1,
        answers=answers,
    )


def end(turn: Turn, outcome: Ran | Failed) -> Turn:
    """The run came to its end: with a reply, with a question of its own, or without either.

    A question that was answered waits no more, unless the run failed: then it may be answered again.
    """
    if isinstance(outcome, Failed):
        return _failed(turn, outcome)
    left = None if turn.answers else turn.pending
    asked = _asked(turn, outcome)
    traced = () if outcome.trace is None else ({"type": "trace", "rag_trace": outcome.trace},)
    if asked is not None:
        reply = resuming.message(asked.prompt, asked.options)
        return _replied(turn, reply, outcome, (*traced, _request(asked)), asked)
    pieces = outcome.pieces
    if turn.answers and not outcome.evidence_count:
        pieces = (NOTHING_FOUND,)
    written = tuple({"type": "content", "content": piece} for piece in pieces)
    return _replied(turn, "".join(pieces), outcome, (*written, *traced), left)


def take_turn(
    conversation: Conversation, said: Said, outcome: Ran | Failed, *, mode: Mode = "improved"
) -> Turn:
    """A whole turn at once, for a run whose outcome is known."""
    return end(begin(conversation, said, mode=mode), outcome)


def _asked(turn: Turn, outcome: Ran) -> Pending | None:
    """The question that the run asks; null unless it waits for a person and can be resumed."""
    trace = outcome.trace or {}
    route, status = trace.get("route"), trace.get("retrieval_status")
    if outcome.resume_state is None or not resuming.is_pause(status, route):
        return None
    before = turn.answers
    return resuming.pending(
        id=outcome.id,
        created_at=outcome.created_at,
        original_question=before.original_question if before else turn.said.text,
        snapshot=Snapshot.model_validate(dict(outcome.resume_state)),
        route=route,
        status=status,
        prompt=trace.get("hitl_prompt"),
        options=trace.get("hitl_options"),
        answers=(*before.answers, turn.said.text) if before else (),
    )


def _request(asked: Pending) -> Event:
    told = asked.model_dump(mode="json", exclude={"answers", "resume_state", "created_at"})
    return {"type": "hitl_request", "hitl": told}


def _replied(turn: Turn, text: str, outcome: Ran, events: Sequence[Event], pending: Pending | None) -> Turn:
    return replace(
        turn,
        events=(*turn.events, *events, DONE),
        messages=(*turn.messages, ChatMessage(role="ai", content=text, rag_trace=outcome.trace)),
        pending=pending,
        saves=turn.saves + 1,
    )


def _failed(turn: Turn, outcome: Failed) -> Turn:
    events = (*turn.events, {"type": "error", "content": outcome.message}, DONE)
    if turn.mode == "improved":
        return replace(turn, events=events)
    empty = ChatMessage(role="ai", content="")
    return replace(turn, events=events, messages=(*turn.messages, empty), saves=turn.saves + 1)
