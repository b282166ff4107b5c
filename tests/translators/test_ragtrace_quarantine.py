"""A bad value in a trace costs its own field and no other."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_translators.ragtrace import normalise
from clew_translators.ragtrace_fields import RagTrace
from clew_translators.ragtrace_quarantine import quarantined
from clew_translators.refusal import NotThisMessage

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
CHUNKS = st.lists(
    st.fixed_dictionaries(
        {"filename": st.just("a.pdf")}, optional={"score": ANYTHING, "page_number": ANYTHING}
    )
)
FIELDS = st.builds(
    lambda some, chunks: some | ({"retrieved_chunks": chunks} if chunks else {}),
    st.dictionaries(st.sampled_from(list(RagTrace.model_fields)), ANYTHING, max_size=5),
    CHUNKS,
)
TRACES = st.builds(lambda top, parts: top | {"sub_traces": parts}, FIELDS, st.lists(FIELDS, max_size=2))

GOOD = {"query": "q", "route": "answer"}
CHUNK = {"filename": "a.pdf", "text": "t"}


@pytest.mark.parametrize(
    ("bad", "kept", "invalid"),
    [
        ({"candidate_k": "many"}, {}, ["candidate_k"]),
        ({"rewrite_method": "both"}, {}, ["rewrite_method"]),
        ({"sub_questions": ["a", 3, 4]}, {}, ["sub_questions"]),
        ({"retrieved_chunks": "none"}, {}, ["retrieved_chunks"]),
        ({"retrieved_chunks": None, "unknown": 1}, {}, []),
        (
            {"retrieved_chunks": [CHUNK, CHUNK | {"score": "x", "page_number": []}]},
            {"retrieved_chunks": [CHUNK, CHUNK]},
            ["retrieved_chunks.1.page_number", "retrieved_chunks.1.score"],
        ),
        (
            {"sub_traces": [GOOD, {}, 3, {"route": 5, "query": "two", "initial_retrieved_chunks": 1}]},
            {"sub_traces": [GOOD, {"query": "two"}]},
            ["sub_traces.1.initial_retrieved_chunks", "sub_traces.1.route"],
        ),
    ],
)
def test_one_bad_value_drops_that_field(
    bad: dict[str, Any], kept: dict[str, Any], invalid: list[str]
) -> None:
    before = copy.deepcopy(bad)
    assert quarantined(GOOD | bad) == (GOOD | kept, tuple(invalid))
    assert bad == before


@pytest.mark.parametrize("nothing", [None, {}, [], "trace", 3])
def test_what_is_no_trace_is_none(nothing: object) -> None:
    assert quarantined(nothing) == (None, ())


@given(TRACES)
def test_no_trace_is_refused_and_what_is_kept_is_one(trace: dict[str, Any]) -> None:
    kept, invalid = quarantined(trace)
    assert kept is not None
    assert normalise(kept) in (kept, None)  # null for an empty one
    assert len(invalid) == len(set(invalid))
    try:
        refused = normalise(trace) is None
    except NotThisMessage:
        refused = True
    assert invalid or not refused or not trace
