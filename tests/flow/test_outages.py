"""The vector store goes away while people ask: tried again with growing delay, then reported; never "no knowledge"."""

from __future__ import annotations

import asyncio
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pymilvus import MilvusClient

from clew_schema.documents import DocumentLoad
from clew_schema.retrieval import DocumentRagQuery, DocumentRagResponse
from clew_services.adapters.stores.milvus_schema import collection_name
from clew_services.adapters.stores.vectors_milvus import MilvusVectors
from clew_services.ports import Outgoing
from tests.flow.house import CLEW, House
from tests.servers import Milvus
from tests.servers.milvus_lite import LiteServer

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiteServer]:
    with LiteServer(tmp_path / "milvus") as started:
        yield started


@asynccontextmanager
async def house_over(server: LiteServer, tmp_path: Path, **settings: Any) -> AsyncIterator[House]:
    """All services, with one document in the store of ``server``."""
    vectors = MilvusVectors(server.uri, timeout=1.5)
    async with House(tmp_path, vectors=vectors, **settings) as house:
        assert (await house.load("clew.md", CLEW)).state == "ready"
        yield house
    await vectors.close()


def retries(
    house: House, topic: str = "document-rag-request", service: str = "document-rag"
) -> Sequence[Outgoing]:
    return house.bus.messages(house.settings.space.retry(topic, service))


async def until(holds: Callable[[], bool], seconds: float = 8) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came to that"
        await asyncio.sleep(0.02)


async def ask(house: House) -> DocumentRagResponse:
    return await house.client.answer(DocumentRagQuery(query="What is a clew?"), timeout=14)


def assert_told_as_an_outage(house: House, answer: DocumentRagResponse) -> None:
    assert answer.error is not None
    assert answer.error.type == "retrieval-failed"
    assert answer.outcome != "no_knowledge"
    assert (answer.end_of_stream, answer.end_of_session) == (True, True)
    assert house.trace(f"urn:trustgraph:docrag:{answer.session_id}").state == "failed"
    (letter,) = house.published("dead-letter")
    assert (letter.error.type, letter.attempt) == ("retrieval-failed", house.settings.max_attempts)


async def test_a_server_killed_in_the_middle_of_a_question_is_waited_for(
    server: LiteServer, tmp_path: Path
) -> None:
    async with house_over(server, tmp_path) as house:
        server.freeze()  # so that the question is under way when it dies
        asked = asyncio.create_task(ask(house))
        await asyncio.sleep(0.3)
        server.kill()
        await until(lambda: len(retries(house)) > 0)
        await asyncio.to_thread(server.start)
        answer = await asked
        assert (answer.error, answer.outcome) == (None, "answer")
        assert answer.citations[0].quote == "A clew is a ball of thread."
        assert not house.published("dead-letter")


async def test_a_server_that_stays_away_is_told_as_that_and_tried_ever_more_patiently(
    server: LiteServer, tmp_path: Path
) -> None:
    async with house_over(server, tmp_path, max_attempts=4) as house:
        server.kill()
        answer = await ask(house)
        assert_told_as_an_outage(house, answer)
        first, second, third = (copy.deliver_at for copy in retries(house))
        assert third - second > 1.5 * (second - first) > 0


async def test_a_server_that_hangs_is_an_outage_and_the_next_question_finds_it_back(
    server: LiteServer, tmp_path: Path
) -> None:
    async with house_over(server, tmp_path, max_attempts=2) as house:
        server.freeze()
        assert_told_as_an_outage(house, await ask(house))
        server.thaw()
        assert (await ask(house)).outcome == "answer"


async def test_a_restart_between_two_questions_is_noticed_by_nobody(
    server: LiteServer, tmp_path: Path
) -> None:
    async with house_over(server, tmp_path) as house:
        assert (await ask(house)).outcome == "answer"
        server.kill()
        await asyncio.to_thread(server.start)
        assert (await ask(house)).outcome == "answer"
        assert not house.published("dead-letter")


async def test_a_document_sent_while_the_server_is_away_is_taken_in_when_it_is_back(
    server: LiteServer, tmp_path: Path
) -> None:
    async with house_over(server, tmp_path, max_attempts=20) as house:  # a server may be slow to be back
        server.kill()
        loading = asyncio.create_task(house.load("other.md", "Ariadne gave him the thread."))
        await until(lambda: len(retries(house, "document-load", "ingest")) > 0)
        await asyncio.to_thread(server.start)
        assert (await loading).state == "ready"
        assert not house.published("dead-letter")


async def test_a_collection_that_somebody_unloads_is_loaded_and_one_that_is_dropped_is_an_outage(
    server: LiteServer, tmp_path: Path
) -> None:
    async with house_over(server, tmp_path, max_attempts=2) as house:
        somebody = MilvusClient(server.uri)
        somebody.release_collection(collection_name("default"))
        assert (await ask(house)).outcome == "answer"
        assert not retries(house)
        somebody.drop_collection(collection_name("default"))
        somebody.close()
        later = await ask(house)
        assert_told_as_an_outage(house, later)
        assert later.error is not None
        assert "ingest the documents again" in later.error.message
        assert (await house.load("clew.md", CLEW)).state == "ready"
        assert (await ask(house)).outcome == "answer"


@pytest.mark.servers
async def test_a_real_milvus_killed_in_the_middle_of_a_question_is_waited_for(tmp_path: Path) -> None:
    with Milvus() as server:
        vectors = MilvusVectors(server.uri, timeout=10)
        async with House(tmp_path, vectors=vectors, max_attempts=10) as house:
            document = DocumentLoad(name="clew.md", content=b64encode(CLEW.encode()).decode())
            last = [heard.body async for heard in house.client.load(document, timeout=60)][-1]
            assert last.state == "ready"
            server.kill()
            asked = asyncio.create_task(
                house.client.answer(DocumentRagQuery(query="What is a clew?"), timeout=90)
            )
            await until(lambda: len(retries(house)) > 0)
            await asyncio.to_thread(server.start)
            answer = await asked
            assert (answer.error, answer.outcome) == (None, "answer")
            assert not house.published("dead-letter")
        await vectors.close()
