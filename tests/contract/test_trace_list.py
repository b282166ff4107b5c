"""What every trace store promises of lists: filters, and pages that stay where they are."""

from __future__ import annotations

import pytest

from clew_schema.facts import Fact
from clew_services.ports import TraceFilter, TraceStore
from tests.contract.trace_stores import CANCELLED, PAUSED, resumed, run, uri
from tests.translators import runs
from tests.translators.runs import asked


async def listed(store: TraceStore, limit: int = 50, after: str = "", **wanted: object) -> list[str]:
    """The sessions of the runs of ``manuals`` that a filter finds."""
    rows = await store.list("manuals", limit=limit, where=TraceFilter(**wanted), after=after)  # type: ignore[arg-type] # each test gives its own
    return [row.session_uri.rpartition(":")[2] for row in rows]


# --- pages ----------------------------------------------------------------------------------------


async def test_pages_have_every_run_once_in_order(store: TraceStore) -> None:
    # Runs of one instant too, whose order is that of their names.
    await store.add([asked(f"{number:02}", number // 3) for number in range(25)])
    whole = await listed(store)
    assert whole == [f"{number:02}" for number in reversed(range(25))]
    pages, after = [], ""
    while page := await store.list("manuals", limit=4, after=after):
        pages += [row.session_uri.rpartition(":")[2] for row in page]
        after = page[-1].cursor
    assert pages == whole


async def test_runs_that_begin_meanwhile_do_not_move_a_page(store: TraceStore) -> None:
    await store.add([asked(str(number), number) for number in range(6)])
    first = await store.list("manuals", limit=3)
    await store.add([asked("new", 30)])
    rest = await listed(store, after=first[-1].cursor)
    assert rest == ["2", "1", "0"]
    assert (await listed(store))[0] == "new"


async def test_a_page_goes_on_below_a_run_that_was_erased(store: TraceStore) -> None:
    await store.add([asked(str(number), number) for number in range(4)])
    first = await store.list("manuals", limit=2)
    await store.erase("manuals", [first[-1].session_uri])
    assert await listed(store, after=first[-1].cursor) == ["1", "0"]


async def test_pages_and_filters_go_together(store: TraceStore) -> None:
    for number in range(9):
        await store.add(run(str(number), number, *([runs.ANSWERED] if number % 2 else [])))
    where = TraceFilter(states=frozenset({"answered"}))
    first = await store.list("manuals", limit=2, where=where)
    rest = await store.list("manuals", where=where, after=first[-1].cursor)
    assert [row.session_uri[-1] for row in (*first, *rest)] == ["7", "5", "3", "1"]


# --- filters --------------------------------------------------------------------------------------


async def test_by_mechanism(store: TraceStore) -> None:
    await store.add([*runs.DOCUMENT_BATCHES, *runs.AGENT_BATCHES])
    assert await listed(store, mechanisms=frozenset({"agent"})) == [runs.AGENT_SESSION]
    assert await listed(store, mechanisms=frozenset({"document-rag"})) == [runs.SESSION]
    assert await listed(store, mechanisms=frozenset({"graph-rag"})) == []
    assert await listed(store, mechanisms=frozenset({"agent", "document-rag"})) == [
        runs.AGENT_SESSION,
        runs.SESSION,
    ]


async def test_by_state_as_it_changes(store: TraceStore) -> None:
    states = ("running", "failed", "needs_input", "cancelled", "no_knowledge", "answered")

    async def state() -> list[str]:
        """Every state for which the one run is found."""
        return [each for each in states if await listed(store, states=frozenset({each}))]

    batches = run("s", 0, runs.FAILED, PAUSED, resumed("bob"), runs.ANSWERED)
    seen = []
    for batch in batches:
        await store.add([batch])
        seen.append((await state(), (await store.list("manuals"))[0].state))
    assert seen == [
        (["running"], "running"),
        (["failed"], "failed"),
        (["needs_input"], "needs_input"),
        (["failed"], "failed"),  # the person answered, and how it ended is not told yet
        (["answered"], "answered"),
    ]


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ((PAUSED,), "needs_input"),
        ((PAUSED, resumed("bob")), "running"),
        ((PAUSED, CANCELLED), "cancelled"),
        ((PAUSED, resumed("bob"), runs.ANSWERED), "answered"),
        ((runs.FAILED, runs.ANSWERED), "answered"),
        ((), "running"),
    ],
)
async def test_the_state_does_not_depend_on_the_order_of_batches(
    store: TraceStore, facts: tuple[Fact, ...], state: str
) -> None:
    for session, order in (("ahead", 1), ("back", -1)):
        for batch in run(session, 0, *facts)[::order]:
            await store.add([batch])
    assert await listed(store, states=frozenset({state})) == ["back", "ahead"]


async def test_by_person_who_asked_answered_or_withdrew(store: TraceStore) -> None:
    await store.add(run("asked", 1, person="Ann Ö./"))
    await store.add(run("answered", 2, PAUSED, resumed("Ann Ö./"), person="bob"))
    await store.add(run("withdrew", 3, PAUSED, CANCELLED, person="carl"))
    await store.add(run("nobody", 4))
    assert await listed(store, person="Ann Ö./") == ["answered", "asked"]
    assert await listed(store, person="bob") == ["withdrew", "answered"]
    assert await listed(store, person="carl") == ["withdrew"]
    assert await listed(store, person="ann ö./") == []  # names are taken as they are
    assert await listed(store, person="anonymous") == []
    persons = {row.session_uri.rpartition(":")[2]: row.person for row in await store.list("manuals")}
    assert persons == {"asked": "Ann Ö./", "answered": "bob", "withdrew": "carl", "nobody": ""}


async def test_since_and_until(store: TraceStore) -> None:
    await store.add([asked(str(second), second) for second in range(5)])
    assert await listed(store, since="2026-01-31T12:00:03") == ["4", "3"]
    assert await listed(store, until="2026-01-31T12:00:03") == ["2", "1", "0"]
    assert await listed(store, since="2026-01-31T12:00:01", until="2026-01-31T12:00:02") == ["1"]
    exact = "2026-01-31T12:00:02.000001Z"
    assert await listed(store, since=exact, until="2026-01-31T12:00:03") == ["2"]
    assert await listed(store, until=exact) == ["1", "0"]
    assert await listed(store, since="2026", until="2027") == ["4", "3", "2", "1", "0"]
    assert await listed(store, since="2026-02") == []


@pytest.mark.parametrize(
    ("text", "finds"),
    [
        ("refund", True),
        ("REFUND", True),
        ("straße", True),
        ("STRASSE", True),
        ("退货", True),
        ("100%_", True),
        ("*", False),
        ("100%x", False),
        ('"; DROP', False),
        ("refunds", False),
        (" ", True),
    ],
)
async def test_by_text_whatever_its_case(store: TraceStore, text: str, *, finds: bool) -> None:
    await store.add(run("s", 0, query="Refund at Straße 5? 退货 100%_ \\ '"))
    await store.add(run("other", 1, query="none"))
    assert await listed(store, text=text) == (["s"] if finds else [])


async def test_a_tools_own_runs_on_demand(store: TraceStore) -> None:
    parent = f"urn:trustgraph:agent:{runs.AGENT_SESSION}/i1"
    await store.add([*runs.AGENT_BATCHES, asked("tool", 11, parent=parent)])
    assert await listed(store) == [runs.AGENT_SESSION]
    assert await listed(store, tools=True) == ["tool", runs.AGENT_SESSION]


async def test_all_filters_must_hold(store: TraceStore) -> None:
    await store.add(run("a", 1, runs.ANSWERED, person="ann", query="one"))
    await store.add(run("b", 2, runs.ANSWERED, person="bob", query="one"))
    await store.add(run("c", 3, person="ann", query="one"))
    await store.add(run("d", 4, runs.ANSWERED, person="ann", query="two"))
    answered = frozenset({"answered"})
    assert await listed(store, person="ann", states=answered, text="ONE") == ["a"]
    assert await listed(store, person="ann", mechanisms=frozenset({"agent"})) == []
    assert await listed(store, states=answered, since="2026-01-31T12:00:02") == ["d", "b"]


async def test_what_has_no_beginning_yet_is_not_listed(store: TraceStore) -> None:
    first, answer = run("s", 0, runs.ANSWERED)
    await store.add([answer])
    assert await listed(store, tools=True) == []
    assert await store.run("manuals", uri("s"))
    await store.add([first])
    assert await listed(store) == ["s"]
