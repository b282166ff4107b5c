"""A run that is run again from its recording says the same, and says where a later version decides otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew_schema.evidence import ChunkGrade, Grade
from clew_schema.facts import Fact, QuestionAsked, ToolObserved
from clew_services.adapters.models.chat_scripted import (
    ScriptedChat,
    ScriptedGrader,
    ScriptedPlanner,
    ScriptedRewriter,
    ScriptedWriter,
)
from clew_services.core.agent import Thought
from clew_services.core.answer import Draft
from clew_services.core.complexity import PlanReply
from clew_services.errors import BadRequest, ModelRefused
from clew_services.replaying import replay
from clew_translators.explain.facts import facts_of
from clew_translators.explain.seal import broken_seals
from clew_translators.trace_diff import diff
from tests.flow.house import CLEW, GOOD, NOTHING, House

WEAK = Grade(relevance="weak", answerability="partial", route="rewrite", confidence=0.4)
UNCLEAR = Grade(
    relevance="weak",
    answerability="none",
    ambiguity="missing_slot",
    route="clarify",
    missing_slots=("country",),
    hitl_prompt="Which country?",
)


def facts(house: House, root: str) -> tuple[Fact, ...]:
    return facts_of(quad for batch in house.batches(root) for quad in batch.triples)


async def again(
    house: House, run: tuple[Fact, ...], root: str, tools: tuple[Fact, ...] = ()
) -> tuple[Fact, ...]:
    return await replay(
        run, house.settings, session_id=root.rpartition(":")[2], collection="default", tools=tools, timeout=10
    )


DOCRAG = "urn:trustgraph:docrag:"


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"grader": ScriptedGrader(NOTHING)},
        {"grader": ScriptedGrader([WEAK, GOOD])},
        {"grader": ScriptedGrader([WEAK, WEAK])},
        {
            "grader": ScriptedGrader(
                [GOOD.model_copy(update={"chunks": (ChunkGrade(place=1, relevance="none"),)})]
            )
        },
        {"grader": ScriptedGrader(WEAK), "rewriter": ScriptedRewriter(ModelRefused("no"))},
        {"writer": ScriptedWriter(Draft(text="It is thread. [1] It was red. [7] Nobody says so."))},
        {"mode": "strict"},
        {"mode": "strict", "grader": ScriptedGrader([WEAK, GOOD])},
    ],
    ids=[
        "plain",
        "nothing",
        "rewrite",
        "no-better",
        "chunks",
        "no-rewriter",
        "bad-citations",
        "strict",
        "strict-rewrite",
    ],
)
async def test_the_same_version_decides_the_same(tmp_path: Path, parts: dict[str, Any]) -> None:
    async with House(tmp_path, **parts) as house:
        await house.load("clew.md", CLEW)
        answer = await house.ask("What is a clew and what was it used for?", session_id="s-1", user="ann")
        assert answer.error is None
        run = facts(house, DOCRAG + "s-1")
        made = await again(house, run, DOCRAG + "s-1")
        assert diff(run, made) == ()
        assert not broken_seals(made)
        assert len(made) == len(run)


async def test_parts_are_searched_and_graded_as_they_were(tmp_path: Path) -> None:
    planner = ScriptedPlanner(
        PlanReply(
            complexity="complex", reason="two", sub_questions=("What is a clew?", "Who used the thread?")
        )
    )
    async with House(tmp_path, planner=planner, grader=ScriptedGrader([GOOD, NOTHING])) as house:
        await house.load("clew.md", CLEW)
        question = (
            "What is a clew, and who used the thread to leave which building and why, compared with others?"
        )
        await house.ask(question, session_id="s-2")
        run = facts(house, DOCRAG + "s-2")
        assert {fact.kind for fact in run} >= {"parts_joined", "question_planned"}
        assert diff(run, await again(house, run, DOCRAG + "s-2")) == ()


async def test_the_person_answers_again_what_they_answered(tmp_path: Path) -> None:
    async with House(tmp_path, grader=ScriptedGrader([UNCLEAR, GOOD])) as house:
        await house.load("clew.md", CLEW)
        asked = await house.ask("What is a clew?", session_id="s-3", user="ann")
        assert asked.ticket
        await house.ask("", ticket=asked.ticket, answer="Crete", user="bob")
        run = facts(house, DOCRAG + "s-3")
        made = await again(house, run, DOCRAG + "s-3")
        assert diff(run, made) == ()
        assert [fact.person for fact in made if fact.kind == "run_resumed"] == ["bob"]


async def test_a_withdrawn_question_is_withdrawn_again_and_one_that_waits_waits(tmp_path: Path) -> None:
    async with House(tmp_path, grader=ScriptedGrader([UNCLEAR, UNCLEAR])) as house:
        await house.load("clew.md", CLEW)
        waits = await house.ask("What is a clew?", session_id="s-4")
        run = facts(house, DOCRAG + "s-4")
        assert diff(run, await again(house, run, DOCRAG + "s-4")) == ()
        await house.ask("", ticket=waits.ticket, cancel=True)
        run = facts(house, DOCRAG + "s-4")
        assert run[-1].kind == "ticket_cancelled"
        assert diff(run, await again(house, run, DOCRAG + "s-4")) == ()


async def test_an_agent_and_the_runs_of_its_tools(tmp_path: Path) -> None:
    script = [
        Thought(
            thought="look", action="document-query", arguments={"question": "What is a clew?"}, model="m"
        ),
        Thought(thought="ask", action="text-completion", arguments={"question": "rephrase"}),
        Thought(thought="odd", action="no-such-tool"),
        Thought(thought="done", final="Thread.", in_token=3),
    ]
    async with House(tmp_path, thinker=script, chat=ScriptedChat("A ball.")) as house:
        await house.load("clew.md", CLEW)
        await house.agent("What is a clew?", session_id="a-1")
        root = "urn:trustgraph:agent:a-1"
        run = facts(house, root)
        tools = {fact.trace_uri for fact in run if isinstance(fact, ToolObserved) and fact.trace_uri}
        (tool,) = tools
        made = await again(house, run, root, tools=facts(house, tool))
        assert diff(run, made) == ()
        assert [fact.kind for fact in made] == [fact.kind for fact in run]


async def test_what_was_recorded_otherwise_is_decided_otherwise(tmp_path: Path) -> None:
    """Whoever edits a recording sees what follows: here the grader had said that nothing answers."""
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        await house.ask("What is a clew?", session_id="s-5")
        run = facts(house, DOCRAG + "s-5")
        edited = tuple(
            fact.model_copy(update={"grade": NOTHING}) if fact.kind == "evidence_graded" else fact
            for fact in run
        )
        found = diff(run, await again(house, edited, DOCRAG + "s-5"))
        changed = {(d.step, d.field): (d.before, d.after) for d in found if d.how == "changed"}
        assert changed["evidence graded, pass 1", "route"] == ("answer", "no_knowledge")
        assert changed["answer written", "outcome"] == ("answer", "no_knowledge")


async def test_what_was_never_asked_is_not_made_up(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        await house.ask("What is a clew?", session_id="s-6")
        run = facts(house, DOCRAG + "s-6")
        without = tuple(fact for fact in run if fact.kind != "evidence_graded")
        made = await again(house, without, DOCRAG + "s-6")
        assert made[-1].kind == "run_failed"
        assert "recorded" in made[-1].message


async def test_a_run_without_a_beginning_cannot_be_asked_again(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        with pytest.raises(BadRequest, match="first batch is missing"):
            await again(house, (), DOCRAG + "x")
        with pytest.raises(BadRequest, match="knowledge graphs"):
            await again(house, (QuestionAsked(mechanism="graph-rag", query="?"),), DOCRAG + "x")
