"""A run is shown with the runs of its tools, and a trace that goes round in a circle is shown once round."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew_schema.facts import Concluded, QuestionAsked, ToolChosen, ToolObserved
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_services.cli.trace import _tree, tree_of
from clew_services.errors import BadRequest
from clew_services.settings import Settings
from clew_translators.explain import explain
from clew_translators.uris import agent_session_uri


async def test_a_run_that_is_its_own_tool_is_shown_once() -> None:
    store = MemoryTraceStore()
    for session, other in (("a", "b"), ("b", "a")):
        facts = (
            QuestionAsked(mechanism="agent", query=f"question {session}"),
            ToolChosen(number=1, thought="t", action="document-query"),
            ToolObserved(number=1, observation="o", trace_uri=agent_session_uri(other)),
            Concluded(answer="done", after=1),
        )
        batch = explain(facts, session_id=session, collection="c", mechanism="agent")
        assert batch is not None
        await store.add([batch])
    tree = await tree_of(store, "c", agent_session_uri("a"))
    assert tree is not None
    assert tree.question == "question a"
    (child,) = [child for step in tree.steps for child in step.children]
    assert child.question == "question b"
    assert not [grandchild for step in child.steps for grandchild in step.children]


async def test_a_beginning_of_an_id_names_a_run_if_it_names_one_alone(tmp_path: Path) -> None:
    store = OxigraphTraceStore(tmp_path / "traces")
    for session in ("aaaa-1", "aaaa-2", "bbbb-1"):
        batch = explain(
            (
                QuestionAsked(
                    mechanism="document-rag",
                    query=f"question {session}",
                    step="document-rag.plan",
                    started_at="2026-01-31T12:00:00.000000Z",
                    ended_at="2026-01-31T12:00:01.000000Z",
                ),
            ),
            session_id=session,
            collection="c",
            mechanism="document-rag",
        )
        assert batch is not None
        await store.add([batch])
    await store.close()
    settings = Settings(data=tmp_path)
    found = await _tree(settings, "c", "bbbb")
    assert found is not None
    assert found.question == "question bbbb-1"
    with pytest.raises(BadRequest, match="2 runs begin with 'aaaa'"):
        await _tree(settings, "c", "aaaa")
    assert await _tree(settings, "c", "cccc") is None
    assert await _tree(settings, "other", "bbbb") is None
