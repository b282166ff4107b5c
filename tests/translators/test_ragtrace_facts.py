"""A run's RAGTrace from its facts: SuperMew's own in strict mode, and what improved mode does otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Retrieval
from clew_schema.facts import RunFailed
from clew_translators import ragtrace_facts
from clew_translators.ragtrace_facts import figures, project, rag_trace, retrieval_of
from clew_translators.ragtrace_fields import RETRIEVAL_FIELDS
from tests.core import supermew, supermew_nodes
from tests.translators import ragtrace_scripts

WHOLE = {"run": ragtrace_scripts.of_run, "resume": ragtrace_scripts.of_resume}
VECTORS = [each for each in supermew.VECTORS if each["op"] in WHOLE and "error" not in each["expect"]]
NODES = [
    each
    for each in supermew.VECTORS
    if each["op"] == "node"
    and each["id"] in supermew_nodes.RUNS
    and each["id"] != "SN-26"  # of a part alone
    and each["expect"].get("raw_trace")
]
TOLD = {"rerank_model": "m", "rerank_error": "HTTP 500: no", "candidate_k_config_error": "invalid"}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_a_strict_run_has_supermews_trace(vector: dict[str, Any]) -> None:
    expect = vector["expect"]
    projection = project(WHOLE[vector["op"]](vector["given"]))
    assert projection.trace is not None
    assert supermew.shorthand(projection.trace) == supermew.longhand(expect["trace"])
    assert projection.resume_state == expect["hitl_resume_state"]
    assert projection.invalid == ()


@pytest.mark.parametrize("vector", NODES, ids=lambda vector: vector["id"])
def test_a_strict_run_has_supermews_trace_after_each_node(vector: dict[str, Any]) -> None:
    _, ran = supermew_nodes.RUNS[vector["id"]]()
    if ran.progress.complexity is not None and vector["id"] in {"SN-31", "SN-32"}:
        before = ragtrace_scripts.paused(supermew_nodes.SNAPSHOT, "丹瑾", ran)
    else:
        before = ragtrace_scripts.asked(ran, ran.progress.query)
    trace = rag_trace(before + ragtrace_scripts.written(ran))
    raw = supermew.longhand(vector["expect"]["raw_trace"])
    stored = {name: value for name, value in raw.items() if value is not None and name != "rewrite_count"}
    assert trace is not None
    assert supermew.shorthand(trace) == stored


def test_every_documented_run_is_among_them() -> None:
    assert len(VECTORS) == 25
    assert {each["id"] for each in NODES} > {"SN-09", "SN-12", "SN-13", "SN-16", "SN-19", "SN-25", "SN-32"}


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("told", [{}, TOLD])
def test_figures_come_back_as_they_went(count: int, told: dict[str, Any]) -> None:
    given = supermew.figures(count) | told
    assert figures(retrieval_of(given)) == given
    assert set(given) == set(RETRIEVAL_FIELDS) - ({} if told else TOLD).keys() - (
        set() if told else set(TOLD)
    )
