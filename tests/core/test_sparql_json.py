"""Results of SPARQL as JSON: the shape that the W3C gives, and nothing lost on the way back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted
from clew_services.core.sparql_json import read_result, write_result
from clew_services.ports import QueryResult

TRIPLE = Triple(s=iri("urn:s"), p=iri("urn:p"), o=literal("o", language="de"))


def test_rows_as_the_recommendation_shows_them() -> None:
    """After the examples of SPARQL 1.1 Query Results JSON, 2 and 3.2.2."""
    typed = literal("4", datatype="http://www.w3.org/2001/XMLSchema#integer")
    row = (blank("r1"), iri("http://work.example.org/alice/"), literal("Alice"), None, typed, TRIPLE.o)
    names = ("x", "hpage", "name", "mbox", "age", "friend")
    assert write_result(QueryResult(variables=names, rows=(row,))) == {
        "head": {"vars": ["x", "hpage", "name", "mbox", "age", "friend"]},
        "results": {
            "bindings": [
                {
                    "x": {"type": "bnode", "value": "r1"},
                    "hpage": {"type": "uri", "value": "http://work.example.org/alice/"},
                    "name": {"type": "literal", "value": "Alice"},
                    "age": {
                        "type": "literal",
                        "value": "4",
                        "datatype": "http://www.w3.org/2001/XMLSchema#integer",
                    },
                    "friend": {"type": "literal", "value": "o", "xml:lang": "de"},
                }
            ]
        },
    }


@pytest.mark.parametrize("answer", [True, False])
def test_the_answer_to_ask(answer: bool) -> None:
    assert write_result(QueryResult(boolean=answer)) == {"head": {}, "boolean": answer}


def test_a_quoted_triple() -> None:
    found = QueryResult(variables=("t",), rows=((quoted(TRIPLE),),))
    assert write_result(found)["results"]["bindings"][0]["t"] == {
        "type": "triple",
        "value": {
            "subject": {"type": "uri", "value": "urn:s"},
            "predicate": {"type": "uri", "value": "urn:p"},
            "object": {"type": "literal", "value": "o", "xml:lang": "de"},
        },
    }


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SIMPLE = st.one_of(
    TEXT.map(iri),
    TEXT.map(blank),
    TEXT.map(literal),
    st.builds(lambda value: literal(value, datatype="urn:type"), TEXT),
    st.builds(lambda value: literal(value, language="en"), TEXT),
)
TRIPLES = st.builds(lambda s, p, o: Triple(s=s, p=p, o=o), SIMPLE, SIMPLE, SIMPLE)
TERMS: st.SearchStrategy[Term] = st.one_of(SIMPLE, TRIPLES.map(quoted))
ROWS = st.lists(st.tuples(st.none() | TERMS, st.none() | TERMS), max_size=3).map(tuple)


@given(
    st.one_of(
        st.builds(
            lambda rows, more: QueryResult(variables=("a", "b"), rows=rows, truncated=more),
            ROWS,
            st.booleans(),
        ),
        st.builds(
            lambda triples, more: QueryResult(triples=tuple(triples), truncated=more),
            st.lists(TRIPLES, max_size=3),
            st.booleans(),
        ),
        st.booleans().map(lambda answer: QueryResult(boolean=answer)),
        st.just(QueryResult(rows=((), ()))),
        st.just(QueryResult()),
    )
)
def test_what_is_written_is_read_again(found: QueryResult) -> None:
    assert read_result(json.loads(json.dumps(write_result(found)))) == found


def test_triples_quoted_without_end_are_refused() -> None:
    nested: dict[str, object] = {"type": "uri", "value": "urn:x"}
    for _ in range(200):
        name = {"type": "uri", "value": "urn:x"}
        nested = {"type": "triple", "value": {"subject": name, "predicate": name, "object": nested}}
    with pytest.raises(ValueError, match="neither bindings"):
        read_result({"head": {"vars": ["a"]}, "results": {"bindings": [{"a": nested}]}})
