"""A run that is cancelled ends before its next step: explained, answered once, and no dead letter."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from clew_schema.agent import AgentRequest, AgentResponse
from clew_schema.cancelling import CancelRequest
from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import RunFailed
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.core.agent import Thought
from tests.core import supermew_nodes as nodes
from tests.flow.house import CLEW, GOOD, House
from tests.flow.supermew_services import Conversation
from tests.flow.test_tickets import ASKS, script

QUESTION = "What is a clew?"
RUN = "urn:trustgraph:docrag:s"


class Working:
    """A grader at work until it is let go."""

    name = "working"
    prompt_version = ""

    def __init__(self) -> None:
        self.begun, self.released = asyncio.Event(), asyncio.Event()

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        self.begun.set()
        await self.released.wait()
        return GOOD


async def heard(house: House, query: DocumentRagQuery) -> list[DocumentRagResponse]:
    return [each.body async for each in house.client.ask(query, timeout=10)]


async def cancelled(house: House, session: str, **given: str) -> str:
    response = await house.client.cancel(CancelRequest(session_id=session, **given), timeout=10)
    assert response.error is None
    return response.state


async def test_a_run_ends_before_its_next_step_and_says_why(tmp_path: Path) -> None:
    grader = Working()
    async with House(tmp_path, grader=grader) as house:
        await house.load("clew.md", CLEW)
        asking = asyncio.create_task(heard(house, DocumentRagQuery(query=QUESTION, session_id="s")))
        await grader.begun.wait()
        assert await cancelled(house, "s", reason="asked by mistake") == "cancelled"
        grader.released.set()
        answers = await asking
        assert [(a.error.type, a.error.message) for a in answers if a.error] == [
            ("cancelled", "the run was cancelled: asked by mistake")
        ]
        assert [a.end_of_session for a in answers] == [True]
        assert not house.published("dead-letter")
        tree = house.trace(RUN)
        assert tree.state == "failed"
        assert {"retrieval", "grade"} <= {step.kind for step in tree.steps}, "what was done is told"
        assert not house.writer.calls


async def test_before_it_began_after_it_ended_and_twice(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        assert (await house.ask(QUESTION, session_id="done")).outcome == "answer"
        assert await cancelled(house, "done") == "cancelled"
        assert house.trace("urn:trustgraph:docrag:done").state == "answered"
        assert await cancelled(house, "s") == "cancelled"
        assert await cancelled(house, "s", reason="again") == "already-cancelled"
        said = await house.ask(QUESTION, session_id="s")
        assert said.error is not None
        assert (said.error.type, said.error.message) == ("cancelled", "the run was cancelled")
        assert not house.published("dead-letter")


async def test_in_another_collection_it_does_nothing(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        assert await cancelled(house, "s", collection="other") == "cancelled"
        assert (await house.ask(QUESTION, session_id="s")).outcome == "answer"


async def test_a_pause_is_withdrawn(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS, nodes.SUPPORTED)) as services:
        paused = await services.say(nodes.QUESTION)
        request = CancelRequest(session_id=paused.session_id, collection=paused.collection, user="Ada")
        response = await services.house.client.cancel(request, timeout=10)
        assert response.tickets == (paused.ticket,)
        async with asyncio.timeout(10):
            while (
                ticket := await services.house.ledger.ticket(paused.ticket)
            ) is None or ticket.state == "open":
                await asyncio.sleep(0.01)
        assert ticket.state == "cancelled"
        late = await services.reply(paused.ticket, "甲")
        assert late.error is not None
        assert late.error.type == "ticket-closed"
        assert services.house.trace(f"urn:trustgraph:docrag:{paused.session_id}").state == "cancelled"


async def test_an_agent_ends_before_its_next_thought(tmp_path: Path) -> None:
    grader = Working()
    look = Thought(thought="Let me look.", action="document-query", arguments={"question": QUESTION})
    async with House(tmp_path, grader=grader, thinker=[look, look, look]) as house:
        await house.load("clew.md", CLEW)

        async def ask() -> list[AgentResponse]:
            request = AgentRequest(question=QUESTION, session_id="a")
            return [each.body async for each in house.client.agent(request, timeout=10)]

        asking = asyncio.create_task(ask())
        await grader.begun.wait()
        await cancelled(house, "a")
        grader.released.set()
        last = (await asking)[-1]
        assert last.error is not None
        assert (last.error.type, last.end_of_dialog) == ("cancelled", True)
        assert house.trace("urn:trustgraph:agent:a").state == "failed"


async def test_the_failure_is_a_fact_of_the_trace_and_no_name_is_refused(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await cancelled(house, "s", reason="x" * 5_000)
        await house.ask(QUESTION, session_id="s")
        from clew_translators.explain.facts import facts_of

        facts = facts_of([quad for batch in house.batches(RUN) for quad in batch.triples])
        (failed,) = (fact for fact in facts if isinstance(fact, RunFailed))
        assert failed.error_type == "cancelled"
        refused = await house.client.cancel(CancelRequest(session_id="  "), timeout=10)
        assert refused.error is not None
        assert refused.error.type == "bad-request"
        assert not house.published("dead-letter")
