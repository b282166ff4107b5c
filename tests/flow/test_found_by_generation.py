"""Faults that generated runs brought to light, each kept away by a test of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew_schema import topics
from clew_schema.agent import AgentRequest
from clew_schema.envelope import Envelope
from clew_schema.retrieval import DocumentRagQuery
from clew_services.adapters.models.chat_scripted import ScriptedWriter
from clew_services.core.agent import Thought
from clew_services.errors import RetrievalFailed
from clew_services.ports import Found
from tests.flow import generated
from tests.flow.drawn import POOL, RETRIEVALS, Theme
from tests.flow.generated import Stage
from tests.flow.house import CLEW, House
from tests.flow.proving import prove_all

QUERY = DocumentRagQuery(query="What is a clew?", session_id="S")
HALF = "half a \ud800 character"


@pytest.mark.parametrize("given", [{"deadline": 1}, {"reply_to": "grading-request"}])
async def test_the_trace_of_a_request_is_kept_however_late_it_was_and_whatever_it_named(
    given: dict[str, int],
) -> None:
    """A batch has its caller's deadline and address; the store refused it for them."""
    stage = Stage(Theme(name="late"))
    await stage.open()
    await stage.ask(topics.DOCUMENT_RAG_REQUEST, QUERY, Envelope(message_id="m", **given))  # type: ignore[arg-type]
    await stage.finish()
    (run,) = prove_all(stage.batches(), "spec")
    assert run.tree.state == "failed"
    assert set(await stage.traces.run("default", run.uri)) == set(run.quads)


async def test_a_tool_that_failed_and_is_sent_again_gives_its_agent_no_second_result() -> None:
    """The agent went on with the failure; with the second result it went on once more, under the same names."""
    stage = Stage(Theme(name="letters"), max_attempts=1)
    await stage.open()
    thoughts = iter(
        [Thought(thought="look", action="document-query"), Thought(thought="so", final="No idea.")]
    )
    found = iter([RetrievalFailed("the store is away"), Found(evidence=POOL[:1], retrieval=RETRIEVALS[0])])
    script: dict[str, Iterator[object]] = {"think": thoughts, "retrieve": found}
    stage.says = lambda who: next(script[who]) if who in script else generated.CALM[who]
    await stage.ask(
        topics.AGENT_REQUEST, AgentRequest(question="What?", session_id="A"), Envelope(message_id="m")
    )
    await stage.finish()
    await stage.revive(0)
    await stage.finish()
    runs = {run.mechanism: run for run in prove_all(stage.batches(), "spec")}
    assert runs["document-rag"].tree.state == "answered"
    assert [fact.kind for fact in runs["agent"].facts] == [
        "question_asked",
        "tool_chosen",
        "tool_observed",
        "concluded",
    ]
    ends = [said for said in stage.published(topics.AGENT_RESPONSE) if said.end_of_dialog]
    assert len({said.content for said in ends}) == 1


async def test_half_a_character_of_a_model_costs_no_answer(tmp_path: Path) -> None:
    """What is sealed is what the bus makes of it: a replacement character."""
    async with House(tmp_path, writer=ScriptedWriter(f"A clew is a ball of thread. [1] {HALF}")) as house:
        await house.load("clew.md", CLEW)
        answer = await house.ask("What is a clew?")
        assert answer.error is None
        assert (answer.response or "").endswith("half a \ufffd character")


async def test_half_a_character_of_a_thought_costs_no_tool(tmp_path: Path) -> None:
    thoughts = [Thought(thought=HALF, action="document-query"), Thought(thought="so", final="Thread.")]
    async with House(tmp_path, thinker=thoughts) as house:
        await house.load("clew.md", CLEW)
        heard = await house.agent("What is a clew?")
        assert (heard[-1].content, heard[-1].error) == ("Thread.", None)


@pytest.mark.parametrize("payload", [b"", b"[1]", b"\xff"])
async def test_a_request_that_nobody_can_read_is_told_in_trustgraphs_words_and_valid(payload: bytes) -> None:
    """Of a run with a failure and no question, the profile was taken for the other."""
    stage = Stage(Theme(name="garbage"), explain_profile="trustgraph")
    await stage.open()
    await stage.publish(topics.DOCUMENT_RAG_REQUEST, payload)
    await stage.finish()
    (run,) = prove_all(stage.batches(), "trustgraph")
    assert run.tree.state == "failed"
