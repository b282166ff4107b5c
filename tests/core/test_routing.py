"""The routing table decides as SuperMew does, and keeps its laws."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Ambiguity, Answerability, Grade, Relevance, Route
from clew_schema.limits import MAX_REWRITES
from clew_services.core.routing import NO_EVIDENCE, STRICT, Rule, clarification, resolve

DATA = Path(__file__).parent.parent / "data" / "supermew"
with (DATA / "route-table.csv").open(encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table))
VECTORS = [json.loads(line) for line in (DATA / "routing.jsonl").read_text(encoding="utf-8").splitlines()]

GRADES = st.builds(
    Grade,
    relevance=st.sampled_from(get_args(Relevance)),
    answerability=st.sampled_from(get_args(Answerability)),
    ambiguity=st.sampled_from(get_args(Ambiguity)),
    route=st.sampled_from(get_args(Route)),
    confidence=st.floats(0, 1),
    missing_slots=st.lists(st.text(max_size=3), max_size=2).map(tuple),
    hitl_prompt=st.text(max_size=5),
    reason=st.text(max_size=5),
)


def grade(**fields: Any) -> Grade:
    return Grade.model_validate(
        {"relevance": "strong", "answerability": "sufficient", "route": "answer"} | fields
    )


def test_the_table_is_complete() -> None:
    keys = {tuple(list(row.values())[:6]) for row in ROWS}
    assert len(ROWS) == len(keys) == 3 * 3 * 3 * 5 * 2 * 2


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(list(row.values())[:6]))
def test_supermews_table(row: dict[str, str]) -> None:
    decision = resolve(
        evidence_count=1,
        grade=grade(
            relevance=row["relevance"],
            answerability=row["answerability"],
            ambiguity=row["ambiguity"],
            route=row["suggested_route"],
        ),
        rewrite_count=int(row["rewrite_count"]),
        is_part=row["is_sub_agent"] == "1",
    )
    assert (decision.route, decision.status) == (row["route"], row["retrieval_status"])


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["op"] == "resolve_route"], ids=lambda v: v["id"])
def test_supermews_route_vectors(vector: dict[str, Any]) -> None:
    given = vector["given"]
    decision = resolve(
        evidence_count=given["n_docs"],
        grade=grade(
            relevance=given["relevance"],
            answerability=given["answerability"],
            ambiguity=given["ambiguity"],
            route=given["suggested_route"],
        ),
        rewrite_count=given["rewrite_count"],
        is_part=given["is_sub_agent"],
    )
    assert {"route": decision.route, "retrieval_status": decision.status} == vector["expect"]


@pytest.mark.parametrize("vector", [v for v in VECTORS if v["op"] == "hitl_prompt"], ids=lambda v: v["id"])
def test_supermews_clarifying_questions(vector: dict[str, Any]) -> None:
    given = dict(vector["given"])
    route = given.pop("route")
    assert clarification(grade(**given), route) == vector["expect"]["hitl_prompt"]


@pytest.mark.parametrize("route", ["answer", "rewrite", "no_knowledge"])
def test_other_routes_ask_nothing(route: Route) -> None:
    assert clarification(grade(hitl_prompt="which one?", missing_slots=["year"]), route) == ""


def test_every_rule_is_reached_and_named_once() -> None:
    used = {
        resolve(
            evidence_count=1,
            grade=grade(
                relevance=row["relevance"],
                answerability=row["answerability"],
                ambiguity=row["ambiguity"],
                route=row["suggested_route"],
            ),
            rewrite_count=int(row["rewrite_count"]),
            is_part=row["is_sub_agent"] == "1",
        ).rule
        for row in ROWS
    }
    assert used == {rule.id for rule in STRICT}
    assert len({rule.id for rule in STRICT}) == len(STRICT) == 13


@given(grade=GRADES, rewrites=st.integers(0, 5), is_part=st.booleans())
def test_no_evidence_is_no_knowledge_whatever_the_grade_says(
    grade: Grade, rewrites: int, is_part: bool
) -> None:
    decision = resolve(evidence_count=0, grade=grade, rewrite_count=rewrites, is_part=is_part)
    assert (decision.route, decision.status) == ("no_knowledge", "no_knowledge")


@given(grade=GRADES, count=st.integers(0, 9), rewrites=st.integers(MAX_REWRITES, 99), is_part=st.booleans())
def test_without_budget_nothing_is_rewritten(grade: Grade, count: int, rewrites: int, is_part: bool) -> None:
    assert (
        resolve(evidence_count=count, grade=grade, rewrite_count=rewrites, is_part=is_part).route != "rewrite"
    )


@given(grade=GRADES, count=st.integers(1, 9), rewrites=st.integers(0, 3))
def test_a_whole_question_is_answered_only_from_strong_and_sufficient_evidence(
    grade: Grade, count: int, rewrites: int
) -> None:
    decision = resolve(evidence_count=count, grade=grade, rewrite_count=rewrites, is_part=False)
    if decision.route == "answer":
        assert (grade.relevance, grade.answerability, decision.status) == (
            "strong",
            "sufficient",
            "answerable",
        )


@given(grade=GRADES, count=st.integers(0, 9), rewrites=st.integers(0, 3), is_part=st.booleans())
def test_irrelevant_evidence_answers_nothing(grade: Grade, count: int, rewrites: int, is_part: bool) -> None:
    irrelevant = grade.model_copy(update={"relevance": "none"})
    decision = resolve(evidence_count=count, grade=irrelevant, rewrite_count=rewrites, is_part=is_part)
    assert decision.rule == "R01-nothing-relevant"


@given(
    grade=GRADES,
    rewrites=st.integers(0, 3),
    is_part=st.booleans(),
    words=st.text(),
    confidence=st.floats(0, 1),
)
def test_what_explains_a_grade_decides_nothing(
    grade: Grade, rewrites: int, is_part: bool, words: str, confidence: float
) -> None:
    other = grade.model_copy(update={"confidence": confidence, "reason": words, "missing_slots": (words,)})
    assert resolve(evidence_count=1, grade=grade, rewrite_count=rewrites, is_part=is_part) == resolve(
        evidence_count=2, grade=other, rewrite_count=rewrites, is_part=is_part
    )


def test_no_evidence_has_supermews_grade() -> None:
    assert (
        Grade(
            relevance="none",
            answerability="none",
            ambiguity="none",
            route="no_knowledge",
            confidence=1.0,
            reason="no_retrieved_documents",
        )
        == NO_EVIDENCE
    )


def test_another_mode_is_another_table() -> None:
    cautious = (Rule("X01-always-ask", "clarify", lambda _: True),)
    decision = resolve(evidence_count=1, grade=grade(), rewrite_count=0, is_part=False, rules=cautious)
    assert (decision.route, decision.status, decision.rule) == (
        "clarify",
        "needs_clarification",
        "X01-always-ask",
    )
