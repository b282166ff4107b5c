"""A test of a service that asks Clew, with Clew's own fakes: ``pytest test_with_the_fakes.py``."""

from base64 import b64encode
from pathlib import Path

from clew_schema import DocumentLoad, DocumentRagQuery, DocumentRagResponse
from clew_schema.evidence import Grade
from clew_services.adapters.bus.memory import MemoryBus
from clew_services.adapters.models.chat_scripted import ScriptedGrader, ScriptedWriter
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.application import Application
from clew_services.client import Client
from clew_services.core.answer import Draft, Quote
from clew_services.errors import ModelFailed
from clew_services.settings import Settings

STRONG = Grade(relevance="strong", answerability="sufficient", route="answer")
DRAFT = Draft(text="A ball of thread. [1]", quotes=(Quote(number=1, start=0, end=27),))


def clew(folder: Path, bus: MemoryBus, writer: ScriptedWriter) -> Application:
    """Every service, in this process, with models that say what they were told to say."""
    return Application(
        Settings(data=folder, embedder="hashing", max_attempts=1),
        bus=bus,
        ledger=MemoryLedger(),
        vectors=MemoryVectors(),
        traces=MemoryTraceStore(),
        grader=ScriptedGrader(STRONG),
        writer=writer,
    )


async def ask(bus: MemoryBus, question: str) -> DocumentRagResponse:
    async with Client(bus) as client:
        content = b64encode(b"A clew is a ball of thread.").decode()
        async for _ in client.load(DocumentLoad(name="clew.md", content=content)):
            pass
        return await client.answer(DocumentRagQuery(query=question), timeout=10)


async def test_the_answer_cites_the_document(tmp_path: Path) -> None:
    bus = MemoryBus()
    async with clew(tmp_path, bus, ScriptedWriter(DRAFT)):
        answer = await ask(bus, "What is a clew?")
    assert answer.response == "A ball of thread. [1]"
    assert answer.citations[0].quote == "A clew is a ball of thread."


async def test_an_outage_is_an_error_and_never_an_answer(tmp_path: Path) -> None:
    bus = MemoryBus()
    async with clew(tmp_path, bus, ScriptedWriter(ModelFailed("no answer in 60 s"))):
        answer = await ask(bus, "What is a clew?")
    assert answer.outcome is None
    assert answer.error is not None
    assert answer.error.type == "model-failed"
