"""Parts become one: what is kept, in which order, and how the whole ends."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clew_schema.evidence import Evidence
from clew_services.core.synthesis import ACCEPTED, PartResult, synthesise


def piece(name: str, **fields: Any) -> Evidence:
    return Evidence.model_validate({"chunk_id": name, "fused_score": 0.01, "rank": 7} | fields)


def answered(*evidence: Evidence, status: Any = "answerable") -> PartResult:
    return PartResult(question="q", evidence=evidence, route="answer", status=status)


def clarifying(prompt: str, *options: str) -> PartResult:
    return PartResult(
        question="q", route="clarify", status="needs_clarification", prompt=prompt, options=options
    )


def choosing(prompt: str, *options: str) -> PartResult:
    return PartResult(
        question="q", route="scope_select", status="needs_scope_selection", prompt=prompt, options=options
    )


NOTHING = PartResult(question="q", route="no_knowledge", status="no_knowledge")


def test_duplicates_keep_the_first_place_and_the_larger_score() -> None:
    one = synthesise(
        [
            answered(piece("a"), piece(" b", rerank_score=0.2, fused_score=0.9)),
            answered(piece("b ", rerank_score=0.7), piece("a", fused_score=0.5), piece("c")),
        ]
    )
    assert [(each.chunk_id, each.rank, each.rerank_score, each.fused_score) for each in one.evidence] == [
        ("a", 1, None, 0.5),
        (" b", 2, 0.7, 0.9),
        ("c", 3, None, 0.01),
    ]
    assert (one.merged_count, one.origins) == (5, ((0, 0), (0, 1), (1, 2)))


def test_one_rerank_score_of_two_is_the_larger() -> None:
    one = synthesise([answered(piece("a", fused_score=0.9), piece("a", rerank_score=0.1))])
    assert [(each.rerank_score, each.fused_score) for each in one.evidence] == [(0.1, 0.9)]


def test_without_an_id_file_page_and_text_identify() -> None:
    same = {"filename": "f", "page": 1, "text": "t"}
    one = synthesise([answered(piece(" ", **same), piece("", **same), piece("", **same | {"page": 2}))])
    assert len(one.evidence) == 2


def test_evidence_of_one_part_answers_whatever_became_of_the_others() -> None:
    one = synthesise([clarifying("which?"), answered(piece("a")), NOTHING])
    assert (one.route, one.status, one.relevance, one.answerability) == (
        "answer",
        "answerable",
        "strong",
        "sufficient",
    )
    assert (one.prompt, one.options, one.rule) == ("", (), "S01-answer")


def test_a_partial_part_makes_the_whole_partial() -> None:
    one = synthesise([answered(piece("a")), answered(status="partial")])
    assert (one.status, one.answerability, one.rule) == ("partial", "partial", "S02-partial")


def test_a_choice_of_scope_goes_first_and_every_question_is_asked_once() -> None:
    one = synthesise(
        [clarifying("when?", "a", "b"), choosing("which?", "b", "c"), clarifying("when?"), NOTHING]
    )
    assert (one.route, one.status) == ("scope_select", "needs_scope_selection")
    assert (one.prompt, one.options) == ("when?；which?", ("a", "b", "c"))
    assert (one.relevance, one.answerability, one.rule) == ("none", "none", "S03-pause")


def test_the_first_pause_leads_when_no_scope_is_to_be_chosen() -> None:
    assert synthesise([NOTHING, clarifying("when?")]).status == "needs_clarification"


def test_nothing_known_is_said() -> None:
    for parts in ([], [NOTHING, NOTHING]):
        one = synthesise(parts)
        assert (one.route, one.status, one.evidence, one.merged_count, one.rule) == (
            "no_knowledge",
            "no_knowledge",
            (),
            0,
            "S04-nothing-known",
        )


PARTS = st.lists(
    st.builds(
        PartResult,
        question=st.just("q"),
        evidence=st.lists(st.builds(piece, st.sampled_from("abcd")), max_size=4).map(tuple),
        status=st.sampled_from(
            ["answerable", "partial", "no_knowledge", "needs_clarification", "needs_rewrite"]
        ),
        route=st.none(),
    ),
    max_size=4,
)


@given(PARTS)
def test_all_accepted_evidence_is_there_once_and_comes_from_where_it_says(parts: list[PartResult]) -> None:
    one = synthesise(parts)
    accepted = [each for part in parts if part.status in ACCEPTED for each in part.evidence]
    assert [each.chunk_id for each in one.evidence] == list(dict.fromkeys(each.chunk_id for each in accepted))
    assert [each.rank for each in one.evidence] == list(range(1, len(one.evidence) + 1))
    assert [parts[part].evidence[place].chunk_id for part, place in one.origins] == [
        each.chunk_id for each in one.evidence
    ]
    assert one.merged_count == len(accepted)
    assert (one.route == "answer") == bool(accepted)
