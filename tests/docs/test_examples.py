"""Every example of the documentation is run, as a reader runs it: another process, a real broker, real services."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from clew_schema import DocumentLoad
from clew_schema.evidence import Evidence, Grade
from clew_services.adapters.models.extractive import ExtractiveGrader
from clew_services.adapters.stores.ledger_memory import MemoryLedger
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.vectors_memory import MemoryVectors
from clew_services.application import Application
from clew_services.runtime.observe import configure_logging
from clew_services.settings import Settings

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
WARRANTY = "How long is the warranty?"
APACHE = ROOT / "docs" / "data" / "corpus" / "apache-2.0.txt"
QUESTION = "Does the Apache License grant a patent license?"

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]


class Asks:
    """The embedded grader, but for one question, which leaves something open."""

    name = "asks"
    prompt_version = ""

    def __init__(self) -> None:
        self._usual = ExtractiveGrader("hashing")

    async def grade(self, question: str, evidence: Sequence[Evidence]) -> Grade:
        """A choice for the bare question; once it says which model, an answer."""
        if WARRANTY not in question:
            return await self._usual.grade(question, evidence)
        if question != WARRANTY:
            return Grade(relevance="strong", answerability="sufficient", route="answer")
        return Grade(
            relevance="weak",
            answerability="partial",
            ambiguity="multiple_candidates",
            route="scope_select",
            hitl_prompt="Which product do you mean?",
            hitl_options=("Model A", "Model B"),
        )


async def run(name: str, *arguments: str, typed: str = "") -> str:
    """What the example printed; it ends with 0."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(EXAMPLES / name),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(typed.encode()), 60)
    assert process.returncode == 0, f"{name} ended with {process.returncode}: {err.decode()[-2000:]}"
    return out.decode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def broker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """URL of a pulsar-lite on which all services run, with one document in collection ``docs``."""
    configure_logging("error")
    settings = Settings(data=tmp_path_factory.mktemp("clew"), embedder="hashing")
    stores: dict[str, Any] = {
        "ledger": MemoryLedger(),
        "vectors": MemoryVectors(),
        "traces": MemoryTraceStore(),
        "grader": Asks(),
    }
    async with Application(settings, **stores) as application:
        assert application.parts is not None
        url = application.parts.broker_url
        told = await run("load_a_document.py", url, "docs", str(APACHE))
        assert told.splitlines()[0] == "received 0/0"
        done, chunks = re.fullmatch(r"ready (\d+)/(\d+)", told.splitlines()[-1], re.ASCII).groups()  # type: ignore[union-attr]
        assert done == chunks != "0"
        yield url


async def test_a_few_lines_of_pulsar_client_get_an_answer_with_its_spans(broker: str) -> None:
    told = await run("shortest_caller.py", broker, "docs")
    found = re.search(r"\('apache-2\.0\.txt', (\d+), (\d+)\)", told)
    assert found, told
    start, end = int(found[1]), int(found[2])
    assert 0 <= start < end <= len(APACHE.read_text())


async def test_a_caller_with_pulsar_client_alone_streams_on_its_own_topic(broker: str) -> None:
    told = (await run("pulsar_client_alone.py", broker, "docs", QUESTION)).splitlines()
    steps = [line for line in told if line.startswith("step: urn:trustgraph:docrag:")]
    assert len(steps) == 3
    assert told[3].startswith("answer - ")
    assert told[4].startswith("[")


async def test_an_error_reaches_a_caller_with_pulsar_client_alone(broker: str) -> None:
    with pytest.raises(AssertionError, match="unknown-collection: there is no collection 'nowhere'"):
        await run("pulsar_client_alone.py", broker, "nowhere", QUESTION)


async def test_a_caller_with_pulsar_client_alone_answers_what_is_asked_back(broker: str) -> None:
    told = (await run("answer_a_ticket.py", broker, "docs", WARRANTY, typed="Model B\n")).splitlines()
    assert told[:3] == ["needs_scope_selection - Which product do you mean?", " * Model A", " * Model B"]
    assert told[3].startswith("answer - ")


async def test_a_load_that_fails_says_why(broker: str, tmp_path: Path) -> None:
    old = tmp_path / "old.doc"
    old.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1024))
    with pytest.raises(AssertionError, match=r"load_a_document\.py ended with 1: document-unreadable: .*doc"):
        await run("load_a_document.py", broker, "docs", str(old))


async def test_clews_own_client_streams_the_same(broker: str) -> None:
    told = (await run("ask_in_python.py", broker, "docs", QUESTION)).splitlines()
    assert [line.partition(" ")[0] for line in told[:4]] == ["step:", "step:", "step:", "answer"]


async def test_explainability_is_heard_and_answers_sparql(broker: str) -> None:
    await run("shortest_caller.py", broker, "docs")
    told = (await run("subscribe_to_explainability.py", broker, "3")).splitlines()
    assert sum(line.startswith("step: ") for line in told) == 3
    chunks = [line for line in told if line.startswith(f"question: {QUESTION} chunk: urn:chunk:")]
    assert chunks
    assert "grade: strong route: answer rule: I01-supported-answer" in told


async def test_a_tool_of_our_own_is_used_by_the_agent() -> None:
    told = (await run("add_a_tool.py")).splitlines()
    assert told == [
        "thought - I need the day.",
        "observation - Thursday",
        "thought - I know.",
        "answer - It was a Thursday.",
    ]


async def test_a_format_of_our_own_becomes_a_document(tmp_path: Path) -> None:
    mail = tmp_path / "thread.eml"
    mail.write_text("From: Ariadne\nSubject: =?utf-8?q?The_thread_=E7=BA=BF?=\n\nTake it with you.\n")
    document = DocumentLoad.model_validate(json.loads(await run("add_a_format.py", str(mail))))
    assert document.name == "thread.eml"
    assert b64decode(document.content).decode() == ("# The thread 线\n\nFrom: Ariadne\n\nTake it with you.\n")


async def test_the_page_on_tests_shows_tests_that_pass() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pytest", "-q", str(EXAMPLES / "test_with_the_fakes.py"), cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, out.decode()
    assert b"2 passed" in out
