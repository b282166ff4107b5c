"""The client beside all services: what is asked is answered, to whoever asked it."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from pathlib import Path

from clew_schema.agent import AgentRequest
from clew_schema.documents import DocumentLoad
from clew_schema.retrieval import DocumentRagQuery
from clew_services.client import Client
from tests.flow.house import CLEW, House


def query(text: str = "What is a clew?", **fields: object) -> DocumentRagQuery:
    return DocumentRagQuery.model_validate({"query": text} | fields)


async def test_a_question_streams_steps_and_text_and_ends_once(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        heard = [h async for h in house.client.ask(query(streaming=True), timeout=10)]
        kinds = [h.body.message_type for h in heard]
        assert kinds.count("explain") == 3
        assert "chunk" in kinds
        assert kinds[-1] == "end"
        assert [h.body.end_of_session for h in heard] == [False] * (len(heard) - 1) + [True]
        chunks = [h for h in heard if h.body.message_type == "chunk"]
        assert len({h.stream for h in chunks}) == 1
        assert [h.sequence for h in chunks] == sorted({h.sequence for h in chunks})


async def test_the_answer_alone(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        answer = await house.client.answer(query(), timeout=10)
        assert (answer.outcome, answer.response) == ("answer", "A ball of thread. [1]")


async def test_an_agent_ends_its_dialog(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        request = AgentRequest(question="What is a clew?", collection="default", session_id="S")
        heard = [h.body async for h in house.client.agent(request, timeout=10)]
        assert [body.end_of_dialog for body in heard] == [False] * (len(heard) - 1) + [True]
        assert {body.session_id for body in heard} == {"S"}
        assert heard[-1].content.startswith("A ball of thread.")


async def test_a_document_tells_how_far_it_is(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        document = DocumentLoad(name="clew.md", content=b64encode(CLEW.encode()).decode())
        states = [h.body.state async for h in house.client.load(document, timeout=10)]
        assert states[-1] == "ready"
        assert states.count("ready") == 1
        assert [h.body.state async for h in house.client.load(document, timeout=10)][-1] == "unchanged"


async def test_fifty_questions_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    async with House(tmp_path) as house:
        await house.load("clew.md", CLEW)
        asked = [query(f"Question {n}: what is a clew?", session_id=f"run-{n}") for n in range(50)]
        answers = await asyncio.gather(*(house.client.answer(q, timeout=20) for q in asked))
        assert [a.session_id for a in answers] == [q.session_id for q in asked]
        assert {a.outcome for a in answers} == {"answer"}
        assert len(house.published("document-rag-response")) == 50


async def test_two_clients_hear_only_what_they_asked(tmp_path: Path) -> None:
    async with House(tmp_path) as house, Client(house.bus) as other:
        await house.load("clew.md", CLEW)

        async def sessions(client: Client, name: str) -> set[str]:
            q = query(streaming=True, session_id=name)
            return {h.body.session_id async for h in client.ask(q, timeout=10)}

        mine, theirs = await asyncio.gather(sessions(house.client, "mine"), sessions(other, "theirs"))
        assert (mine, theirs) == ({"mine"}, {"theirs"})
