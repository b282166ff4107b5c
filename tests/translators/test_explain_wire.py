"""A batch told straight as JSON is, byte for byte, the message that the codec would have made of it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew_schema.facts import EdgesSelected, Fact, Mechanism, QuestionAsked, SelectedEdge
from clew_schema.rdf import Metadata, Triple, Triples, iri, literal
from clew_translators import bus
from clew_translators.explain import Profile, Told, entity_uri, explain, question_uri, tell, tellings
from clew_translators.explain.statements import Statements
from clew_translators.namespaces import GRAPH_PROVENANCE, GRAPH_RETRIEVAL
from tests.translators import runs, trustgraph_runs
from tests.translators.test_explain_provenance import FACTS

PROFILES: tuple[Profile, ...] = ("spec", "trustgraph")


def graphs(told: Told) -> set[str | None]:
    return {triple.g for triple in told.batch().triples}


@given(
    facts=FACTS,
    trail=FACTS,
    session=st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    part=st.booleans(),
    profile=st.sampled_from(PROFILES),
)
@example(facts=list(runs.DOCUMENT_RUN), trail=[], session=runs.SESSION, part=False, profile="spec")
@example(facts=list(trustgraph_runs.GRAPH_RUN), trail=[], session="s", part=True, profile="trustgraph")
def test_both_tellings_are_the_same_bytes(
    facts: list[Fact], trail: list[Fact], session: str, part: bool, profile: Profile
) -> None:
    told = tellings(
        facts,
        session_id=session,
        collection="c",
        mechanism="document-rag",
        profile=profile,
        trail=trail,
        retrieval_only=part,
    )
    for each in told:
        assert each.encode() == bus.encode(each.batch())
        assert bus.decode(Triples, each.encode()) == each.batch()


@pytest.mark.parametrize("profile", PROFILES)
@given(facts=FACTS, trail=FACTS, part=st.booleans())
def test_one_batch_holds_what_several_tell(
    profile: Profile, facts: list[Fact], trail: list[Fact], part: bool
) -> None:
    told = tell(
        facts,
        session_id="s",
        collection="c",
        mechanism="document-rag",
        profile=profile,
        trail=trail,
        retrieval_only=part,
    )
    batch = explain(
        facts,
        session_id="s",
        collection="c",
        mechanism="document-rag",
        profile=profile,
        trail=trail,
        retrieval_only=part,
    )
    several = tellings(
        facts,
        session_id="s",
        collection="c",
        mechanism="document-rag",
        profile=profile,
        trail=trail,
        retrieval_only=part,
    )
    assert (told is None) is (batch is None) is (not several)
    if told is not None and batch is not None:
        assert told.batch() == batch
        assert batch.triples == tuple(triple for each in several for triple in each.batch().triples)
    if profile == "spec":
        assert several == () or (len(several) == 1 and told and several[0].batch() == told.batch())


def test_profile_trustgraph_has_a_batch_for_each_entity_and_one_for_the_provenance() -> None:
    facts = trustgraph_runs.DOCRAG_RUN
    session, mechanism = trustgraph_runs.SESSION, trustgraph_runs.DOCRAG_ASKED.mechanism
    *entities, provenance = tellings(
        facts, session_id=session, collection="c", mechanism=mechanism, profile="trustgraph"
    )
    question = question_uri(session, mechanism)
    assert [each.metadata.id.removeprefix(question) for each in entities] == [
        "",
        "/grounding",
        "/exploration",
        "/focus",
        "/synthesis",
    ]
    assert {each.metadata.root for each in entities} == {""}
    assert set().union(*map(graphs, entities)) == {GRAPH_RETRIEVAL}
    assert graphs(provenance) == {GRAPH_PROVENANCE}
    assert provenance.metadata.root == question
    assert provenance.metadata.id == entity_uri(facts[-1], session, mechanism, facts[:-1])
    assert {each.metadata.collection for each in (*entities, provenance)} == {"c"}


@pytest.mark.parametrize(
    ("mechanism", "facts", "texts"),
    [
        (
            "agent",
            trustgraph_runs.REACT_RUN,
            {"I should look this up", "X is 42 according to the graph.", "It is 42.", "X is 42."},
        ),
        ("document-rag", trustgraph_runs.DOCRAG_RUN, {"Items can be returned."}),
        ("graph-rag", trustgraph_runs.GRAPH_RUN, {"Graph answer"}),
    ],
)
def test_profile_trustgraph_has_its_texts_in_the_provenance(
    mechanism: Mechanism, facts: tuple[Fact, ...], texts: set[str]
) -> None:
    *entities, provenance = tellings(
        facts, session_id="s", collection="c", mechanism=mechanism, profile="trustgraph"
    )
    literals = {triple.o.value for triple in provenance.batch().triples if triple.o and triple.o.type == "l"}
    assert texts <= literals
    pointed_at = {
        triple.o.value for each in entities for triple in each.batch().triples if triple.o and triple.o.value
    }
    assert not texts & pointed_at


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_is_told_of_no_facts(profile: Profile) -> None:
    assert tellings([], session_id="s", collection="c", mechanism="agent", profile=profile) == ()


HALF = "cut \ud83d"


def test_a_batch_may_hold_more_and_longer_names_than_are_remembered() -> None:
    say = Statements(GRAPH_RETRIEVAL)
    for number in range(5_000):
        say.about(f"urn:e:{number}")
        say.link("urn:p", f"urn:{'long' * 60}:{number % 2}")
    told = Told(Metadata(id="urn:e"), (say,))
    assert told.encode() == bus.encode(told.batch())


HALF_AN_EDGE = Triple(s=iri("urn:s"), p=iri("urn:p"), o=literal(HALF))


@pytest.mark.parametrize(
    ("fact", "profile"),
    [
        (QuestionAsked(mechanism="agent", query=HALF), "spec"),
        (QuestionAsked(mechanism="agent", query=HALF), "trustgraph"),
        (EdgesSelected(edges=(SelectedEdge(edge=HALF_AN_EDGE),)), "trustgraph"),
    ],
)
def test_half_a_character_is_told_as_the_codec_tells_it(fact: Fact, profile: Profile) -> None:
    told = tell([fact], session_id="s", collection="c", mechanism="agent", profile=profile)
    assert told is not None
    assert told.encode() == bus.encode(told.batch())
    assert "cut \ufffd".encode() in told.encode()
