"""A run is shown with the runs of its tools, and a trace that goes round in a circle is shown once round."""

from __future__ import annotations

from clew_schema.facts import Concluded, QuestionAsked, ToolChosen, ToolObserved
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.cli.trace import tree_of
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
