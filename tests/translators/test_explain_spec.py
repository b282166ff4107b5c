"""Profile ``spec``: what the seed's agent-explainability page says, term by term, written here by hand from that page."""

import pytest
from rdflib import Dataset

from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EvidenceRetrieved,
    Fact,
    Mechanism,
    QuestionAsked,
    RunFailed,
    ToolChosen,
    ToolObserved,
)
from clew_schema.rdf import Triples
from clew_translators.explain import entity_uri, explain, question_uri
from clew_translators.namespaces import GRAPH_RETRIEVAL
from clew_translators.quads import to_nquads
from tests.translators import runs

PREFIXES = """
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix tg: <https://trustgraph.ai/ns/> .
"""
DOCUMENTS = f"urn:trustgraph:docrag:{runs.SESSION}"
AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"

PLAN = f"""
<{DOCUMENTS}> a prov:Activity, tg:Question, tg:DocRagQuestion ;
    tg:query "What is the return policy?" ;
    prov:startedAtTime "2026-01-31T12:00:00.000001Z" .
<{DOCUMENTS}/exploration> a prov:Entity, tg:Exploration ;
    prov:wasGeneratedBy <{DOCUMENTS}> ;
    tg:chunkCount "2" ;
    tg:selectedChunk <urn:chunk:00000000-0000-4000-8000-000000000001>, <urn:chunk:00000000-0000-4000-8000-000000000002> .
"""
ANSWER = f"""
<{DOCUMENTS}/synthesis> a prov:Entity, tg:Synthesis ;
    tg:content "Within 30 days [1]." ;
    prov:wasDerivedFrom <{DOCUMENTS}/exploration> .
"""
FIRST = f"""
<{AGENT}> a prov:Activity, tg:Question, tg:AgentQuestion ;
    tg:query "How long may I wait?" ;
    prov:startedAtTime "2026-01-31T12:00:10.000001Z" .
<{AGENT}/i1> a prov:Entity, tg:Analysis ;
    tg:thought "I need the policy." ;
    tg:action "document-query" ;
    tg:arguments "{{\\"question\\": \\"What is the return policy?\\"}}" ;
    prov:wasDerivedFrom <{AGENT}> .
"""
SECOND = f"""
<{AGENT}/i1> tg:observation "Within 30 days [1]." ;
    prov:wasDerivedFrom <{DOCUMENTS}> .
<{AGENT}/i2> a prov:Entity, tg:Analysis ;
    tg:thought "Let me check." ; tg:action "text-completion" ; tg:arguments "{{}}" ;
    prov:wasDerivedFrom <{AGENT}/i1> .
"""
LAST = f"""
<{AGENT}/i2> tg:observation "out of order" .
<{AGENT}/final> a prov:Entity, tg:Conclusion ;
    tg:answer "30 days." ;
    prov:wasDerivedFrom <{AGENT}/i2> .
"""


def lines(turtle: str) -> set[str]:
    """A page's statements, as lines of N-Quads in the retrieval graph."""
    dataset = Dataset()
    dataset.graph(GRAPH_RETRIEVAL).parse(data=PREFIXES + turtle, format="turtle")
    return set(filter(None, dataset.serialize(format="nquads").splitlines()))


def retrieval_lines(batch: Triples | None) -> set[str]:
    assert batch is not None
    quads = [quad for quad in batch.triples if quad.g == GRAPH_RETRIEVAL]
    dataset = Dataset()
    dataset.parse(data=to_nquads(quads), format="nquads")
    found = set(filter(None, dataset.serialize(format="nquads").splitlines()))
    assert len(found) == len(quads), "a quad is told twice"
    return found


def step(*facts: Fact, mechanism: Mechanism = "document-rag", trail: tuple[Fact, ...] = ()) -> Triples | None:
    session = runs.AGENT_SESSION if mechanism == "agent" else runs.SESSION
    return explain(facts, session_id=session, collection="manuals", mechanism=mechanism, trail=trail)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        pytest.param(runs.DOCUMENT_BATCHES[0], PLAN, id="question and exploration"),
        pytest.param(runs.DOCUMENT_BATCHES[1], "", id="a grade is not on the page"),
        pytest.param(runs.DOCUMENT_BATCHES[2], ANSWER, id="synthesis"),
        pytest.param(runs.AGENT_BATCHES[0], FIRST, id="session and first analysis"),
        pytest.param(runs.AGENT_BATCHES[1], SECOND, id="observation, its trace, second analysis"),
        pytest.param(runs.AGENT_BATCHES[2], LAST, id="last observation and conclusion"),
    ],
)
def test_a_step_says_what_the_page_says(batch: Triples, expected: str) -> None:
    assert retrieval_lines(batch) == lines(expected)


def test_a_run_told_as_a_whole_is_the_run_told_step_by_step() -> None:
    whole = step(*runs.DOCUMENT_RUN)
    assert whole is not None
    assert set(to_nquads(whole.triples).splitlines()) == set(
        to_nquads(runs.quads_of(runs.DOCUMENT_BATCHES)).splitlines()
    )


def test_a_conclusion_without_iterations_derives_from_the_session() -> None:
    batch = step(Concluded(answer="42", after=0), mechanism="agent", trail=(runs.AGENT_ASKED,))
    assert retrieval_lines(batch) == lines(
        f'<{AGENT}/final> a prov:Entity, tg:Conclusion ; tg:answer "42" ; prov:wasDerivedFrom <{AGENT}> .'
    )


def test_no_knowledge_is_a_synthesis_of_what_was_said() -> None:
    nothing = EvidenceRetrieved(query="x")
    batch = step(AnswerWritten(outcome="no_knowledge", text="Nothing reliable is known."), trail=(nothing,))
    assert retrieval_lines(batch) == lines(
        f'<{DOCUMENTS}/synthesis> a prov:Entity, tg:Synthesis ; tg:content "Nothing reliable is known." ;'
        f" prov:wasDerivedFrom <{DOCUMENTS}/exploration> ."
    )


def test_an_answer_rests_on_the_latest_retrieval_of_each_part() -> None:
    trail = (
        EvidenceRetrieved(query="a", part=1),
        EvidenceRetrieved(query="a again", part=1, pass_number=2),
        EvidenceRetrieved(query="b", part=2),
    )
    batch = step(AnswerWritten(outcome="answer", text="t"), trail=trail)
    assert retrieval_lines(batch) == lines(
        f'<{DOCUMENTS}/synthesis> a prov:Entity, tg:Synthesis ; tg:content "t" ; prov:wasDerivedFrom'
        f" <{DOCUMENTS}/part/1/exploration/2>, <{DOCUMENTS}/part/2/exploration> ."
    )


@pytest.mark.parametrize(
    ("mechanism", "subtype", "prefix"),
    [
        ("document-rag", "DocRagQuestion", "urn:trustgraph:docrag:"),
        ("graph-rag", "GraphRagQuestion", "urn:trustgraph:question:"),
        ("agent", "AgentQuestion", "urn:trustgraph:agent:"),
    ],
)
def test_question_subtypes_and_uri_patterns(mechanism: Mechanism, subtype: str, prefix: str) -> None:
    fact = QuestionAsked(mechanism=mechanism, query="q")
    batch = explain([fact], session_id=runs.SESSION, collection="c", mechanism=mechanism)
    assert retrieval_lines(batch) == lines(
        f'<{prefix}{runs.SESSION}> a prov:Activity, tg:Question, tg:{subtype} ; tg:query "q" .'
    )
    assert question_uri(runs.SESSION, mechanism) == prefix + runs.SESSION


@pytest.mark.parametrize(
    ("fact", "name"),
    [
        (QuestionAsked(mechanism="agent", query=""), ""),
        (EvidenceRetrieved(query=""), "/exploration"),
        (EvidenceRetrieved(query="", pass_number=2), "/exploration/2"),
        (runs.GRADED, "/exploration/grade"),
        (AnswerWritten(outcome="answer", text=""), "/synthesis"),
        (ToolChosen(number=3, thought="", action=""), "/i3"),
        (ToolObserved(number=3, observation=""), "/i3"),
        (Concluded(answer="", after=3), "/final"),
        (RunFailed(mechanism="agent", error_type="x", message=""), "/failure"),
    ],
)
def test_a_batch_is_named_by_its_last_fact_and_by_its_run(fact: Fact, name: str) -> None:
    batch = explain(
        [runs.AGENT_ASKED, fact], session_id=runs.AGENT_SESSION, collection="c", mechanism="agent"
    )
    assert batch is not None
    assert batch.metadata is not None
    assert batch.metadata.model_dump() == {"id": AGENT + name, "root": AGENT, "collection": "c"}
    assert entity_uri(fact, runs.AGENT_SESSION, "agent") == AGENT + name


def test_nothing_to_tell_is_no_batch() -> None:
    assert step() is None


def test_a_caller_may_be_shown_the_page_alone() -> None:
    def shown(*facts: Fact) -> Triples | None:
        return explain(
            facts, session_id=runs.SESSION, collection="c", mechanism="document-rag", retrieval_only=True
        )

    batch = shown(runs.ASKED, runs.RETRIEVED)
    assert batch is not None
    assert {quad.g for quad in batch.triples} == {GRAPH_RETRIEVAL}
    assert retrieval_lines(batch) == lines(PLAN)
    assert shown(runs.GRADED) is None


def test_an_id_that_is_no_iri_becomes_one_and_a_link_that_is_none_is_not_told() -> None:
    found = runs.EVIDENCE[0].model_copy(update={"chunk_id": 'x "y" <z>'})
    batch = step(EvidenceRetrieved(query="q", evidence=(found,)))
    assert (
        f"<{DOCUMENTS}/exploration> <https://trustgraph.ai/ns/selectedChunk>"
        " <urn:chunk:x%20%22y%22%20%3Cz%3E> <urn:graph:retrieval> ."
    ) in {line.strip() for line in retrieval_lines(batch)}
    silent = step(ToolObserved(number=1, observation="o", trace_uri="no iri"), mechanism="agent")
    assert retrieval_lines(silent) == lines(f'<{AGENT}/i1> tg:observation "o" .')


def test_a_session_that_is_no_uuid_stays_inside_its_own_name() -> None:
    assert question_uri("a/final> <x", "agent") == "urn:trustgraph:agent:a%2Ffinal%3E%20%3Cx"
