"""Facts come back from the triples that they were told as: all of them, in order, through any store."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    PartsJoined,
    QueryRewritten,
    QuestionAsked,
    QuestionPlanned,
    RunFailed,
    RunPaused,
    RunResumed,
    TicketCancelled,
)
from clew_schema.rdf import Triple, iri, literal
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators.explain import names
from clew_translators.explain.facts import FactsUnreadable, facts_of
from clew_translators.explain.statements import RDF_JSON
from clew_translators.namespaces import GRAPH_PROVENANCE, GRAPH_RETRIEVAL
from clew_translators.quads import from_nquads, to_nquads
from tests.translators import courses, runs
from tests.translators.strategies import messages

RUNS = {
    "plain": runs.DOCUMENT_STEPS,
    "rewritten": courses.REWRITTEN_STEPS,
    "paused": courses.PAUSED_STEPS,
    "resumed": courses.RESUMED_STEPS,
    "cancelled": courses.CANCELLED_STEPS,
    "failed": ((runs.ASKED, runs.RETRIEVED), (runs.FAILED,)),
    "failed at once": ((runs.FAILED,),),
    "not planned": ((runs.ASKED, courses.SPLIT.model_copy(update={"parts": ()})),),
}


def flat(steps: tuple[tuple[Fact, ...], ...]) -> tuple[Fact, ...]:
    return tuple(fact for step in steps for fact in step)


@pytest.mark.parametrize("steps", RUNS.values(), ids=RUNS)
def test_a_run_comes_back(steps: tuple[tuple[Fact, ...], ...]) -> None:
    quads = runs.quads_of(runs.told(steps))
    random.Random(7).shuffle(quads)
    assert facts_of(quads) == flat(steps)


def test_an_agents_run_comes_back() -> None:
    assert facts_of(runs.quads_of(runs.AGENT_BATCHES)) == runs.AGENT_RUN


@pytest.mark.parametrize("steps", RUNS.values(), ids=RUNS)
async def test_a_store_and_a_file_keep_all_of_it(steps: tuple[tuple[Fact, ...], ...], tmp_path: Path) -> None:
    batches = runs.told(steps)
    store = OxigraphTraceStore(tmp_path / "traces")
    await store.add(batches)
    kept = await store.run("manuals", f"urn:trustgraph:docrag:{runs.SESSION}")
    await store.close()
    assert facts_of(kept) == flat(steps)
    assert facts_of(from_nquads(to_nquads(runs.quads_of(batches)))) == flat(steps)


def test_a_run_that_failed_and_was_then_tried_again() -> None:
    steps = (*runs.DOCUMENT_STEPS[:1], (runs.GRADED,), (runs.ANSWERED,))
    failed = runs.told((runs.DOCUMENT_STEPS[0], (runs.FAILED,)))[1]
    assert facts_of(runs.quads_of([failed, *runs.told(steps)])) == (
        *runs.DOCUMENT_STEPS[0],
        runs.FAILED,
        runs.GRADED,
        runs.ANSWERED,
    )


def test_a_step_that_began_anew_is_one_beginning() -> None:
    later = runs.ASKED.model_copy(update={"ended_at": "2026-01-31T12:09:00.000000Z"})
    first = runs.told(((runs.ASKED, runs.FAILED),))
    second = runs.told(((later, runs.RETRIEVED),))
    kinds = [fact.kind for fact in facts_of(runs.quads_of([*first, *second]))]
    assert sorted(kinds) == ["evidence_retrieved", "question_asked", "run_failed"]
    assert kinds[0] == "question_asked"


def test_no_evidence_is_told_twice() -> None:
    text = to_nquads(runs.quads_of(courses.RESUMED_BATCHES[:1]))
    assert text.count("Shipping is free.") == 1


@pytest.mark.parametrize(
    "quads",
    [
        [],
        [Triple()],
        [quad for quad in runs.quads_of(runs.DOCUMENT_BATCHES) if quad.g == GRAPH_RETRIEVAL],
    ],
    ids=["none", "empty", "the page alone"],
)
def test_what_holds_no_facts_is_refused(quads: list[Triple]) -> None:
    with pytest.raises(FactsUnreadable, match="no record of a fact among these quads"):
        facts_of(quads)


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ("{", "the record of urn:x/activity is no JSON"),
        ("[]", "is no JSON object"),
        ("{}", "does not fit what is told with it"),
        ('{"kind":"evidence_retrieved"}', "does not fit what is told with it"),
        ('{"kind":"tool_chosen","number":1}', "does not fit what is told with it"),
    ],
)
def test_a_record_that_is_none_is_named(record: str, why: str) -> None:
    quad = Triple(
        s=iri("urn:x/activity"),
        p=iri(names.RECORD),
        o=literal(record, datatype=RDF_JSON),
        g=GRAPH_PROVENANCE,
    )
    with pytest.raises(FactsUnreadable, match=why):
        facts_of([quad])


# --- any run --------------------------------------------------------------------------------------


@st.composite
def steps_of_a_run(draw: st.DrawFn) -> tuple[tuple[Fact, ...], ...]:
    """A run as the services may establish one, with any values in its facts, in steps of any size."""
    facts: list[Fact] = []

    def add(kind: type[Any], **fixed: Any) -> None:
        facts.append(draw(messages(kind, **{name: st.just(value) for name, value in fixed.items()})))

    add(QuestionAsked)
    if draw(st.booleans()):
        add(QuestionPlanned)
    parts = draw(st.sampled_from([(0,), (1, 2)]))
    passes = dict.fromkeys(parts, 0)
    for round_ in range(1, draw(st.integers(1, 3)) + 1):
        for part in parts:
            for _ in range(draw(st.integers(0, 2))):
                passes[part] += 1
                where = {"part": part, "pass_number": passes[part]}
                if passes[part] > 1 and draw(st.booleans()):
                    add(QueryRewritten, **where)
                add(EvidenceRetrieved, **where)
                add(EvidenceGraded, **where, kept_pass=draw(st.integers(0, passes[part] - 1)))
        for kind in draw(st.lists(st.sampled_from([PartsJoined, BudgetExhausted]), max_size=2)):
            add(kind)
        if not draw(st.booleans()):
            break
        add(RunPaused, round=round_, ticket=f"ticket {round_}")
        add(draw(st.sampled_from([RunResumed, TicketCancelled])), ticket=f"ticket {round_}")
    if (end := draw(st.sampled_from([AnswerWritten, RunFailed, None]))) is not None:
        add(end)
    cuts = sorted(draw(st.sets(st.integers(1, len(facts)), max_size=3)) | {0, len(facts)})
    return tuple(tuple(facts[a:b]) for a, b in pairwise(cuts))


@given(steps=steps_of_a_run())
def test_any_run_comes_back(steps: tuple[tuple[Fact, ...], ...]) -> None:
    assert facts_of(runs.quads_of(runs.told(steps))) == flat(steps)
