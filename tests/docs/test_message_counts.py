"""How many messages a question is: the page on how it flows says so, and so does the comparison with TrustGraph."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from clew_schema.evidence import Grade
from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.models.chat_scripted import ScriptedGrader, ScriptedPlanner
from clew_services.core.complexity import PlanReply
from tests.flow.house import CLEW, GOOD, House

WEAK = Grade(relevance="weak", answerability="none", route="rewrite")
UNCLEAR = Grade(relevance="weak", answerability="partial", ambiguity="missing_slot", route="clarify")
SIMPLE = PlanReply(complexity="simple")
TWO = PlanReply(complexity="complex", sub_questions=("What is a clew?", "Who used it?"))
QUESTION = "Why would anybody who is lost in a labyrinth need a clew as Theseus did?"


def count(house: House) -> Counter[str]:
    """Messages by the last part of their topic's name."""
    return Counter({name.rpartition("/")[2]: len(house.bus.messages(name)) for name in house.bus.topics()})


async def settled(house: House, before: Counter[str], batches: int) -> Counter[str]:
    """What came since ``before``, with the batches of the last step, which are published beside the answer."""
    async with asyncio.timeout(5):
        while (count(house) - before)["explainability"] < batches:
            await asyncio.sleep(0.01)
    return count(house) - before


@pytest.mark.parametrize(
    ("plan", "grades", "messages"),
    [(SIMPLE, [GOOD], 7), (SIMPLE, [WEAK, GOOD], 11), (TWO, [GOOD, GOOD], 7)],
    ids=["plain", "rewritten", "parts"],
)
async def test_what_a_run_puts_on_the_bus(
    tmp_path: Path, plan: PlanReply, grades: list[Grade], messages: int
) -> None:
    async with House(tmp_path, grader=ScriptedGrader(grades), planner=ScriptedPlanner(plan)) as house:
        await house.load("clew.md", CLEW)
        before = count(house)
        assert (await house.ask(QUESTION)).outcome == "answer"
        new = await settled(house, before, (messages - 1) // 2)
        assert new.total() == messages, new


async def test_a_pause_and_its_answer_are_two_questions(tmp_path: Path) -> None:
    async with House(tmp_path, grader=ScriptedGrader([UNCLEAR, GOOD])) as house:
        await house.load("clew.md", CLEW)
        before = count(house)
        paused = await house.ask(QUESTION)
        assert (await settled(house, before, 3)).total() == 7
        before = count(house)
        answer = DocumentRagQuery(ticket=paused.ticket, answer="The one in Crete.")
        assert (await house.client.answer(answer, timeout=10)).outcome == "answer"
        assert (await settled(house, before, 3)).total() == 7
