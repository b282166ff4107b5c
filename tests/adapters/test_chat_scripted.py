"""The doubles that everybody uses say what they were told to, and remember what they were asked."""

from __future__ import annotations

import asyncio

import pytest

from clew_schema.evidence import Evidence, Grade
from clew_services.adapters.models.chat_scripted import (
    ScriptedChat,
    ScriptedGrader,
    ScriptedPlanner,
    ScriptedReranker,
    ScriptedRewriter,
    ScriptedThinker,
    ScriptedWriter,
    ScriptExhausted,
    pieces,
)
from clew_services.core.agent import Thought, Tool
from clew_services.core.answer import Draft, Quote
from clew_services.core.complexity import PlanReply
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import ModelBusy, ModelReplyInvalid
from clew_services.ports import Planner, Prompt, Usage
from clew_services.runtime.clock import ManualClock

PROMPT = Prompt(name="n", system="be kind", user="hello")
GRADE = Grade(relevance="strong", answerability="sufficient", route="answer")
EVIDENCE = [Evidence(chunk_id="c")]


async def test_a_list_is_said_in_order_and_then_ends() -> None:
    chat = ScriptedChat(["one", ModelBusy("later", 3), "two"])
    assert (await chat.complete(PROMPT)).text == "one"
    with pytest.raises(ModelBusy):
        await chat.complete(PROMPT)
    assert [piece async for piece in chat.stream(PROMPT)] == [
        "two",
        Usage(model="scripted", in_token=3, out_token=1),
    ]
    with pytest.raises(ScriptExhausted, match="scripted: call 4"):
        await chat.complete(PROMPT)
    assert chat.calls == (PROMPT,) * 4


async def test_a_value_is_said_always_and_a_function_asked() -> None:
    assert [await ScriptedGrader(GRADE).grade("q", EVIDENCE) for _ in range(2)] == [GRADE, GRADE]
    chat = ScriptedChat(lambda prompt: prompt.user.upper())
    assert (await chat.complete(PROMPT)).text == "HELLO"
    with pytest.raises(ModelBusy):
        await ScriptedChat(ModelBusy("always")).complete(PROMPT)


async def test_values_may_be_given_as_such_or_as_json() -> None:
    chat = ScriptedChat([GRADE, GRADE.model_dump_json(), "prose"])
    assert (await chat.structured(PROMPT, Grade))[0] == (await chat.structured(PROMPT, Grade))[0] == GRADE
    with pytest.raises(ModelReplyInvalid, match="no Grade"):
        await chat.structured(PROMPT, Grade)


async def test_writer_and_thinker_emit_what_they_say() -> None:
    said: list[str] = []

    async def emit(text: str) -> None:
        said.append(text)

    draft = Draft(text="Two  words [1].", quotes=(Quote(number=1, start=0, end=1),))
    writer = ScriptedWriter([draft, "plain"])
    assert await writer.write("q", EVIDENCE, emit) == draft
    assert "".join(said) == draft.text
    assert len(said) == 3
    assert await writer.write("q", EVIDENCE, emit, gaps=["g"], assumptions=["a"]) == Draft(text="plain")
    assert writer.calls == (("q", tuple(EVIDENCE), (), ()), ("q", tuple(EVIDENCE), ("g",), ("a",)))

    said.clear()
    tool = Tool(name="t", description="d")
    thinker = ScriptedThinker([Thought(thought="look it up", action="t")])
    assert (await thinker.think("q", [], [tool], emit)).action == "t"
    assert "".join(said) == "look it up"
    assert thinker.calls == (("q", (), (tool,)),)


async def test_planner_and_rewriter_say_what_they_were_told() -> None:
    plan = PlanReply(complexity="simple")
    planner: Planner = ScriptedPlanner([plan, ModelBusy("later")])
    assert await planner.plan("q") == plan
    with pytest.raises(ModelBusy):
        await planner.plan("again")
    rewrite = RewriteReply(method="hyde", hyde_document="d")
    rewriter = ScriptedRewriter(
        lambda question, evidence: rewrite if question and evidence else ModelBusy("x")
    )
    assert await rewriter.rewrite("q", EVIDENCE) == rewrite
    assert rewriter.calls == (("q", tuple(EVIDENCE)),)
    assert {planner.prompt_version, rewriter.prompt_version} == {"scripted"}


async def test_a_reranker_takes_one_tuple_or_a_list_of_them() -> None:
    assert await ScriptedReranker((1.0, 2.0)).scores("q", ["a", "b"]) == (1.0, 2.0)
    several = ScriptedReranker([(1.0,), (2.0,)])
    assert [await several.scores("q", ["a"]) for _ in range(2)] == [(1.0,), (2.0,)]
    assert several.calls == (("q", ("a",)),) * 2


async def test_a_reply_may_take_its_time() -> None:
    clock = ManualClock()
    chat = ScriptedChat("x", delay=5, clock=clock)
    call = asyncio.create_task(chat.complete(PROMPT))
    await asyncio.sleep(0)
    await clock.advance(4.9)
    assert not call.done()
    await clock.advance(0.1)
    assert (await call).text == "x"
    with pytest.raises(ValueError, match="needs a clock"):
        ScriptedChat("x", delay=1)


def test_pieces_joined_are_the_text() -> None:
    text = " a  b\n\nc "
    assert "".join(pieces(text)) == text
    assert pieces("") == []
