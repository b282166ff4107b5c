"""The handler: from the message to the news."""

import base64

import pytest

from clew_schema import topics
from clew_schema.documents import DocumentLoad, DocumentStatus
from clew_schema.errors import Error
from clew_services.core.chunking import document_id
from clew_services.errors import Unreadable
from clew_services.handlers.ingest import LoadDocument, load_failed
from clew_services.runtime.outcome import Send
from tests.ingest.world import FIRST, World


async def test_the_handler_tells_progress_and_says_that_the_document_is_ready(world: World) -> None:
    load = DocumentLoad(collection="c", name="a.txt", content=base64.b64encode(FIRST).decode())
    handler = LoadDocument(world.ingester)

    (sent,) = (await handler(load, world.tell)).send
    assert world.states == ["received", "parsed", *["embedding"] * 4]
    assert sent.topic is topics.DOCUMENT_STATUS
    assert (sent.body.state, sent.body.name, sent.body.chunks_done) == ("ready", "a.txt", 60)
    (again,) = (await handler(load, world.tell)).send
    assert (again.body.state, again.body.version) == ("unchanged", sent.body.version)


async def test_the_senders_own_id_is_kept(world: World) -> None:
    content = base64.b64encode(FIRST).decode()
    load = DocumentLoad(collection="c", name="a.txt", content=content, document_id="urn:x")
    (sent,) = (await LoadDocument(world.ingester)(load, world.tell)).send
    assert sent.body.document_id == "urn:x"
    assert await world.catalog.document("c", "urn:x") is not None


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (DocumentLoad(name="a.txt", content="???"), "a.txt: `content` is not base64"),
        (DocumentLoad(name="a.txt", content="é"), "a.txt: `content` is not base64"),
        (DocumentLoad(name=" ", content=""), "has no name"),
    ],
)
async def test_a_message_without_a_file_is_unreadable(world: World, load: DocumentLoad, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        await LoadDocument(world.ingester)(load, world.tell)


def test_the_news_of_a_failure_names_the_document() -> None:
    error = Error(type="document-unreadable", message="a.txt: empty")
    load = DocumentLoad(name="a.txt")
    assert load_failed(load, error) == Send(
        topics.DOCUMENT_STATUS,
        DocumentStatus(
            document_id=document_id("default", "a.txt"),
            collection="default",
            name="a.txt",
            state="failed",
            error=error,
        ),
    )
    assert load_failed(None, error).body.state == "failed"
