"""Runs that went an odd way come out the same when they are run again from their recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from clew_schema.agent import AgentStep
from clew_schema.evidence import ChunkGrade, Evidence, Grade
from clew_schema.facts import AnswerWritten, ToolObserved
from clew_services.adapters.models.chat_scripted import (
    ScriptedChat,
    ScriptedGrader,
    ScriptedPlanner,
    ScriptedRewriter,
    ScriptedWriter,
)
from clew_services.adapters.models.embedder_hashing import HashingEmbedder
from clew_services.core.agent import Thought
from clew_services.core.answer import Draft, Quote
from clew_services.core.complexity import PlanReply
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import BadRequest, ModelFailed, ModelRefused, ModelReplyInvalid, RetrievalFailed
from clew_translators.trace_diff import diff
from tests.flow.house import CLEW, GOOD, NOTHING, House
from tests.flow.test_replay import DOCRAG, UNCLEAR, WEAK, again, facts

LONG = "Compare the thread of Ariadne with the wings of Daedalus, and say why the difference matters."
PARTS = PlanReply(complexity="complex", reason="two", sub_questions=("What is a clew?", "Who made wings?"))
WINGS = "Daedalus made wings of feathers and wax. His son Icarus flew too high with them."
AGENT = "urn:trustgraph:agent:"


async def comes_out_the_same(house: House, root: str) -> None:
    run = facts(house, root)
    named = dict.fromkeys(f.trace_uri for f in run if isinstance(f, ToolObserved) and f.trace_uri)
    tools = tuple(fact for name in named for fact in facts(house, name))
    assert diff(run, await again(house, run, root, tools=tools)) == ()


def query(question: str) -> Thought:
    return Thought(thought="look", action="document-query", arguments={"question": question})


async def test_an_agent_that_asks_the_documents_twice(tmp_path: Path) -> None:
    """Each of its questions has passes of the same numbers, other chunks, another plan and other rewrites."""
    script = [query("What is a clew?"), query(LONG), Thought(thought="done", final="Thread.")]
    async with House(
        tmp_path,
        thinker=script,
        planner=ScriptedPlanner([PARTS]),
        grader=ScriptedGrader([GOOD, GOOD, NOTHING]),
    ) as house:
        await house.load("clew.md", CLEW)
        await house.load("wings.md", WINGS)
        await house.agent("What is a clew?", session_id="a", collection="default")
        await comes_out_the_same(house, f"{AGENT}a")


async def test_an_agent_of_which_one_question_was_rewritten_and_one_could_not_be(tmp_path: Path) -> None:
    script = [query("What is a clew?"), query("Who is Icarus?"), Thought(thought="done", final="Thread.")]
    rewritten = RewriteReply(method="hyde", hyde_document="Icarus is the son of Daedalus.")
    async with House(
        tmp_path,
        thinker=script,
        grader=ScriptedGrader([WEAK, WEAK, GOOD]),
        rewriter=ScriptedRewriter([ModelRefused("no"), rewritten]),
    ) as house:
        await house.load("clew.md", CLEW)
        await house.load("wings.md", WINGS)
        await house.agent("What is a clew?", session_id="a")
        await comes_out_the_same(house, f"{AGENT}a")


async def test_an_agent_whose_tools_fail_and_one_without_tools(tmp_path: Path) -> None:
    asks = Thought(thought="ask", action="text-completion", arguments={"question": "?"})
    script = [asks, query("What is a clew?"), Thought(thought="done", final="Nobody knows.")]
    async with House(tmp_path, thinker=script, chat=ScriptedChat(ModelFailed("it is down"))) as house:
        await house.agent("What is a clew?", session_id="a", collection="nowhere")
        run = facts(house, f"{AGENT}a")
        assert [fact.failed for fact in run if isinstance(fact, ToolObserved)] == [True, True]
        await comes_out_the_same(house, f"{AGENT}a")
    script = [query("What is a clew?"), Thought(thought="done", final="Nobody knows.")]
    async with House(tmp_path, thinker=script) as house:
        await house.agent("What is a clew?", session_id="b", group=[])
        await comes_out_the_same(house, f"{AGENT}b")


async def test_an_agent_that_never_ends(tmp_path: Path) -> None:
    script = [query("What is a clew?"), query("Who is Icarus?")]
    async with House(tmp_path, thinker=script, max_iterations=2) as house:
        await house.load("clew.md", CLEW)
        await house.agent("What is a clew?", session_id="a")
        await comes_out_the_same(house, f"{AGENT}a")


async def test_parts_of_which_one_could_not_be_graded_and_some_were_dropped(tmp_path: Path) -> None:
    five = tuple(f"What is a clew, {number}?" for number in range(1, 6))
    for session, refusal in (("s-0", ModelReplyInvalid("no grade")), ("s-1", ModelRefused("not that"))):
        grades = ScriptedGrader([GOOD, refusal, NOTHING, GOOD])
        planner = ScriptedPlanner(PlanReply(complexity="complex", reason="many", sub_questions=five))
        async with House(tmp_path, planner=planner, grader=grades) as house:
            await house.load("clew.md", CLEW)
            await house.ask(LONG, session_id=session)
            await comes_out_the_same(house, DOCRAG + session)


async def test_several_rounds_and_what_streamed(tmp_path: Path) -> None:
    async with House(tmp_path, grader=ScriptedGrader([UNCLEAR, WEAK, UNCLEAR, UNCLEAR])) as house:
        await house.load("clew.md", CLEW)
        first = await house.ask("What is a clew?", session_id="s", user="ann")
        second = await house.ask("", ticket=first.ticket, answer="Crete", user="bob")
        assert second.ticket
        heard = [
            *await house.hear("", ticket=second.ticket, answer="the old one", user="eve"),
        ]
        assert heard[-1].error is None
        await comes_out_the_same(house, f"{DOCRAG}s")


async def test_a_planner_that_is_down_and_one_that_names_one_part(tmp_path: Path) -> None:
    one = PlanReply(complexity="complex", reason="one", sub_questions=("Why?",))
    for session, reply in (("s-1", ModelFailed("down")), ("s-2", one)):
        async with House(tmp_path, planner=ScriptedPlanner([reply])) as house:
            await house.load("clew.md", CLEW)
            await house.ask(LONG, session_id=session)
            await comes_out_the_same(house, DOCRAG + session)


async def test_evidence_that_was_cut_and_cosines_of_what_was_left(tmp_path: Path) -> None:
    """What the writer read was shorter than the chunk, and the embedder was asked about that."""
    text = " ".join(
        f"The {n}th thread of Ariadne led him from the labyrinth to the shore." for n in range(900)
    )
    found = tuple(
        Evidence(chunk_id=f"urn:chunk:{n}", text=text, end=len(text), rank=n, filename="threads.md")
        for n in (1, 2)
    )

    class Finds:
        async def retrieve(self, collection: str, search: object, **_: object) -> object:
            from clew_schema.evidence import Retrieval
            from clew_services.ports import Found

            return Found(evidence=found, retrieval=Retrieval(embedder="hashing"))

    said = "The hero Theseus came out of the labyrinth by the thread of Ariadne and reached some shore. [1]"
    async with House(tmp_path, retriever=Finds(), writer=ScriptedWriter(Draft(text=said))) as house:
        await house.load("clew.md", CLEW)
        await house.ask("What is a clew?", session_id="s")
        run = facts(house, f"{DOCRAG}s")
        written = next(fact for fact in run if isinstance(fact, AnswerWritten))
        assert written.truncated == 1
        assert written.checks[0].similarity
        await comes_out_the_same(house, f"{DOCRAG}s")


class Down(HashingEmbedder):
    """Finds chunks, and is out of order for everything that is said in an answer."""

    async def query(self, text: str) -> Sequence[float]:
        if "Theseus" in text:
            raise RetrievalFailed("out of order")
        return await super().query(text)


async def test_cosines_that_nobody_could_measure(tmp_path: Path) -> None:
    said = "With that ball of thread somebody called Theseus found a way out of that labyrinth. [1]"
    lame = House(tmp_path, writer=ScriptedWriter(Draft(text=said)))
    lame.given["embedder"] = Down()
    async with lame as house:
        await house.load("clew.md", CLEW)
        await house.ask("What is a clew?", session_id="s")
        written = next(f for f in facts(house, f"{DOCRAG}s") if isinstance(f, AnswerWritten))
        assert [check.similarity for check in written.checks] == [None]
        await comes_out_the_same(house, f"{DOCRAG}s")


async def test_hostile_texts_and_a_question_with_blanks_around(tmp_path: Path) -> None:
    evil = "\x1b[2J [red]half \ud83d a 'clew' \u202e <urn:x> \x00 [1] [9] “thread”."
    grade = Grade(
        relevance="weak", answerability="partial", route="rewrite", reason=evil, missing_slots=(evil,)
    )
    graded = GOOD.model_copy(update={"chunks": (ChunkGrade(place=1, relevance="weak", reason=evil),)})
    async with House(
        tmp_path,
        grader=ScriptedGrader([grade, graded]),
        rewriter=ScriptedRewriter(RewriteReply(method="hyde", hyde_document=evil.replace("\ud83d", "\x1b"))),
        writer=ScriptedWriter(Draft(text=evil, quotes=(Quote(number=1, start=2, end=6),))),
    ) as house:
        await house.load("clew.md", CLEW + " \x0b“thread”\u2028 [7]")
        answer = await house.ask(
            "  What is a clew,\tand why? \n", session_id="s", user="[red]<b>", doc_limit=1
        )
        assert answer.error is None, answer.error
        await comes_out_the_same(house, f"{DOCRAG}s")


async def test_a_run_that_failed_fails_again(tmp_path: Path) -> None:
    for session, given in (
        ("s-1", {"grader": ScriptedGrader(ModelRefused("not with this key"))}),
        ("s-2", {"writer": ScriptedWriter(ModelReplyInvalid("prose"))}),
    ):
        async with House(tmp_path, **given) as house:
            await house.load("clew.md", CLEW)
            await house.ask("What is a clew?", session_id=session)
            assert facts(house, DOCRAG + session)[-1].kind == "run_failed"
            await comes_out_the_same(house, DOCRAG + session)


async def test_what_the_trace_does_not_hold_is_refused(tmp_path: Path) -> None:
    """The steps before were the caller's own, so no part of this run could be asked in the same way."""
    step = AgentStep(thought="t", action="a", observation="o")
    async with House(tmp_path, thinker=[Thought(thought="done", final="Thread.")]) as house:
        await house.agent("What is a clew?", session_id="a", history=(step,))
        run = facts(house, f"{AGENT}a")
        with pytest.raises(BadRequest, match="a history of its caller's"):
            await again(house, run, f"{AGENT}a")
