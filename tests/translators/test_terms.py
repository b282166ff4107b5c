"""Terms and triples in the compact form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.rdf import Term, Triple, blank, iri, literal, quoted
from clew_translators.refusal import NotThisMessage
from clew_translators.terms import (
    MAX_NESTING,
    term_from_compact,
    term_to_compact,
    triple_from_compact,
    triple_to_compact,
)
from tests.translators.strategies import STAR_STATEMENTS


@given(triple=STAR_STATEMENTS)
def test_triples_come_back(triple: Triple) -> None:
    compact = triple_to_compact(triple)
    assert triple_from_compact(json.loads(json.dumps(compact))) == triple
    assert set(compact) == {"s", "p", "o"} | ({"g"} if triple.g else set())


@pytest.mark.parametrize(
    ("term", "compact"),
    [
        (iri("urn:x"), {"t": "i", "i": "urn:x"}),
        (blank("b0"), {"t": "b", "d": "b0"}),
        (literal(""), {"t": "l", "v": ""}),
        (literal("x", language="en"), {"t": "l", "v": "x", "ln": "en"}),
        (literal("1", datatype="urn:d"), {"t": "l", "v": "1", "dt": "urn:d"}),
        (quoted(Triple(s=iri("urn:s"))), {"t": "t", "tr": {"s": {"t": "i", "i": "urn:s"}}}),
        (Term(type="t"), {"t": "t"}),
        (Term(), {"t": ""}),
    ],
)
def test_each_kind(term: Term, compact: dict[str, Any]) -> None:
    assert term_to_compact(term) == compact
    assert term_from_compact(compact) == term


def test_what_a_kind_does_not_use_is_not_written() -> None:
    assert term_to_compact(Term(type="i", iri="urn:x", value="left over", language="en")) == {
        "t": "i",
        "i": "urn:x",
    }


@pytest.mark.parametrize(
    ("compact", "field"),
    [
        ("urn:x", ""),
        (None, ""),
        ([], ""),
        ({"t": "z"}, "t"),
        ({"t": 1}, "t"),
        ({"t": "i", "i": None}, "i"),
        ({"t": "l", "v": 5}, "v"),
        ({"t": "l", "v": "x", "ln": ["en"]}, "ln"),
        ({"t": "t", "tr": "s p o"}, "tr"),
        ({"t": "t", "tr": {"o": {"t": "b", "d": 1}}}, "tr.o.d"),
    ],
)
def test_what_is_no_term_is_refused_with_its_place(compact: object, field: str) -> None:
    with pytest.raises(NotThisMessage) as refused:
        term_from_compact(compact)
    assert refused.value.field == field


def nested(depth: int) -> dict[str, Any]:
    term: dict[str, Any] = {"t": "i", "i": "urn:x"}
    for _ in range(depth):
        term = {"t": "t", "tr": {"s": term}}
    return term


def test_triples_are_quoted_in_triples_only_so_deep() -> None:
    assert term_to_compact(term_from_compact(nested(MAX_NESTING))) == nested(MAX_NESTING)
    with pytest.raises(NotThisMessage, match="more than 64 deep"):
        term_from_compact(nested(MAX_NESTING + 1))


@given(
    value=st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.dictionaries(
            st.sampled_from(["t", "tr", "s", "o", "i", "v", "g"]), inner, max_size=3
        ),
        max_leaves=6,
    )
)
def test_any_json(value: object) -> None:
    try:
        triple = triple_from_compact(value)
    except NotThisMessage:
        return
    assert triple_from_compact(triple_to_compact(triple)) == triple.model_copy(update={"g": triple.g or None})
