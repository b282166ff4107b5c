"""What users of such systems report, kind by kind, where no other test shows it. docs/guarantees.md lists them all."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from clew_schema.evidence import Evidence, Grade
from clew_schema.facts import AnswerWritten
from clew_services.adapters.models.chat_scripted import ScriptedChat, ScriptedGrader, ScriptedWriter
from clew_services.adapters.models.llm_grader import LlmGrader
from clew_services.core.answer import Draft
from clew_translators.explain.facts import facts_of
from tests.core import supermew_nodes as nodes
from tests.flow.house import CLEW, GOOD, House
from tests.flow.supermew_services import Conversation
from tests.flow.test_tickets import ASKS, script

WEAK = Grade(relevance="weak", answerability="none", route="rewrite", confidence=0.1, reason="something else")
QUESTION = "What is a clew?"


class Hanging:
    """A grader whose model never answers one question, until it is released."""

    name = "hanging"
    prompt_version = ""

    def __init__(self) -> None:
        self.released = asyncio.Event()
        self.calls = 0

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        if "hang" in question:
            self.calls += 1
            await self.released.wait()
        return GOOD


async def test_a_key_whose_model_hangs_blocks_no_other_and_runs_once(tmp_path: Path) -> None:
    """Shared subscriptions: no key owns a consumer. Nothing has a lease, so what is slow is not begun again."""
    grader = Hanging()
    async with House(tmp_path, grader=grader) as house:
        await house.load("clew.md", CLEW)
        slow = asyncio.create_task(house.ask("does it hang?", session_id="slow"))
        while not grader.calls:
            await asyncio.sleep(0.01)
        answers = await asyncio.gather(*(house.ask(QUESTION, session_id=f"fast-{n}") for n in range(60)))
        assert {answer.outcome for answer in answers} == {"answer"}
        assert not slow.done()
        grader.released.set()
        assert (await slow).outcome == "answer"
        assert grader.calls == 1


async def test_a_corpus_without_an_answer_ends_the_rewriting_with_something_to_read(tmp_path: Path) -> None:
    grader = ScriptedGrader(WEAK)
    async with House(tmp_path, grader=grader) as house:
        await house.load("clew.md", CLEW)
        said = await house.ask("How high is the tower of Babel?", session_id="s")
        assert said.outcome != "answer"
        assert said.end_of_session
        assert (said.response or "").strip(), "a refusal says so"
        assert len(grader.calls) <= 3
        assert house.trace("urn:trustgraph:docrag:s").state != "running"


async def test_a_grader_that_always_answers_prose_is_an_error_with_a_letter_and_never_an_answer(
    tmp_path: Path,
) -> None:
    chat = ScriptedChat(lambda *_: "I think that the evidence is rather good, on the whole.")
    async with House(tmp_path, grader=LlmGrader(chat)) as house:
        await house.load("clew.md", CLEW)
        said = await house.ask(QUESTION, session_id="s")
        assert said.error is not None
        assert (said.error.type, said.end_of_session) == ("model-reply-invalid", True)
        (letter,) = house.published("dead-letter")
        assert (letter.step, letter.session_id, letter.attempt) == ("grading.grade", "s", 1)
        assert house.trace("urn:trustgraph:docrag:s").state == "failed"
        assert len(chat.calls) <= 3, "it is not asked for ever"


async def test_two_questions_to_a_person_in_one_run_with_a_blank_answer_between(tmp_path: Path) -> None:
    async with Conversation(tmp_path, script(ASKS, ASKS, nodes.SUPPORTED)) as services:
        first = await services.say(nodes.QUESTION)
        blank = await services.reply(first.ticket, "   ")
        assert blank.error is not None
        assert blank.error.type == "bad-request"
        second = await services.reply(first.ticket, "甲")
        assert second.ticket not in {"", first.ticket}
        done = await services.reply(second.ticket, "乙")
        assert (done.outcome, done.session_id) == ("answer", first.session_id)


async def test_the_sources_of_a_tools_answer_lead_from_the_agents_trace(tmp_path: Path) -> None:
    """An agent's answer has no citations of its own: the trace leads to the tool's, and that to the document."""
    from clew_services.core.agent import Thought

    thoughts = [
        Thought(thought="Let me look.", action="document-query", arguments={"question": QUESTION}),
        Thought(thought="Now I know.", final="A ball of thread."),
    ]
    async with House(tmp_path, thinker=thoughts) as house:
        await house.load("clew.md", CLEW)
        await house.agent(QUESTION, session_id="a")
        batches = house.published("explainability")
        tool = next(b for b in batches if b.metadata and ":docrag:" in b.metadata.root)
        assert tool.metadata is not None
        quads = [
            quad
            for b in batches
            if b.metadata and b.metadata.root == tool.metadata.root
            for quad in b.triples
        ]
        (answer,) = (fact for fact in facts_of(quads) if isinstance(fact, AnswerWritten))
        assert answer.citations
        uris = {
            quad.o.iri
            for b in house.batches("urn:trustgraph:agent:a")
            for quad in b.triples
            if quad.o is not None
        }
        assert any(uri.startswith(tool.metadata.root) for uri in uris), "the agent's trace names it"


async def test_a_quote_that_is_stitched_from_two_chunks_is_no_quotation(tmp_path: Path) -> None:
    stitched = 'It says "A ball of thread is used to leave the labyrinth of wax." [1]'
    async with House(tmp_path, writer=ScriptedWriter(Draft(text=stitched))) as house:
        await house.load("clew.md", CLEW)
        said = await house.ask(QUESTION)
        assert [check.verdict for check in said.checks] != ["supported"]
        assert said.coverage is not None
        assert said.coverage < 1
