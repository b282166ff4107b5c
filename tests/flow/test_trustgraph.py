"""Standing in for TrustGraph's document-RAG and agent: its topics, its payloads, its order of messages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from clew_services.core.agent import Thought
from clew_services.ports import Outgoing
from tests.flow.house import CLEW, House

REQUEST = "non-persistent://tg/request/document-rag:default:default"
RESPONSE = "non-persistent://tg/response/document-rag:default:default"
TRIPLES = "persistent://tg/flow/triples-store:default:default"
# As TrustGraph 2.11.1 put it on its bus (tests/data/trustgraph, document-rag-nonstream).
CAPTURED = '{"query": "What is a clew?", "collection": "default", "doc_limit": 5, "fetch_limit": 0, "streaming": false}'


async def answers(house: House, topic: str, end: str) -> list[dict[str, Any]]:
    """What was published to ``topic``, once a message with the flag ``end`` is among it."""
    async with asyncio.timeout(10):
        while True:
            said = [json.loads(message.payload) for message in house.bus.messages(topic)]
            if any(message[end] for message in said):
                return said
            await asyncio.sleep(0.005)


async def test_a_captured_question_is_answered_where_trustgraph_answers(tmp_path: Path) -> None:
    async with House(tmp_path, topic_profile="trustgraph") as house:
        await house.load("clew.md", CLEW)
        await house.bus.publish(
            Outgoing(topic=REQUEST, payload=CAPTURED.encode(), properties={"id": "58e5eb6a"})
        )
        said = await answers(house, RESPONSE, "end_of_session")
        last = said[-1]
        assert (last["message_type"], last["response"]) == ("", "A ball of thread. [1]")
        assert (last["end_of_stream"], last["end_of_session"], last["error"]) == (True, True, None)
        assert {message.properties["id"] for message in house.bus.messages(RESPONSE)} == {"58e5eb6a"}
        assert {message["message_type"] for message in said[:-1]} == {"explain"}
        assert {message["explain_graph"] for message in said[:-1]} == {"urn:graph:retrieval"}
        root = last["explain_id"]
        shown = [message["explain_id"] for message in said[:-1]]
        assert shown == [root, *(f"{root}/{name}" for name in ("grounding", "exploration", "synthesis"))]
        batches = [json.loads(message.payload) for message in house.bus.messages(TRIPLES)]
        assert {batch["metadata"]["collection"] for batch in batches} == {"default"}
        entities = [batch for batch in batches if not batch["metadata"]["root"]]
        assert [batch["metadata"]["id"] for batch in entities] == shown
        assert [batch["triples"] for batch in entities] == [m["explain_triples"] for m in said[:-1]]
        assert {t["g"] for batch in entities for t in batch["triples"]} == {"urn:graph:retrieval"}
        ours = [batch for batch in batches if batch["metadata"]["root"] == root]
        assert len(ours) == 3, "one a step, for readers who want to know why"
        assert {t["g"] for batch in ours for t in batch["triples"]} == {"urn:graph:provenance"}


async def test_the_vocabulary_is_chosen_apart_from_the_topics(tmp_path: Path) -> None:
    async def batches(**settings: str) -> int:
        async with House(tmp_path, **settings) as house:
            await house.load("clew.md", CLEW)
            answer = await house.ask("What is a clew?", session_id="s")
            assert answer.outcome == "answer"
            return len(house.published("explainability"))

    assert await batches() == 3
    assert await batches(explain_profile="trustgraph") == 7
    assert await batches(explain_profile="spec", topic_profile="trustgraph") == 3


async def test_a_caller_who_does_not_stream_gets_trustgraphs_vocabulary_at_the_end(tmp_path: Path) -> None:
    async with House(tmp_path, explain_profile="trustgraph") as house:
        await house.load("clew.md", CLEW)
        answer = await house.ask("What is a clew?", session_id="s")
        told = [t for batch in house.published("explainability") for t in batch.triples]
        assert answer.explain_triples == tuple(t for t in told if t.g == "urn:graph:retrieval")


async def test_what_our_services_send_each_other_stays_on_persistent_topics(tmp_path: Path) -> None:
    look = Thought(thought="look", action="document-query", arguments={"question": "What is a clew?"})
    async with House(
        tmp_path, topic_profile="trustgraph", thinker=[look, Thought(thought="done", final="Thread.")]
    ) as house:
        await house.load("clew.md", CLEW)
        await house.bus.publish(
            Outgoing(
                topic="non-persistent://tg/request/agent:default:default",
                payload=b'{"question": "What is a clew?"}',
                properties={"id": "a-1"},
            )
        )
        said = await answers(house, "non-persistent://tg/response/agent:default:default", "end_of_dialog")
        assert said[-1]["content"] == "Thread."
        passing = [topic for topic in house.bus.topics() if topic.startswith("non-persistent")]
        counts = {topic: len(house.bus.messages(topic)) for topic in passing}
        assert counts["non-persistent://tg/request/agent:default:default"] == 1, "the caller's alone"
        assert counts.get(REQUEST, 0) == 0
