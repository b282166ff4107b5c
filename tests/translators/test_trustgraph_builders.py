"""TrustGraph's triple builders: its own vectors, in its order, and what the vectors say nothing of."""

from typing import Any

import pytest

from clew_schema.rdf import Term, Triple, iri, literal, quoted
from clew_translators import namespaces as ns
from clew_translators.explain import trustgraph_builders as builders
from clew_translators.quads import from_nquads
from tests.translators.reference import Vector, vectors

VECTORS = vectors("triples")
ENTITY = "urn:e"


def built(vector: Vector) -> tuple[Triple, ...]:
    """What the function that the vector's id names makes of its input."""
    arguments: dict[str, Any] = dict(vector.input)
    if "extracted" in arguments:
        arguments["extracted"] = [from_nquads(f"{each} .")[0] for each in arguments["extracted"]]
    made: tuple[Triple, ...] = getattr(builders, vector.id.split()[0].split("+")[0])(**arguments)
    return made


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.id for vector in VECTORS])
def test_vector(vector: Vector) -> None:
    if vector.id == "set_graph":
        subject, predicate, value = vector.input
        triple = Triple(s=iri(subject), p=iri(predicate), o=literal(value))
        (moved,) = builders.set_graph([triple], ns.GRAPH_RETRIEVAL)
        assert moved == Triple(s=triple.s, p=triple.p, o=triple.o, g=vector.expected)
        assert triple.g is None
    else:
        assert list(built(vector)) == list(from_nquads("".join(f"{line} .\n" for line in vector.expected)))


def said(triples: tuple[Triple, ...], predicate: str) -> list[Term | None]:
    return [triple.o for triple in triples if triple.p == iri(predicate)]


def test_a_task_type_is_told_where_there_is_one() -> None:
    triples = builders.agent_pattern_decision_triples(
        uri=ENTITY, session_uri="urn:s", pattern="react", task_type="general"
    )
    assert triples[-1] == Triple(s=iri(ENTITY), p=iri(ns.TG_TASK_TYPE), o=literal("general"))


def test_an_iteration_without_a_question_derives_from_what_was_before() -> None:
    triples = builders.agent_iteration_triples(iteration_uri=ENTITY, previous_uri="urn:p")
    assert said(triples, ns.PROV_WAS_DERIVED_FROM) == [iri("urn:p")]


def test_arguments_are_escaped_as_json_escapes_them_by_default() -> None:
    triples = builders.agent_iteration_triples(iteration_uri=ENTITY, arguments={"q": "é", "n": {"a": 1}})
    assert said(triples, ns.TG_ARGUMENTS) == [literal('{"q": "\\u00e9", "n": {"a": 1}}')]


def test_a_final_answer_tells_its_reason_and_its_cost() -> None:
    triples = builders.agent_final_triples(
        final_uri=ENTITY, previous_uri="urn:p", document_id="urn:d", termination_reason="error", in_token=0
    )
    assert said(triples, ns.PROV_WAS_DERIVED_FROM) == [iri("urn:p")]
    assert said(triples, ns.TG_DOCUMENT) == [iri("urn:d")]
    assert said(triples, ns.TG_TERMINATION_REASON) == [literal("error")]
    assert said(triples, ns.TG_IN_TOKEN) == [literal("0")]
    assert said(triples, ns.TG_OUT_TOKEN) == said(triples, ns.TG_LLM_MODEL) == []


def test_a_synthesis_may_derive_from_one_entity() -> None:
    triples = builders.agent_synthesis_triples(uri=ENTITY, previous_uris="urn:p")
    assert said(triples, ns.PROV_WAS_DERIVED_FROM) == [iri("urn:p")]


def test_an_edge_is_quoted_with_its_own_terms() -> None:
    edge = (iri("urn:a"), "urn:b", literal("7", datatype=ns.XSD_INTEGER))
    triples = builders.focus_triples(
        focus_uri=ENTITY,
        exploration_uri="urn:x",
        selected_edges_with_reasoning=[{"reasoning": "lost"}, {"edge": edge, "score": 0, "reasoning": "why"}],
        session_id="s",
        model="m",
    )
    selection = iri("urn:trustgraph:prov:edge:s:1")
    assert [triple.o for triple in triples if triple.s == iri(ENTITY)][3:] == [
        iri("urn:x"),
        selection,
        literal("m"),
    ]
    assert [(triple.p, triple.o) for triple in triples if triple.s == selection] == [
        (iri(ns.RDF_TYPE), iri(ns.TG_EDGE_SELECTION)),
        (iri(ns.TG_EDGE), quoted(Triple(s=edge[0], p=iri("urn:b"), o=edge[2]))),
        (iri(ns.TG_SCORE), literal("0")),
        (iri(ns.TG_REASONING), literal("why")),
    ]


@pytest.mark.parametrize(
    ("arguments", "class_"),
    [
        ({"page_number": 1}, ns.TG_PAGE),
        ({"chunk_index": 0}, ns.TG_CHUNK),
        ({"page_number": 1, "section": True}, ns.TG_SECTION),
        ({"section": True, "image": True}, ns.TG_IMAGE),
        ({}, None),
    ],
)
def test_the_class_of_what_was_extracted(arguments: dict[str, Any], class_: str | None) -> None:
    triples = builders.derived_entity_triples(
        ENTITY, "urn:p", "component", "1.0", activity="A", label="L", table_count=0, **arguments
    )
    classes = [triple.o for triple in triples if triple.s == iri(ENTITY) and triple.p == iri(ns.RDF_TYPE)]
    assert classes == [iri(ns.PROV_ENTITY), *([iri(class_)] if class_ else [])]
    assert said(triples, ns.TG_TABLE_COUNT) == [literal("0")]
    assert said(triples, ns.PROV_STARTED_AT_TIME) == []


def test_the_vocabulary_is_labels_alone() -> None:
    triples = builders.get_vocabulary_triples()
    labels = {triple.s.iri: triple.o.value for triple in triples if triple.s and triple.o}
    assert len(labels) == len(triples)
    assert {triple.p for triple in triples} == {iri(ns.RDFS_LABEL)}
    assert labels[ns.PROV_ENTITY] == "Entity"
    assert labels[ns.PROV_STARTED_AT_TIME] == "started at"
    assert labels[ns.PROV_WAS_DERIVED_FROM] == "was derived from"
    assert labels[ns.TG_CHAR_OFFSET] == "character offset"
    assert labels[ns.TG_MIME_TYPE] == "MIME type"
    assert labels[ns.TG_STEP_RESULT] == "Step Result"
