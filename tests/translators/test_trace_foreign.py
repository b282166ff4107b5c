"""Reading traces of TrustGraph, and what has no name of ours: golden traces, batches without a root, foreign questions."""

import pytest

from clew_schema.rdf import Metadata, Triple, Triples, iri
from clew_translators import trace
from clew_translators.namespaces import RDF_TYPE
from clew_translators.quads import from_nquads
from clew_translators.trace_digest import digest
from clew_translators.trace_tree import Step, TraceTree
from tests.translators import runs
from tests.translators.reference import DATA

AGENT = f"urn:trustgraph:agent:{runs.AGENT_SESSION}"


def golden(name: str) -> TraceTree:
    text = (DATA / "golden" / f"{name}.nq").read_text(encoding="utf-8")
    return trace.read_trace(from_nquads(text))


GOLDEN = "00000000-0000-4000-8000-000000000001"


def test_a_document_question_of_trustgraph() -> None:
    tree = golden("docrag_rerank")
    assert (tree.mechanism, tree.question, tree.state) == (
        "document-rag",
        "What is the return policy?",
        "answered",
    )
    assert [step.title for step in tree.steps] == [
        "Grounding",
        "Retrieval: 3 chunks",
        "Chunk Selection",
        "Answer",
    ]
    assert [span.chunk for span in tree.steps[1].spans] == ["urn:chunk:a", "urn:chunk:b", "urn:chunk:c"]
    assert [(span.chunk, span.rerank_score) for span in tree.steps[2].spans] == [
        ("urn:chunk:c", 0.97),
        ("urn:chunk:a", 0.51),
    ]
    assert tree.steps[3].detail("document") == f"urn:trustgraph:docrag:{GOLDEN}/answer"


def test_an_agent_of_trustgraph() -> None:
    tree = golden("agent_react_nosid")
    assert (tree.mechanism, tree.question, tree.state) == ("agent", "What is X?", "answered")
    assert [step.title for step in tree.steps] == [
        "Step 1: Knowledge query",
        "Observation",
        "Step 2: LLM text completion",
        "Observation",
        "Conclusion",
    ]


def test_a_graph_question_of_trustgraph() -> None:
    tree = golden("graphrag")
    assert (tree.mechanism, tree.question, tree.state) == ("graph-rag", "Q?", "answered")
    assert tree.parent == "urn:trustgraph:agent:P/i1"
    assert [step.title for step in tree.steps] == ["Grounding", "Retrieval: 1 edge", "Focus", "Answer"]


@pytest.mark.parametrize(
    ("name", "run"),
    [
        (f"urn:trustgraph:docrag:{GOLDEN}/exploration", f"urn:trustgraph:docrag:{GOLDEN}"),
        (f"urn:trustgraph:prov:synthesis:{GOLDEN}", f"urn:trustgraph:question:{GOLDEN}"),
        (f"urn:trustgraph:prov:chunk:{GOLDEN}:0", f"urn:trustgraph:docrag:{GOLDEN}"),
    ],
)
def test_a_batch_without_a_root_is_of_the_run_that_its_name_says(name: str, run: str) -> None:
    told = digest(Triples(metadata=Metadata(id=name, collection="c")))
    assert told is not None
    assert (told.run, told.collection) == (run, "c")


def test_a_batch_of_no_run() -> None:
    knowledge = Triple(s=iri("https://ex.org/a"), p=iri("https://ex.org/knows"), o=iri("https://ex.org/b"))
    assert digest(Triples(metadata=Metadata(id="https://ex.org/doc"), triples=(knowledge,))) is None


def test_what_a_person_may_type_to_name_a_trace() -> None:
    assert trace.question_candidates(runs.SESSION) == (
        f"urn:trustgraph:docrag:{runs.SESSION}",
        f"urn:trustgraph:agent:{runs.SESSION}",
        f"urn:trustgraph:question:{runs.SESSION}",
    )
    assert trace.question_candidates(f"{AGENT}/i1") == (AGENT,)
    assert trace.question_candidates("urn:other:x") == ("urn:other:x",)


@pytest.mark.parametrize(
    ("type_", "mechanism"), [("AgentQuestion", "agent"), ("DocRagQuestion", "document-rag")]
)
def test_a_question_of_a_foreign_name_is_known_by_its_class(type_: str, mechanism: str) -> None:
    quads = [
        Triple(s=iri("urn:x:1"), p=iri(RDF_TYPE), o=iri(f"https://trustgraph.ai/ns/{name}"))
        for name in ("Question", type_)
    ]
    assert trace.read_trace(quads).mechanism == mechanism


@pytest.mark.parametrize(("type_", "mechanism"), [("Analysis", "agent"), ("Exploration", "graph-rag")])
def test_and_without_a_class_by_what_was_derived_from_it(type_: str, mechanism: str) -> None:
    quads = [
        Triple(s=iri("urn:x:1"), p=iri(RDF_TYPE), o=iri("https://trustgraph.ai/ns/Question")),
        Triple(s=iri("urn:x:2"), p=iri(RDF_TYPE), o=iri(f"https://trustgraph.ai/ns/{type_}")),
    ]
    assert trace.read_trace(quads).mechanism == mechanism


def test_a_detail_that_is_not_there_is_empty() -> None:
    assert Step(uri="u", kind="other", title="t").detail("x") == ""
