"""The rules behind SuperMew's vectors, at the edges that the handed-over vectors do not show."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from clew_schema.evidence import Evidence
from clew_services.core import (
    candidates,
    complexity,
    merging,
    ranking,
    replies,
    resuming,
    rewriting,
)
from clew_services.core.complexity import PlanReply
from clew_services.core.merging import Merging
from clew_services.core.resuming import Snapshot
from clew_services.core.retrieving import Reranking
from clew_services.core.rewriting import RewriteReply
from clew_services.errors import ModelReplyInvalid


def piece(name: str, **fields: Any) -> Evidence:
    return Evidence.model_validate({"chunk_id": name, "fused_score": 0.01} | fields)


@pytest.mark.parametrize(
    ("question", "rule"),
    [
        ("   ", "F01-empty-or-long"),
        ("a" * 49, "F01-empty-or-long"),
        ("a" * 48, "F09-unclear"),
        ("与会人员名单", "F02-complex-marker"),
        ("show me the list", "F02-complex-marker"),  # it holds "how "
        ("甲、乙", "F03-enumeration"),
        ("丹瑾 卡卡罗 丹恒", "F04-keywords"),
        ("武器技能", "F05-dimensions"),
        ("武器武器", "F08-short"),
        ("a?b?", "F06-several-marks"),
        ("WHO IS it", "F07-simple-marker"),
        ("你好", "F08-short"),
        ("the quick brown fox jumps", "F09-unclear"),
    ],
)
def test_the_rule_that_decided_is_named(question: str, rule: str) -> None:
    assert complexity.look(question).rule == rule


def test_every_rule_has_its_own_id_and_the_last_one_always_matches() -> None:
    assert len({rule.id for rule in complexity.STRICT}) == len(complexity.STRICT) == 9
    assert complexity.STRICT[-1].when("")


@given(st.text())
def test_a_look_is_total(question: str) -> None:
    seen = complexity.look(question)
    assert (seen.reason is not None) == (seen.rule in {"F07-simple-marker", "F08-short"})


def test_another_mode_is_another_table() -> None:
    always = (complexity.Rule("X01-simple", "because", lambda _: True),)
    assert complexity.look("比较甲和乙", rules=always) == complexity.Look(reason="because", rule="X01-simple")


def test_a_complex_plan_needs_a_part_and_a_simple_one_has_none() -> None:
    with pytest.raises(ModelReplyInvalid, match="named no part"):
        complexity.plan(PlanReply(complexity="complex", sub_questions=(" ", "")))
    simple = complexity.plan(PlanReply(complexity="simple", reason=" r ", sub_questions=("a",)))
    assert (simple.reason, simple.parts) == ("r", ())


def test_a_rewrite_keeps_the_questions_blanks_and_its_query_does_not() -> None:
    made = rewriting.compose(" q ", RewriteReply(method="hyde", hyde_document=" d "))
    assert (made.composed, made.query, made.text) == (
        " q \n\n假设性答案文档：d",
        "q \n\n假设性答案文档：d",
        "d",
    )


@pytest.mark.parametrize(
    ("question", "answer", "refined"),
    [
        ("", " a ", "a"),
        ("q", " \n", "q"),
        ("the cat", "cat", "the cat"),
        ("q", "a", "a：q"),
        ("a：q", "b", "b：a：q"),
    ],
)
def test_refined_questions(question: str, answer: str, refined: str) -> None:
    assert resuming.refine(question, answer) == refined


@pytest.mark.parametrize(
    "wrong", [{"question": ""}, {"docs": []}, {"rewrite_count": -1}, {"sub_questions": ["a"] * 5}]
)
def test_a_snapshot_has_seven_fields_and_nothing_else(wrong: dict[str, Any]) -> None:
    record = {"question": "q", "route": "clarify", "retrieval_status": "needs_clarification"}
    assert len(Snapshot.model_validate(record).model_dump()) == 7
    with pytest.raises(ValidationError):
        Snapshot.model_validate(record | wrong)


@pytest.mark.parametrize("record", [None, {}, "x", {"id": "t"}])
def test_a_damaged_record_of_a_pause_is_none(record: object) -> None:
    assert resuming.read_pending(record) is None


@pytest.mark.parametrize(
    ("status", "route", "pauses"),
    [
        ("needs_clarification", None, True),
        (None, "scope_select", True),
        ("needs_rewrite", "rewrite", False),
        (None, None, False),
    ],
)
def test_status_or_route_makes_a_pause(status: str | None, route: str | None, pauses: bool) -> None:
    assert resuming.is_pause(status, route) is pauses


@given(st.integers(1, 50), st.none() | st.text(max_size=4), st.none() | st.text(max_size=4))
def test_a_pool_is_never_smaller_than_what_is_asked_for(
    top_k: int, configured: str | None, multiplier: str | None
) -> None:
    pool = candidates.pool(top_k, configured=configured, multiplier=multiplier)
    assert pool.candidate_k >= top_k
    assert pool.multiplier >= 1
    assert (pool.source == "env") <= (pool.config_error is None)


@pytest.mark.parametrize(("written", "times"), [("x", 3), ("", 3), ("-2", 1), ("7", 7)])
def test_multipliers(written: str, times: int) -> None:
    assert candidates.pool(2, multiplier=written).candidate_k == 2 * times


FAMILIES = st.lists(
    st.builds(
        piece,
        st.uuids().map(str),
        fused_score=st.floats(0, 1),
        parent_id=st.sampled_from(["", " ", "p", "q", "r"]),
    ),
    max_size=9,
)


@given(FAMILIES, st.integers(0, 4), st.sets(st.sampled_from("pqr")))
def test_a_pass_of_merging(found: list[Evidence], threshold: int, store: set[str]) -> None:
    before = Merging(candidates=tuple(found))
    needed = merging.needed_parents(found, threshold)
    after = merging.merge(before, {each: piece(each) for each in needed if each in store}, threshold)
    parents = [each for each in after.candidates if each.merged_children]
    assert after.replaced == sum(each.merged_children for each in parents)
    assert len(after.candidates) == len(found) - after.replaced + len(parents)
    assert after.steps == int(bool(parents)) == int(after.applied)
    assert [each for each in after.candidates if not each.merged_children] == [
        each for each in found if not (each.parent_id in needed and each.parent_id in store)
    ]
    for parent in parents:
        scores = [each.fused_score or 0 for each in found if each.parent_id == parent.chunk_id]
        assert (parent.fused_score, parent.merged_children) == (max(scores), len(scores))


def test_parents_are_needed_in_the_order_of_their_first_children() -> None:
    found = [piece(name, parent_id=parent) for name, parent in zip("abcd", "zaza", strict=True)]
    assert merging.needed_parents([*found, found[1]]) == ("z", "a")


def test_only_false_turns_merging_off() -> None:
    assert [merging.is_enabled(each) for each in ("FALSE ", "0", "no", "")] == [False, True, True, True]


def test_order_by_score_prefers_the_reranker_and_keeps_equals() -> None:
    found = [piece("a"), piece("b", rerank_score=0.5), piece("c"), piece("d", fused_score=None)]
    assert [each.chunk_id for each in ranking.by_score(found, 3)] == ["b", "a", "c"]


def test_a_reply_of_a_reranker_is_taken_as_it_comes() -> None:
    body = {
        "results": [
            {"index": 1, "relevance_score": "0.2"},
            {"index": 2},
            {"index": "0"},
            {"index": 1},
            {"index": 0},
        ]
    }
    lines = ranking.read_rerank(body, 2)
    evidence = ranking.reranked([piece("a"), piece("b")], lines, 2)
    assert [(each.chunk_id, each.rerank_score) for each in evidence] == [("b", 0.2), ("b", None)]
    assert ranking.read_rerank({}, 2) == ()


@pytest.mark.parametrize(
    "body",
    [[1], None, {"results": "x"}, {"results": [1]}, {"results": [{"index": 0, "relevance_score": {}}]}],
)
def test_a_malformed_reply_is_refused(body: object) -> None:
    with pytest.raises(ModelReplyInvalid):
        ranking.read_rerank(body, 1)


def test_without_a_score_only_no_threshold_is_passed() -> None:
    found = [piece("a", fused_score=None), piece("b", fused_score=0.0), piece("c", rerank_score=0.3)]
    assert [[each.chunk_id for each in ranking.above(found, least)] for least in (0.0, 0.3)] == [
        ["a", "b", "c"],
        ["c"],
    ]


def test_a_score_is_written_where_it_was_read() -> None:
    dense = piece("a", fused_score=None, dense_score=0.5)
    assert ranking.with_score(dense, 0.7).dense_score == 0.7
    assert ranking.score(ranking.with_score(piece("a"), 0.7)) == 0.7


@pytest.mark.parametrize(
    ("host", "endpoint"),
    [
        ("http://h/", "http://h/v1/rerank"),
        ("http://h/v1/rerank", "http://h/v1/rerank"),
        ("", ""),
        ("replace-with-host", ""),
    ],
)
def test_the_rerankers_address(host: str, endpoint: str) -> None:
    settings = Reranking(model="m", host=host, key="k")
    assert settings.endpoint == endpoint
    assert settings.enabled == bool(endpoint)


@pytest.mark.parametrize(
    ("message", "title"),
    [("  a \n b  ", "a b"), ("「什么是 RRF？」", "什么是 RRF"), ("", "新会话"), ("x" * 17, "x" * 16)],
)
def test_titles(message: str, title: str) -> None:
    assert replies.title(message) == title


def test_what_the_agent_is_told_when_nothing_is_known() -> None:
    told = replies.tool_text(evidence=(), route="no_knowledge", status="no_knowledge")
    assert told.startswith("NO_KNOWLEDGE: ")
