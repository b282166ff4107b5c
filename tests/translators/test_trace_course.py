"""Reading runs back that were planned, rewritten, joined, paused and cancelled; and how far such a run is."""

import json
from pathlib import Path

import pytest

from clew_schema.facts import Fact
from clew_services.adapters.stores.trace_memory import MemoryTraceStore
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators.trace import read_trace
from clew_translators.trace_digest import digest
from clew_translators.trace_tree import Check, TraceTree, to_json
from tests.translators import courses, runs

Steps = tuple[tuple[Fact, ...], ...]
RUN = f"urn:trustgraph:docrag:{runs.SESSION}"

PAUSED_TWICE = courses.PAUSED.model_copy(update={"ticket": "t-2", "round": 2})
AGAIN: Steps = (*courses.RESUMED_STEPS[:5], (courses.JOINED, PAUSED_TWICE))
NOTHING = runs.ANSWERED.model_copy(update={"outcome": "no_knowledge", "citations": ()})
STATES: dict[str, tuple[Steps, str]] = {
    "paused": (courses.PAUSED_STEPS, "needs_input"),
    "going on": (courses.RESUMED_STEPS[:4], "running"),
    "answered": (courses.RESUMED_STEPS, "answered"),
    "nothing known": ((*courses.RESUMED_STEPS[:5], (NOTHING,)), "no_knowledge"),
    "cancelled": (courses.CANCELLED_STEPS, "cancelled"),
    "failed while resumed": ((*courses.RESUMED_STEPS[:4], (courses.FAILED_RESUME,)), "failed"),
    "paused again": (AGAIN, "needs_input"),
}


def read(steps: Steps) -> TraceTree:
    return read_trace(runs.quads_of(runs.told(steps)))


@pytest.mark.parametrize(("steps", "state"), STATES.values(), ids=STATES)
async def test_how_far_a_run_is_in_a_trace_and_in_the_lists_of_stores(
    steps: Steps, state: str, tmp_path: Path
) -> None:
    assert read(steps).state == state
    for store in (MemoryTraceStore(), OxigraphTraceStore(tmp_path / "traces")):
        for batch in reversed(runs.told(steps)):  # batches may come in any order
            await store.add([batch])
        assert [row.state for row in await store.list("manuals")] == [state]
        await store.close()


async def test_a_run_that_failed_while_it_was_resumed_and_is_answered_later(tmp_path: Path) -> None:
    failed = runs.told((*courses.RESUMED_STEPS[:4], (courses.FAILED_RESUME,)))[-1]
    batches = [*courses.RESUMED_BATCHES, failed]
    tree = read_trace(runs.quads_of(batches))
    assert tree.state == "answered"
    # It failed where the grade stands that came later, so it is told before that.
    kinds = [step.kind for step in tree.steps]
    assert kinds.index("failure") == kinds.index("resume") + 2
    store = OxigraphTraceStore(tmp_path / "traces")
    await store.add(batches)
    assert [row.state for row in await store.list("manuals")] == ["answered"]
    await store.close()


def test_a_digest_tells_of_pauses_and_of_their_end() -> None:
    paused, resumed = digest(courses.RESUMED_BATCHES[2]), digest(courses.RESUMED_BATCHES[3])
    assert paused is not None
    assert resumed is not None
    pause = frozenset({f"{RUN}/pause/1"})
    assert (paused.waits, paused.resumed) == (pause, frozenset())
    assert (resumed.waits, resumed.resumed) == (frozenset(), pause)
    assert (paused.state, resumed.state) == ("needs_input", "running")


def test_a_rewritten_question() -> None:
    tree = read(courses.REWRITTEN_STEPS)
    assert [(step.kind, step.title) for step in tree.steps] == [
        ("plan", "Plan: simple"),
        ("retrieval", "Retrieval: 2 chunks"),
        ("grade", "Grade: weak / partial → rewrite"),
        ("rewrite", "Rewritten: step_back"),
        ("retrieval", "Retrieval: 1 chunk"),
        ("grade", "Grade: weak / partial → answer"),
        ("budget", "No more rewrites: 1 spent → answer"),
        ("answer", "Answer"),
    ]
    assert tree.steps[3].detail("text") == "return policy days"
    assert tree.steps[5].detail("keeps") == f"{RUN}/exploration"
    assert tree.steps[7].detail("coverage") == "0.5"
    assert [span.checks for span in tree.citations] == [
        (Check(verdict="supported", start=0, end=18, lexical=0.75, similarity=0.5),),
        (Check(verdict="misattributed", start=19, end=32, lexical=0.25, better=1),),
    ]
    told = to_json(tree)
    assert json.loads(json.dumps(told)) == told
    assert told["steps"][7]["spans"][1]["checks"][0]["better"] == 1


def test_parts_and_a_pause() -> None:
    tree = read(courses.RESUMED_STEPS)
    assert [(step.part, step.kind) for step in tree.steps] == [
        (0, "plan"),
        (1, "retrieval"),
        (2, "retrieval"),
        (1, "grade"),
        (2, "grade"),
        (0, "join"),
        (0, "pause"),
        (0, "resume"),
        (2, "retrieval"),
        (2, "grade"),
        (0, "join"),
        (0, "answer"),
    ]
    plan, pause, reply = tree.steps[0], tree.steps[6], tree.steps[7]
    assert [text for name, text in plan.details if name == "part"] == list(courses.PARTS)
    assert pause.title == "Waits for a person: ticket t-1"
    assert [text for name, text in pause.details if name == "option"] == ["Austria", "elsewhere"]
    assert (reply.title, reply.detail("reply")) == ("A person answered", "Austria")
    assert ("by", "a person") in reply.details
    assert read(courses.CANCELLED_STEPS).steps[-1].title == "Cancelled by a person"
