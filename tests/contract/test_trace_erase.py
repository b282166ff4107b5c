"""What every trace store promises of erasing: nothing is left, nothing else is touched, nothing comes back."""

from __future__ import annotations

from clew_schema.rdf import Triple
from clew_services.ports import TraceFilter, TraceStore
from tests.contract.trace_stores import PAUSED, found, resumed, run, uri
from tests.translators import runs
from tests.translators.runs import asked, once, shown

EVERYTHING = "SELECT ?s ?p ?o WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


async def everything(store: TraceStore, collection: str = "manuals") -> str:
    """All that SPARQL finds in a collection, as one text."""
    result = await store.query(collection, EVERYTHING, seconds=20, limit=100_000)
    assert not result.truncated
    return "\n".join(term.model_dump_json() for row in result.rows for term in row if term)


async def test_nothing_of_a_run_is_left(store: TraceStore) -> None:
    await store.add(
        run("gone", 1, PAUSED, resumed("eve"), runs.ANSWERED, person="mallory", query="the secret")
    )
    assert "the secret" in await everything(store)
    assert await store.erase("manuals", [uri("gone")]) == 1
    assert list(await store.run("manuals", uri("gone"))) == []
    assert list(await store.list("manuals", where=TraceFilter(tools=True))) == []
    assert list(await store.list("manuals", where=TraceFilter(person="eve"))) == []
    assert await everything(store) == ""
    assert list(await store.collections()) == []


async def test_what_another_run_tells_too_stays_while_it_does(store: TraceStore) -> None:
    one, two = found("one", 1, "only one says so"), found("two", 2, "only two says so")
    await store.add([*one, *two])
    await store.erase("manuals", [uri("one")])
    left = await everything(store)
    assert "only one says so" not in left
    assert "urn:chunk:one" not in left
    assert shown(await store.run("manuals", uri("two"))) == once(two)
    await store.erase("manuals", [uri("two")])
    assert await everything(store) == ""


async def test_the_runs_of_its_tools_go_too_however_deep(store: TraceStore) -> None:
    agent = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"
    await store.add(
        [
            *runs.AGENT_BATCHES,
            asked("tool", 11, parent=f"{agent}/i1"),
            asked("deep", 12, parent=f"{uri('tool')}/i1"),
            asked("other", 13),
        ]
    )
    assert await store.erase("manuals", [agent]) == 3
    rows = await store.list("manuals", where=TraceFilter(tools=True))
    assert [row.session_uri for row in rows] == [uri("other")]
    assert list(await store.run("manuals", uri("deep"))) == []


async def test_runs_that_name_each_other_as_parents_are_erased_once(store: TraceStore) -> None:
    await store.add([asked("a", 1, parent=f"{uri('b')}/i1"), asked("b", 2, parent=f"{uri('a')}/i1")])
    assert await store.erase("manuals", [uri("a"), uri("a")]) == 2


async def test_a_tools_run_may_go_alone(store: TraceStore) -> None:
    agent = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"
    await store.add([*runs.AGENT_BATCHES, asked("tool", 11, parent=f"{agent}/i1")])
    assert await store.erase("manuals", [uri("tool")]) == 1
    assert shown(await store.run("manuals", agent)) == once(runs.AGENT_BATCHES)


async def test_nothing_of_another_collection_is_erased(store: TraceStore) -> None:
    await store.add([asked("mine", 1), asked("theirs", 2, collection="others")])
    assert await store.erase("manuals", [uri("theirs"), "urn:unknown", "no iri", ""]) == 0
    assert await store.erase("nowhere", [uri("mine")]) == 0
    assert await store.erase("manuals", []) == 0
    assert await store.run("others", uri("theirs"))
    assert await store.run("manuals", uri("mine"))


async def test_a_whole_collection(store: TraceStore) -> None:
    await store.add([*found("a", 1, "secret a"), asked("b", 2), asked("c", 3, parent=f"{uri('b')}/i1")])
    await store.add(run("half", 4, runs.ANSWERED)[1:])  # no beginning, so no list has it
    await store.add([asked("theirs", 5, collection="others")])
    assert await store.erase_collection("manuals") == 4
    assert await everything(store) == ""
    assert list(await store.run("manuals", uri("half"))) == []
    assert list(await store.collections()) == ["others"]
    assert await store.erase_collection("manuals") == 0


async def test_what_comes_late_does_not_bring_half_a_run_back(store: TraceStore) -> None:
    batches = run("s", 1, runs.GRADED, runs.ANSWERED)
    await store.add(batches[:2])
    await store.erase("manuals", [uri("s")])
    await store.add(batches)  # the bus delivers once more what nobody acknowledged in time
    assert list(await store.run("manuals", uri("s"))) == []
    assert list(await store.list("manuals")) == []
    await store.add([asked("s2", 2)])
    await store.erase_collection("manuals")
    await store.add([asked("s2", 2), asked("new", 3)])
    assert [row.session_uri for row in await store.list("manuals")] == [uri("new")]


async def test_a_tool_that_begins_after_its_run_was_erased_is_not_kept(store: TraceStore) -> None:
    await store.add([asked("parent", 1)])
    await store.erase("manuals", [uri("parent")])
    child = run("child", 2, runs.ANSWERED, parent=f"{uri('parent')}/i1")
    await store.add([child[1]])
    await store.add([child[0]])
    await store.add([child[1]])
    assert list(await store.run("manuals", uri("child"))) == []


async def test_the_tools_of_such_a_tool_go_too_in_whatever_order_they_came(store: TraceStore) -> None:
    await store.add([asked("parent", 1)])
    await store.erase("manuals", [uri("parent")])
    child = run("child", 2, runs.ANSWERED, parent=f"{uri('parent')}/i1")
    await store.add([asked("deep", 3, parent=f"{uri('child')}/i1")])
    await store.add([child[1], child[0]])  # together: the answer is met before it is known whose tool it was
    assert list(await store.run("manuals", uri("child"))) == []
    assert list(await store.run("manuals", uri("deep"))) == []
    assert list(await store.list("manuals", where=TraceFilter(tools=True))) == []


async def test_blank_nodes_and_typed_literals_go_too(store: TraceStore) -> None:
    from tests.contract.test_trace_store import KINDS_OF_TERM, batch_of

    await store.add([batch_of(uri("odd"), KINDS_OF_TERM)])
    quads: list[Triple] = list(await store.run("manuals", uri("odd")))
    assert len(quads) == len(KINDS_OF_TERM)
    assert await store.erase("manuals", [uri("odd")]) == 1
    assert await everything(store) == ""
