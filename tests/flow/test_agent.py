"""A question to the agent, through the real consumers: tools by return address, history in the message."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew_schema import ids
from clew_schema.agent import AgentRequest
from clew_services.adapters.models.chat_scripted import ScriptedChat
from clew_services.core.agent import Thought
from clew_services.errors import ModelReplyInvalid
from clew_services.ports import Outgoing
from clew_translators import bus as wire
from tests.flow.house import CLEW, House

LOOK = Thought(
    thought="I should look it up.", action="document-query", arguments={"question": "What is a clew?"}
)
DONE = Thought(thought="Now I know.", final="A clew is a ball of thread.")


async def test_a_tool_is_asked_by_return_address_and_its_trace_is_linked_both_ways(tmp_path: Path) -> None:
    async with House(tmp_path, thinker=[LOOK, DONE]) as house:
        await house.load("clew.md", CLEW)
        said = await house.agent("What is a clew?", session_id="S", collection="default")
        assert [body.message_type for body in said] == ["thought", "observation", "thought", "answer"]
        assert said[1].content == "A ball of thread. [1]"
        final = said[-1]
        assert (final.content, final.end_of_message, final.end_of_dialog) == (DONE.final, True, True)
        assert final.message_id == "urn:trustgraph:agent:S/final"
        assert said[0].message_id == "urn:trustgraph:agent:S/i1/thought"
        tree = house.trace("urn:trustgraph:agent:S")
        assert tree.state == "answered"
        assert tree.question == "What is a clew?"
        analysis = tree.steps[0]
        assert analysis.detail("thought") == "I should look it up."
        assert analysis.detail("observation") == "A ball of thread. [1]"
        (tool,) = tree.traces
        assert tool == f"urn:trustgraph:docrag:{ids.derive('tool', 'S', 1)}"
        below = house.trace(tool)
        assert below.parent == "urn:trustgraph:agent:S/i1"
        assert below.citations[0].filename == "clew.md"


async def test_the_whole_trace_comes_inline_at_the_end_when_nobody_streams(tmp_path: Path) -> None:
    async with House(tmp_path, thinker=[LOOK, DONE]) as house:
        await house.load("clew.md", CLEW)
        final = (await house.agent("What is a clew?", session_id="S"))[-1]
        said = {
            (t.s.iri, t.p.iri.rpartition("/")[2], t.o.value or t.o.iri)
            for t in final.explain_triples
            if t.s and t.p and t.o
        }
        assert ("urn:trustgraph:agent:S", "query", "What is a clew?") in said
        assert ("urn:trustgraph:agent:S/i1", "action", "document-query") in said
        assert ("urn:trustgraph:agent:S/final", "answer", DONE.final) in said


async def test_a_caller_who_streams_gets_every_step_explained(tmp_path: Path) -> None:
    async with House(tmp_path, thinker=[LOOK, DONE]) as house:
        await house.load("clew.md", CLEW)
        said = await house.agent("What is a clew?", streaming=True)
        kinds = [body.message_type for body in said]
        assert kinds.count("explain") == 3, "the choice with the question, the observation, the conclusion"
        assert kinds[-1] == "answer"


async def test_a_tool_that_fails_is_an_observation(tmp_path: Path) -> None:
    async with House(tmp_path, thinker=[LOOK, DONE]) as house:
        said = await house.agent("What is a clew?", collection="nowhere")
        observation = next(body for body in said if body.message_type == "observation")
        assert observation.content.startswith("Error: there is no collection 'nowhere'")
        assert said[-1].end_of_dialog


async def test_a_tool_nobody_has_is_an_observation_that_names_those_there_are(tmp_path: Path) -> None:
    fly = Thought(thought="fly", action="fly", arguments={})
    async with House(tmp_path, thinker=[fly, DONE]) as house:
        said = await house.agent("Up?")
        assert "there is no tool 'fly'; the tools are: document-query" in said[1].content
        assert said[-1].content == DONE.final


async def test_a_model_can_be_asked_as_a_tool(tmp_path: Path) -> None:
    ask = Thought(thought="rephrase", action="text-completion", arguments={"question": "Say it shorter."})
    chat = ScriptedChat("Short.")
    async with House(tmp_path, thinker=[ask, DONE], chat=chat) as house:
        said = await house.agent("Shorter?")
        assert said[1].content == "Short."
        assert len(chat.calls) == 1


async def test_a_loop_without_end_is_ended_and_says_so(tmp_path: Path) -> None:
    fly = Thought(thought="again", action="fly", arguments={})
    async with House(tmp_path, thinker=[fly] * 10, max_iterations=3) as house:
        said = await house.agent("Up?", session_id="S")
        assert said[-1].content == "Too many agent iterations"
        assert said[-1].end_of_dialog
        assert house.trace("urn:trustgraph:agent:S").steps[-1].kind == "conclusion"


async def test_no_tools_for_an_empty_group(tmp_path: Path) -> None:
    async with House(tmp_path, thinker=[LOOK, DONE]) as house:
        said = await house.agent("What?", group=())
        assert "the tools are: none" in said[1].content


async def test_an_agent_whose_model_writes_prose_ends_with_an_error(tmp_path: Path) -> None:
    async with House(tmp_path, thinker=[ModelReplyInvalid("no action in: hello")]) as house:
        said = await house.agent("What?", session_id="S")
        assert [body.message_type for body in said] == ["error"]
        assert said[0].error is not None
        assert said[0].error.type == "model-reply-invalid"
        assert (said[0].end_of_message, said[0].end_of_dialog) == (True, True)
        assert house.trace("urn:trustgraph:agent:S").state == "failed"
        assert len(house.published("dead-letter")) == 1


@pytest.mark.parametrize("silent", [False, True])
async def test_the_old_form_of_a_request_works_and_is_traced_unless_told_otherwise(
    tmp_path: Path, silent: bool
) -> None:
    old = b'{"question": "What is a clew?", "user": "trustgraph"}'
    async with House(tmp_path, thinker=[LOOK, DONE], silent_sessionless=silent) as house:
        await house.load("clew.md", CLEW)
        assert wire.decode(AgentRequest, old).collection == "default"
        await house.bus.publish(
            Outgoing(
                topic=house.settings.space.full("agent-request"), payload=old, properties={"id": "old-1"}
            )
        )
        for _ in range(2000):
            responses = house.published("agent-response")
            if responses and responses[-1].end_of_dialog:
                break
            import asyncio

            await asyncio.sleep(0.001)
        final = house.published("agent-response")[-1]
        assert final.content == DONE.final
        assert ids.is_uuid(final.session_id)
        root = f"urn:trustgraph:agent:{final.session_id}"
        assert bool(house.batches(root)) is not silent
        assert bool(final.explain_triples) is not silent
