"""Facts come back from the triples that they were told as: all of them, in order, through any store."""

import random
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.facts import Fact, Mechanism
from clew_schema.rdf import Triple, iri, literal
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators.explain import Profile, names
from clew_translators.explain.facts import FactsUnreadable, facts_of
from clew_translators.explain.seal import broken_seals, sealed
from clew_translators.explain.statements import RDF_JSON
from clew_translators.namespaces import GRAPH_PROVENANCE, GRAPH_RETRIEVAL
from clew_translators.quads import from_nquads, to_nquads
from tests.translators import courses, runs, whole_runs
from tests.translators.run_strategies import ANY_RUN, Steps

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


# --- runs of every kind ---------------------------------------------------------------------------

PROFILES: tuple[Profile, ...] = ("spec", "trustgraph")


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", whole_runs.RUNS)
def test_every_field_of_every_kind_comes_back(name: str, profile: Profile) -> None:
    mechanism, steps = whole_runs.RUNS[name]
    quads = runs.quads_of(runs.told(steps, mechanism, profile=profile))
    random.Random(7).shuffle(quads)
    assert facts_of(quads) == flat(steps)
    assert facts_of(from_nquads(to_nquads(quads))) == flat(steps)


def test_the_whole_runs_have_every_kind_of_fact() -> None:
    told = {fact.kind for _, steps in whole_runs.RUNS.values() for fact in flat(steps)}
    kinds = {kind.model_fields["kind"].default for kind in get_args(get_args(Fact)[0])}
    assert kinds - told == {"query_rewritten", "budget_exhausted"}  # those are in courses.REWRITTEN_STEPS


@pytest.mark.parametrize("profile", PROFILES)
@given(run=ANY_RUN, seed=st.integers(0, 99))
def test_any_run_comes_back(run: tuple[Mechanism, Steps], profile: Profile, seed: int) -> None:
    mechanism, steps = run
    quads = runs.quads_of(runs.told(steps, mechanism, profile=profile))
    random.Random(seed).shuffle(quads)
    assert facts_of(quads) == flat(steps)


# --- facts that were told twice -------------------------------------------------------------------


def begun(ended: str) -> Fact:
    return whole_runs.ASKED.model_copy(update={"ended_at": ended, "seal": ""})


def test_of_two_beginnings_the_one_counts_that_the_run_went_on_from() -> None:
    (other,) = sealed((begun("2026-01-31T12:09:00.000000Z"),))
    steps = whole_runs.DOCUMENTS
    quads = runs.quads_of([*runs.told(((other,),)), *runs.told(steps)])
    assert other.ended_at > steps[0][0].ended_at
    assert facts_of(quads) == flat(steps)
    assert broken_seals(facts_of(quads)) == ()


def test_a_beginning_that_nothing_followed_yet_is_the_later_one() -> None:
    early, late = (sealed((begun(f"2026-01-31T12:0{minute}:00Z"),))[0] for minute in (1, 2))
    quads = runs.quads_of([*runs.told(((late,),)), *runs.told(((early,),))])
    assert facts_of(quads) == (late,)


def test_each_failure_of_a_step_that_is_tried_again_is_one() -> None:
    begin, graded, answered = whole_runs.DOCUMENTS
    failures = [
        sealed(
            (whole_runs.FAILED.model_copy(update={"seal": "", **runs.at("grading.grade", second)}),), begin
        )
        for second in (5, 6)
    ]
    late = sealed((runs.FAILED.model_copy(update=runs.at("document-rag.answer", 9)),), (*begin, *graded))
    batches = runs.told((begin, graded, answered))
    batches += [batch for failed in failures for batch in runs.told((begin, failed))[1:]]
    batches += runs.told((begin, graded, late))[2:]
    facts = facts_of(runs.quads_of(batches))
    assert facts == (*begin, *failures[0], *failures[1], *graded, *late, *answered)
    assert broken_seals(facts) == ()
