"""What every trace store makes of whole runs: the same, in whatever order, cut and number their batches come."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from clew_schema.facts import Fact, Mechanism
from clew_schema.rdf import Triples
from clew_services.ports import TraceFilter, TraceStore
from clew_translators.explain import Profile, question_uri, tellings
from clew_translators.trace import read_trace
from tests.contract.trace_stores import CANCELLED, PAUSED, resumed
from tests.translators import courses, runs
from tests.translators.runs import once, shown

NUMBERS = itertools.count()
PROFILES: tuple[Profile, ...] = ("spec", "trustgraph")
NOTHING_KNOWN = runs.ANSWERED.model_copy(update={"outcome": "no_knowledge", "text": "", "citations": ()})
TIRED = runs.CONCLUDED.model_copy(update={"reason": "max-iterations"})
BY_ANN = runs.ASKED.model_copy(update={"person": "ann"})

RUNS: dict[str, tuple[Mechanism, tuple[tuple[Fact, ...], ...], str]] = {
    "answered": ("document-rag", runs.DOCUMENT_STEPS, "answered"),
    "rewritten": ("document-rag", courses.REWRITTEN_STEPS, "answered"),
    "waits": ("document-rag", courses.PAUSED_STEPS, "needs_input"),
    "resumed": ("document-rag", courses.RESUMED_STEPS, "answered"),
    "cancelled": ("document-rag", courses.CANCELLED_STEPS, "cancelled"),
    "failed": (
        "document-rag",
        (*courses.PAUSED_STEPS, (courses.RESUMED,), (courses.FAILED_RESUME,)),
        "failed",
    ),
    "nothing known": ("document-rag", ((runs.ASKED, runs.RETRIEVED), (NOTHING_KNOWN,)), "no_knowledge"),
    "answered after a failure": (
        "document-rag",
        ((runs.ASKED,), (runs.FAILED,), (runs.ANSWERED,)),
        "answered",
    ),
    "agent": ("agent", runs.AGENT_STEPS, "answered"),
    "tired agent": ("agent", (*runs.AGENT_STEPS[:-1], (runs.OBSERVED_AGAIN, TIRED)), "failed"),
    "unreadable": ("document-rag", ((runs.FAILED,),), "failed"),
}


def batches_of(name: str, profile: Profile, session: str) -> list[Triples]:
    """A run of RUNS as the runtime publishes it."""
    mechanism, steps, _ = RUNS[name]
    trail: tuple[Fact, ...] = ()
    found = []
    for facts in steps:
        told = tellings(
            facts,
            session_id=session,
            collection="manuals",
            mechanism=mechanism,
            profile=profile,
            trail=trail,
        )
        found += [each.batch() for each in told]
        trail += facts
    return found


# A failure shows its batches in whatever order; shrinking them would write the run hundreds of times.
@settings(
    max_examples=3,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", RUNS)
@given(data=st.data())
async def test_a_run_is_the_same_in_any_order_and_however_often(
    store: TraceStore, data: st.DataObject, name: str, profile: Profile
) -> None:
    session = f"s{next(NUMBERS)}"
    batches = batches_of(name, profile, session)
    order = data.draw(st.permutations(batches))
    for batch in (*order, *data.draw(st.lists(st.sampled_from(batches), max_size=4))):
        await store.add([batch])
    mechanism, steps, state = RUNS[name]
    uri = question_uri(session, mechanism)
    quads = await store.run("manuals", uri)
    assert _same(shown(quads)) == _same(once(batches))
    assert read_trace(quads).state == state
    (row,) = [row for row in await store.list("manuals", limit=1_000) if row.session_uri == uri]
    first = steps[0][0]
    query = first.query if first.kind == "question_asked" else ""
    assert (row.mechanism, row.query, row.asked_at, row.state) == (mechanism, query, first.started_at, state)
    await store.erase("manuals", [uri])
    assert list(await store.run("manuals", uri)) == []


def _same(quads: list[str]) -> list[str]:
    """A time may come back in another spelling: without a fraction that is naught."""
    return sorted(quad.replace(".000000Z", "Z") for quad in quads)


@pytest.mark.parametrize("profile", PROFILES)
async def test_persons_are_known_whatever_the_vocabulary(store: TraceStore, profile: Profile) -> None:
    steps: tuple[tuple[Fact, ...], ...]
    for session, steps in (
        ("asked", ((BY_ANN, runs.RETRIEVED), (runs.ANSWERED,))),
        ("answered", ((runs.ASKED,), (PAUSED,), (resumed("bob"), runs.ANSWERED))),
        ("withdrew", ((BY_ANN,), (PAUSED,), (CANCELLED,))),
    ):
        trail: tuple[Fact, ...] = ()
        for facts in steps:
            told = tellings(
                facts,
                session_id=session,
                collection="manuals",
                mechanism="document-rag",
                profile=profile,
                trail=trail,
            )
            await store.add([each.batch() for each in told])
            trail += facts

    async def of(person: str) -> set[str]:
        rows = await store.list("manuals", where=TraceFilter(person=person))
        return {row.session_uri.rpartition(":")[2] for row in rows}

    assert (await of("ann"), await of("bob")) == ({"asked", "withdrew"}, {"answered", "withdrew"})
    persons = {row.session_uri.rpartition(":")[2]: row.person for row in await store.list("manuals")}
    assert persons == {"asked": "ann", "answered": "", "withdrew": "ann"}
