"""Names are functions of what they name: the seed's patterns, and the way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.facts import Mechanism
from clew_translators import namespaces, uris
from clew_translators.iris import is_iri
from tests.translators.strategies import TEXT

SESSION = "00000000-0000-4000-8000-000000000001"
MECHANISMS: list[Mechanism] = ["document-rag", "graph-rag", "agent"]


@pytest.mark.parametrize(
    ("mechanism", "uri"),
    [
        ("document-rag", f"urn:trustgraph:docrag:{SESSION}"),
        ("graph-rag", f"urn:trustgraph:question:{SESSION}"),
        ("agent", f"urn:trustgraph:agent:{SESSION}"),
    ],
)
def test_the_question_of_a_run(mechanism: Mechanism, uri: str) -> None:
    assert uris.question_of(mechanism, SESSION) == uri
    assert uris.run_of(uri) == (mechanism, SESSION)


def test_the_steps_of_a_run() -> None:
    question = "urn:trustgraph:docrag:s"
    assert uris.grounding_of(question) == f"{question}/grounding"
    assert uris.exploration_of(question) == f"{question}/exploration"
    assert uris.exploration_of(question, 2) == f"{question}/exploration/2"
    assert uris.focus_of(question) == f"{question}/focus"
    assert uris.focus_of(question, 2) == f"{question}/focus/2"
    assert uris.synthesis_of(question) == f"{question}/synthesis"
    assert uris.answer_of(question) == f"{question}/answer"
    assert uris.iteration_of(question, 1) == f"{question}/i1"
    assert uris.thought_of(question, 1) == f"{question}/i1/thought"
    assert uris.observation_of(question, 1) == f"{question}/i1/observation"
    assert uris.final_of(question) == f"{question}/final"


def test_the_names_that_no_vector_has() -> None:
    agent = f"urn:trustgraph:agent:{SESSION}"
    assert uris.question_uri(SESSION) == f"urn:trustgraph:question:{SESSION}"
    assert uris.exploration_uri(SESSION) == f"urn:trustgraph:prov:exploration:{SESSION}"
    assert uris.synthesis_document_uri(SESSION) == f"urn:trustgraph:synthesis:{SESSION}"
    assert uris.docrag_answer_uri(SESSION) == f"urn:trustgraph:docrag:{SESSION}/answer"
    assert uris.agent_iteration_uri(SESSION, 2) == f"{agent}/i2"
    assert uris.agent_observation_uri(SESSION, 2) == f"{agent}/i2/observation"
    assert uris.agent_pattern_decision_uri(SESSION) == f"{agent}/pattern-decision"
    assert uris.agent_step_result_uri(SESSION, 0) == f"{agent}/step/0"
    named = (uris.page_uri, uris.section_uri, uris.chunk_uri, uris.image_uri)
    assert [name("1") for name in named] == ["urn:page:1", "urn:section:1", "urn:chunk:1", "urn:image:1"]


ANY_TEXT = st.one_of(TEXT, st.sampled_from(["\ud800", "a/b", "a%2Fb"])).filter(bool)


@given(session=ANY_TEXT, other=ANY_TEXT, mechanism=st.sampled_from(MECHANISMS))
def test_any_session_has_a_name_of_its_own(session: str, other: str, mechanism: Mechanism) -> None:
    question = uris.question_of(mechanism, session)
    assert is_iri(question)
    assert uris.run_of(question) == uris.run_of(uris.iteration_of(question, 3)) == (mechanism, session)
    assert (question == uris.question_of(mechanism, other)) == (session == other)


@pytest.mark.parametrize(
    "uri", ["", "urn:trustgraph:agent:", "urn:trustgraph:agent:/i1", "urn:chunk:1", SESSION]
)
def test_other_names_are_no_run_s(uri: str) -> None:
    assert uris.run_of(uri) is None


# --- the vocabulary -------------------------------------------------------------------------------

TERMS = {
    name: value
    for name, value in vars(namespaces).items()
    if name.isupper()
    and isinstance(value, str)
    and name not in {prefix.upper() for prefix in namespaces.PREFIXES}
}


def test_every_term_stands_once() -> None:
    assert len(set(TERMS.values())) == len(TERMS) > 100
    assert all(map(is_iri, TERMS.values()))


def test_a_constant_is_its_prefix_and_its_name() -> None:
    for name, value in TERMS.items():
        prefix, _, rest = name.partition("_")
        if prefix != "GRAPH":
            term = value.removeprefix(namespaces.PREFIXES[prefix.lower()])
            expected = rest.removesuffix("_TYPE" if term.istitle() else "_PROPERTY").replace("_", "").lower()
            assert expected == term.lower(), name


def test_the_terms_of_the_seed_and_of_the_golden_traces_are_all_there() -> None:
    seed = "Question GraphRagQuestion DocRagQuestion AgentQuestion Exploration Focus Synthesis Analysis Conclusion"
    predicates = "query thought action arguments observation answer chunkCount selectedChunk content"
    terms = set(TERMS.values())
    assert {f"https://trustgraph.ai/ns/{name}" for name in f"{seed} {predicates}".split()} <= terms
