"""``clew trace show --format``: a run's RAGTrace and its facts, rebuilt from the quads that were stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clew_schema.facts import Fact
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators.explain import explain
from clew_translators.ragtrace_ext import records
from tests.cli.shell import Said, Shell
from tests.translators.ragtrace_facts_of import asked, found, graded, pause, piece, planned

SESSION = "aaaa-1111"
FACTS: list[Fact] = [asked(), planned(), found(piece("a")), graded("clarify"), pause(prompt="which?")]


@pytest.fixture
async def shell(tmp_path: Path) -> Shell:
    store = OxigraphTraceStore(tmp_path / "traces")
    for number, fact in enumerate(FACTS):
        stamp = {
            "step": f"document-rag.s{number}",
            "started_at": f"2026-01-31T12:00:0{number}.000000Z",
            "ended_at": f"2026-01-31T12:00:0{number}.500000Z",
        }
        stamped = fact.model_copy(update=stamp)
        batch = explain(
            [stamped],
            session_id=SESSION,
            collection="c",
            mechanism="document-rag",
            trail=FACTS[:number],
        )
        if batch is not None:
            await store.add([batch])
    await store.close()
    return Shell(data=tmp_path)


def shown(shell: Shell, format_: str, run: str = SESSION) -> Said:
    return shell.run("trace", "show", run, "--collection", "c", "--format", format_)


def test_a_stored_run_as_ragtrace(shell: Shell) -> None:
    said = shown(shell, "ragtrace", "aaaa")
    (told,) = said.lines
    expected = records(FACTS)
    assert told["rag_trace"] == expected.rag_trace
    assert told["hitl_resume_state"] == expected.hitl_resume_state
    assert (told["ext"]["run_id"], told["ext"]["pauses"][0]["prompt"]) == (SESSION, "which?")


def test_a_stored_run_as_facts(shell: Shell) -> None:
    kinds = [line["kind"] for line in shown(shell, "facts").lines]
    assert kinds == [fact.kind for fact in FACTS]


def test_what_cannot_be_shown_says_so(shell: Shell) -> None:
    unknown: Any = shown(shell, "facts", "bbbb")
    assert (unknown.code, unknown.out) == (1, "")
    assert "unknown-run" in unknown.err
    assert shown(shell, "poem").code == 2


async def test_a_trace_without_facts_is_no_ragtrace(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path / "traces")
    batch = explain(
        [asked().model_copy(update={"step": "document-rag.plan"})],
        session_id=SESSION,
        collection="c",
        mechanism="document-rag",
        retrieval_only=True,
    )
    assert batch is not None
    await store.add([batch])
    await store.close()
    said = shown(Shell(data=tmp_path), "ragtrace")
    assert (said.code, said.out) == (1, "")
    assert "unreadable-trace" in said.err
