"""Grader, writer and thinker on a chat model, and the thinker without one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from clew_schema.agent import AgentStep
from clew_schema.evidence import ChunkGrade, Evidence, Grade
from clew_services.adapters.models.chat_scripted import ScriptedChat
from clew_services.adapters.models.json_reply import strict_schema
from clew_services.adapters.models.llm_grader import LlmGrader
from clew_services.adapters.models.llm_planner import LlmPlanner
from clew_services.adapters.models.llm_rewriter import LlmRewriter
from clew_services.adapters.models.llm_thinker import LlmThinker
from clew_services.adapters.models.llm_writer import LlmWriter
from clew_services.adapters.models.rule_planner import RulePlanner
from clew_services.adapters.models.rule_rewriter import RuleRewriter
from clew_services.adapters.models.rule_thinker import RuleThinker
from clew_services.core.agent import Thought, Tool
from clew_services.core.answer import Draft
from clew_services.core.complexity import PlanReply
from clew_services.core.opinions import GradeOfEach, WholeGrade
from clew_services.core.prompts import (
    answer_prompt,
    grading_prompt,
    planning_prompt,
    react_prompt,
    rewriting_prompt,
)
from clew_services.core.rewriting import RewriteReply, compose
from clew_services.errors import ModelFailed, ModelReplyInvalid
from clew_services.ports import Planner, Prompt, Rewriter, Usage, Writer

EVIDENCE = [Evidence(chunk_id="c", text="The tower is 12 m high.", filename="t.md")]
GRADE = Grade(relevance="strong", answerability="sufficient", route="answer")
QUERY = Tool(name="document-query", description="asks documents", arguments={"question": "what to ask"})
CALL = 'Thought: look it up\nAction: document-query\nArgs: {"question": "x"}'


class Said:
    """Remembers what was emitted."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def __call__(self, text: str) -> None:
        self.pieces.append(text)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


async def test_the_grader_asks_for_a_grade() -> None:
    chat = ScriptedChat([GRADE, ModelFailed("down")], name="m")
    grader = LlmGrader(chat)
    assert grader.name == "m"
    assert await grader.grade("How high?", EVIDENCE) == GRADE
    assert chat.calls == (grading_prompt("How high?", EVIDENCE, each=True),)
    assert grader.prompt_version == chat.calls[0].version
    with pytest.raises(ModelFailed):  # an outage is no opinion
        await grader.grade("How high?", EVIDENCE)


async def test_the_strict_grader_asks_for_the_whole_alone() -> None:
    told = GRADE.model_copy(update={"chunks": (ChunkGrade(place=1, relevance="strong"),)})
    chat = ScriptedChat([told.model_dump_json()])
    grader = LlmGrader(chat, "strict")
    assert await grader.grade("How high?", EVIDENCE) == GRADE
    assert chat.calls == (grading_prompt("How high?", EVIDENCE),)
    assert grader.prompt_version == chat.calls[0].version != LlmGrader(chat).prompt_version
    assert "chunks" not in strict_schema(WholeGrade)["properties"]
    assert "chunks" in strict_schema(GradeOfEach)["properties"]


@pytest.mark.parametrize(
    ("chunks", "places"),
    [
        ([{"place": 2, "relevance": "none", "reason": "birds"}, {"place": 1, "relevance": "weak"}], [2, 1]),
        ([{"place": 1, "relevance": "superb"}, {"place": "1"}, 7, {"place": 2, "relevance": "weak"}], [2]),
        ("none of them", []),
        (None, []),
    ],
)
async def test_opinions_on_pieces_are_taken_as_far_as_they_can_be_read(
    chunks: object, places: list[int]
) -> None:
    reply = json.dumps({**json.loads(GRADE.model_dump_json()), "chunks": chunks})
    grade = await LlmGrader(ScriptedChat(reply)).grade("How high?", EVIDENCE)
    assert [opinion.place for opinion in grade.chunks] == places
    assert grade.model_copy(update={"chunks": ()}) == GRADE


async def test_the_writer_streams_and_keeps_the_whole() -> None:
    chat, said = ScriptedChat("  It is 12 m high [1]. ", name="m"), Said()
    draft = await LlmWriter(chat).write("How high?", EVIDENCE, said)
    prompt = answer_prompt("How high?", EVIDENCE)
    words = len(f"{prompt.system} {prompt.user}".split())
    assert draft == Draft(text="It is 12 m high [1].", model="m", in_token=words, out_token=6)
    assert said.text.strip() == draft.text
    assert len(said.pieces) == 6
    assert chat.calls == (prompt,)


async def test_the_writer_is_told_of_gaps_and_assumptions() -> None:
    chat = ScriptedChat("x [1]")
    writer: Writer = LlmWriter(chat)
    await writer.write("How high?", EVIDENCE, Said(), gaps=["How old?"], assumptions=["unit"])
    assert chat.calls == (answer_prompt("How high?", EVIDENCE, gaps=["How old?"], assumptions=["unit"]),)
    assert writer.prompt_version == chat.calls[0].version


async def test_the_planner_and_the_rewriter_ask_for_their_values() -> None:
    plan = PlanReply(complexity="complex", sub_questions=("a?", "b?"))
    rewrite = RewriteReply(method="hyde", hyde_document="It stands in a field.")
    chat = ScriptedChat([plan, rewrite, ModelFailed("down"), ModelFailed("down")], name="m")
    planner: Planner = LlmPlanner(chat)
    rewriter: Rewriter = LlmRewriter(chat)
    assert await planner.plan("a and b?") == plan
    assert await rewriter.rewrite("How high?", EVIDENCE) == rewrite
    assert chat.calls == (planning_prompt("a and b?"), rewriting_prompt("How high?", EVIDENCE))
    assert (planner.name, rewriter.name) == ("m", "m")
    assert [planner.prompt_version, rewriter.prompt_version] == [prompt.version for prompt in chat.calls]
    with pytest.raises(ModelFailed):
        await planner.plan("a?")
    with pytest.raises(ModelFailed):
        await rewriter.rewrite("a?", EVIDENCE)


async def test_the_rules_plan_and_rewrite_without_a_model() -> None:
    planner: Planner = RulePlanner()
    assert await planner.plan("What is a tower?") == PlanReply(complexity="simple", reason="one question")
    found = await planner.plan("Towers vs castles")
    assert (found.complexity, found.reason, len(found.sub_questions)) == ("complex", "comparison", 2)

    rewriter: Rewriter = RuleRewriter()
    general = await rewriter.rewrite("How high was the tower of Babel in 1999?", EVIDENCE)
    assert general == RewriteReply(method="step_back", step_back_question="How high was the tower?")
    supposed = await rewriter.rewrite("How high is it?", EVIDENCE)
    assert supposed == RewriteReply(method="hyde", hyde_document="The tower is 12 m high.")
    nothing = await rewriter.rewrite(" Why? ", [Evidence(chunk_id="c", text="***")])
    assert nothing == RewriteReply(method="step_back", step_back_question="Why?")
    for reply in (general, supposed, nothing):
        assert compose("q", reply).text


async def test_an_empty_answer_is_none() -> None:
    with pytest.raises(ModelReplyInvalid, match="empty answer"):
        await LlmWriter(ScriptedChat(" \n")).write("q", EVIDENCE, Said())


class Endless(ScriptedChat):
    """A stream that says when it was closed."""

    closed = False

    async def stream(self, prompt: Prompt) -> AsyncIterator[str | Usage]:
        try:
            while True:
                yield "Thought: more "
        finally:
            self.closed = True


async def test_when_the_caller_is_gone_the_model_is_let_go() -> None:
    async def gone(text: str) -> None:
        raise ModelFailed("nobody listens")

    writing, thinking = Endless([]), Endless([])
    with pytest.raises(ModelFailed, match="nobody listens"):
        await LlmWriter(writing).write("q", EVIDENCE, gone)
    with pytest.raises(ModelFailed, match="nobody listens"):
        await LlmThinker(thinking).think("q", [], [], gone)
    assert writing.closed
    assert thinking.closed


async def test_the_thinker_acts() -> None:
    chat, said = ScriptedChat(CALL, name="m"), Said()
    history = [AgentStep(thought="t", action="a", observation="o")]
    thought = await LlmThinker(chat).think("q", history, [QUERY], said)
    prompt = react_prompt("q", history, [QUERY])
    assert thought == Thought(
        thought="look it up",
        action="document-query",
        arguments={"question": "x"},
        model="m",
        in_token=len(f"{prompt.system} {prompt.user}".split()),
        out_token=len(CALL.split()),
    )
    assert said.text == "look it up"
    assert chat.calls == (prompt,)


async def test_the_thinker_concludes() -> None:
    thought = await LlmThinker(ScriptedChat("Thought: done\nFinal Answer: 12 m [1]")).think(
        "q", [], [], Said()
    )
    assert (thought.thought, thought.final, thought.action) == ("done", "12 m [1]", "")


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("I am a parrot.", "neither an 'Action:' nor a 'Final Answer:'"),
        ("Thought: look\nAction: t\nArgs: x=1 and more words", "Args of 't' is no JSON object"),
        ("Thought: look\nAction: t\nArgs: x=1\nmore of it", "Args of 't' is no JSON object"),
        ("Thought: look\nAction: t\nArgs: {'x': 1}", "Args of 't' is no JSON object"),
    ],
)
async def test_a_reply_out_of_form_is_shown_to_the_model_again(bad: str, told: str) -> None:
    chat, said = ScriptedChat([bad, CALL], name="m"), Said()
    thought = await LlmThinker(chat).think("q", [], [QUERY], said)
    assert thought.arguments == {"question": "x"}
    assert thought.out_token == len(bad.split()) + len(CALL.split())
    first, again = chat.calls
    assert again.system == first.system
    assert told in again.user
    assert bad in again.user
    # Shown once: what the first reply thought, if anything.
    assert said.text in {"look", bad}


async def test_repairs_are_bounded_and_then_it_is_a_defect() -> None:
    chat = ScriptedChat("I am a parrot.", name="m")
    with pytest.raises(
        ModelReplyInvalid, match="m: no thought in ReAct form in 3 replies; last: there is neither"
    ):
        await LlmThinker(chat).think("q", [], [QUERY], Said())
    assert len(chat.calls) == 3


async def test_the_rule_looks_up_once_and_then_says_what_was_found() -> None:
    thinker, said = RuleThinker(), Said()
    first = await thinker.think("How high?", [], [Tool(name="other", description=""), QUERY], said)
    assert (first.action, first.arguments, first.final) == ("document-query", {"question": "How high?"}, None)
    assert said.text == first.thought != ""
    step = AgentStep(thought=first.thought, action=first.action, observation=" It is 12 m [1].\n")
    second = await thinker.think("How high?", [step], [QUERY], said)
    assert (second.final, second.action) == ("It is 12 m [1].", "")


@pytest.mark.parametrize("tools", [[], [Tool(name="other", description="")]])
async def test_the_rule_without_its_tool_says_so(tools: list[Tool]) -> None:
    thought = await RuleThinker().think("q", [], tools, Said())
    assert thought.final is not None
    assert "document-query is not offered" in thought.final


async def test_the_rule_never_concludes_with_nothing() -> None:
    thought = await RuleThinker().think("q", [AgentStep(action="t", observation=" ")], [QUERY], Said())
    assert thought.final == "The tool returned nothing, so there is no answer."
