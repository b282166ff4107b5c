"""A turn of a chat: what SuperMew's does in detail, and what ours does otherwise."""

from __future__ import annotations

from clew_services.core import conversation
from clew_services.core.conversation import DONE, NOTHING_FOUND, ChatMessage, Conversation, Failed, Ran, Said
from tests.core.supermew_stream import PENDING, QUESTION, SNAPSHOT, WAITING, resumed


def kinds(turn: conversation.Turn) -> list[str]:
    return [event["type"] for event in turn.events]


def test_a_message_is_stored_before_anything_is_asked() -> None:
    turn = conversation.begin(Conversation(session_id="s"), Said(text="  你好！ "))
    assert kinds(turn) == ["rag_step", "session_title"]
    assert turn.messages == (ChatMessage(role="human", content="  你好！ "),)
    assert (turn.title, turn.saves, turn.answers) == ("你好", 1, None)
    assert turn.events[1]["session_id"] == "s"


def test_a_pausing_run_asks_and_writes_nothing_else() -> None:
    trace = {
        "route": "clarify",
        "retrieval_status": "needs_clarification",
        "hitl_prompt": "哪个？",
        "hitl_options": [" A ", ""],
    }
    ran = Ran(pieces=("half",), trace=trace, resume_state=SNAPSHOT, id="t9", created_at="now")
    turn = conversation.take_turn(Conversation(session_id="s"), Said(text="属性？"), ran)
    assert kinds(turn) == ["rag_step", "session_title", "trace", "hitl_request", "[DONE]"]
    assert turn.events[3]["hitl"] == {
        "id": "t9",
        "original_question": "属性？",
        "prompt": "哪个？",
        "options": ["A"],
        "route": "clarify",
        "retrieval_status": "needs_clarification",
    }
    assert turn.messages[-1] == ChatMessage(role="ai", content="哪个？\n\n可选方向：\n- A", rag_trace=trace)
    assert turn.pending is not None
    assert (turn.pending.id, turn.pending.answers, turn.saves) == ("t9", (), 2)


def test_a_pause_without_a_snapshot_cannot_be_answered_so_nothing_waits() -> None:
    trace = {"route": "clarify", "retrieval_status": "needs_clarification"}
    turn = conversation.take_turn(
        Conversation(session_id="s"), Said(text="q"), Ran(pieces=("a",), trace=trace)
    )
    assert turn.pending is None
    assert kinds(turn) == ["rag_step", "session_title", "content", "trace", "[DONE]"]


def test_an_agents_reply_without_evidence_is_its_own() -> None:
    turn = conversation.take_turn(Conversation(session_id="s"), Said(text="hi"), Ran(pieces=("he", "llo")))
    assert [event.get("content") for event in turn.events[2:4]] == ["he", "llo"]
    assert turn.messages[-1].content == "hello"


def test_an_answer_names_what_it_answers() -> None:
    answer = conversation.begin(WAITING, Said(text="丹瑾", ticket="t1"))
    other = conversation.begin(WAITING, Said(text="今天天气怎么样"))
    late = conversation.begin(WAITING, Said(text="丹瑾", ticket="t0"))
    assert (answer.answers, other.answers, late.answers) == (PENDING, None, None)
    weather = conversation.end(other, Ran(pieces=("晴",)))
    assert (weather.messages[-1].content, weather.pending) == ("晴", PENDING)
    ended = conversation.end(answer, resumed("丹瑾", "no_knowledge", "no_knowledge"))
    assert (ended.messages[-1].content, ended.pending) == (NOTHING_FOUND, None)


def test_rounds_keep_the_first_question_and_every_answer() -> None:
    again = resumed("丹瑾", "clarify", "needs_clarification", prompt="?")
    first = conversation.take_turn(WAITING, Said(text="丹瑾", ticket="t1"), again)
    second = conversation.take_turn(
        Conversation(session_id="s", messages=first.messages, pending=first.pending),
        Said(text="武器", ticket="t2"),
        again,
    )
    assert second.pending is not None
    assert (second.pending.original_question, second.pending.answers) == (QUESTION, ("丹瑾", "武器"))


def test_after_a_failure_the_question_can_be_answered_again() -> None:
    for mode, count in (("strict", 2), ("improved", 1)):
        begun = conversation.begin(WAITING, Said(text="丹瑾", ticket="t1"), mode=mode)  # type: ignore[arg-type]
        turn = conversation.end(begun, Failed(message="the model did not answer"))
        assert turn.pending == PENDING
        assert turn.events[-2:] == ({"type": "error", "content": "the model did not answer"}, DONE)
        assert (len(turn.messages), turn.saves) == (2 + count, count)
