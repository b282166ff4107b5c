"""A run's RAGTrace from its facts: SuperMew's own in strict mode, and what improved mode does otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from clew_schema.evidence import Evidence, Rerank, Retrieval
from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    Fact,
    Gap,
    Mode,
    PartQuestion,
    QueryRewritten,
    QuestionAsked,
    RunFailed,
    RunResumed,
    TicketCancelled,
)
from clew_translators import ragtrace_facts
from clew_translators.ragtrace_ext import ext
from clew_translators.ragtrace_facts import figures, project, rag_trace, retrieval_of
from clew_translators.ragtrace_fields import RETRIEVAL_FIELDS
from tests.core import supermew
from tests.translators import ragtrace_scripts
from tests.translators.ragtrace_facts_of import asked, found, graded, joined, pause, piece, planned

WHOLE = {"run": ragtrace_scripts.of_run, "resume": ragtrace_scripts.of_resume}
VECTORS = [each for each in supermew.VECTORS if each["op"] in WHOLE and "error" not in each["expect"]]
TOLD = {"rerank_model": "m", "rerank_error": "HTTP 500: no", "candidate_k_config_error": "invalid"}
SPENT = BudgetExhausted(
    budget="rewrites", spent=1, route="no_knowledge", status="no_knowledge", resolved_by="W"
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_a_strict_run_has_supermews_trace(vector: dict[str, Any]) -> None:
    given, expect = vector["given"], vector["expect"]
    projection = project(WHOLE[vector["op"]](given, expect["trace"]))
    assert projection.trace is not None
    assert supermew.shorthand(projection.trace) == supermew.longhand(expect["trace"])
    assert projection.resume_state == expect["hitl_resume_state"]
    assert projection.invalid == ()


NODES = {
    "SN-09": ("c1 c2", "", 4),
    "SN-12": ("c1 c2", "", 4),
    "SN-13": ("", "", 4),
    "SN-14": ("c1", "", 4),
    "SN-16": ("c1", "c9 c1", 6),
    "SN-17": ("c1", "c9 c1", 7),
    "SN-19": ("c1", "c9 c1", 6),
    "SN-20": ("c1", "c9 c1", 7),
    "SN-21": ("c1", "c9", 7),
    "SN-22": ("c1", "c9", 7),
    "SN-23": ("c1", "c9", 7),
    "SN-24": ("c1", "c9", 7),
    "SN-25": ("c1 c2", "", 4),
}
"""What the first and the second pass of a node's run found, and how many facts lie before the node's end."""


@pytest.mark.parametrize("name", NODES)
def test_a_strict_run_has_supermews_trace_after_a_node(name: str) -> None:
    first, again, count = NODES[name]
    raw = next(each for each in supermew.VECTORS if each["id"] == name)["expect"]["raw_trace"]
    is_spent = name == "SN-25"  # the pass before was sent to be rewritten
    graded_last = raw | ({"route": "rewrite", "retrieval_status": "needs_rewrite"} if is_spent else {})
    last = {
        "relevance": raw["evidence_relevance"],
        "answerability": raw["evidence_answerability"],
        "ambiguity": raw["evidence_ambiguity"],
        "route": "answer",
        "confidence": raw["evidence_confidence"],
        "reason": "thin" if is_spent else raw["evidence_reason"],
        "hitl_options": raw["hitl_options"],
    }
    given = {
        "question": raw["query"],
        "retrieval": {raw["query"]: supermew_docs(first), "*": supermew_docs(again)},
        "grader_outputs": [last, last],
    }
    facts = ragtrace_scripts.of_run(given, graded_last)[:count]
    trace = rag_trace([*facts, SPENT] if is_spent else facts)
    assert trace is not None
    expected = {name: value for name, value in raw.items() if name != "rewrite_count"}
    assert supermew.shorthand(trace) == supermew.longhand(expected)


def supermew_docs(names: str) -> list[dict[str, Any]]:
    """Documents as the nodes' stub finds them."""
    return [
        {"filename": "doc.pdf", "page_number": 1, "text": f"text {name}", "score": 0.03, "rrf_rank": rank}
        | {"chunk_id": name}
        for rank, name in enumerate(names.split(), 1)
    ]


def test_every_documented_run_is_among_them() -> None:
    assert len(VECTORS) == 25


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("told", [{}, TOLD])
def test_figures_come_back_as_they_went(count: int, told: dict[str, Any]) -> None:
    given = supermew.figures(count) | told
    assert figures(retrieval_of(given)) == given
    assert set(given) == set(RETRIEVAL_FIELDS) - ({} if told else TOLD).keys() - (
        set() if told else set(TOLD)
    )


def test_no_run_has_a_trace_before_something_was_found() -> None:
    assert rag_trace([]) is None
    assert rag_trace([QuestionAsked(mechanism="agent", query="q")]) is None
    assert ragtrace_facts.resume_state([QuestionAsked(mechanism="agent", query="q")]) is None


def failed(facts: list[Fact]) -> list[Fact]:
    return [*facts, RunFailed(mechanism="document-rag", error_type="model-failed", message="no")]


def test_a_failed_run_keeps_its_trace_unless_it_is_strict() -> None:
    strict: list[Fact] = [asked(), planned(mode="strict"), found(piece("a")), graded("rewrite")]
    assert rag_trace(strict) is not None
    assert rag_trace(failed(strict)) is None
    improved = rag_trace(failed([asked(), planned(), found(piece("a")), graded("rewrite")]))
    assert improved is not None
    assert improved["route"] == "rewrite"


def test_a_second_retrievals_figures_replace_the_first_ones() -> None:
    broken = Rerank(
        enabled=True, attempted=True, endpoint="http://r", error="HTTP 500: key k", error_code="http_500"
    )
    healthy = Rerank(enabled=True, attempted=True, succeeded=True, endpoint="http://r")

    def figures_of(mode: Mode) -> list[Any]:
        facts: list[Fact] = [
            asked(),
            planned(mode=mode),
            found(piece("a"), retrieval=Retrieval(rerank=broken)),
            found(piece("b"), retrieval=Retrieval(rerank=healthy), pass_number=2, stage="rewritten"),
        ]
        traces = [rag_trace(facts[:3]), rag_trace(facts)]
        return [(trace or {}).get(name) for trace in traces for name in ("rerank_endpoint", "rerank_error")]

    assert figures_of("strict") == ["http://r", "HTTP 500: key k"] * 2
    assert figures_of("improved") == ["", "http_500", "", None]


def test_the_evidence_of_an_earlier_pass_that_the_grading_kept_is_the_current_one() -> None:
    facts: list[Fact] = [
        asked(),
        planned(),
        found(piece("a")),
        graded("rewrite"),
        QueryRewritten(method="hyde", query="q\n\nd", text="d"),
        found(piece("b"), pass_number=2, stage="rewritten"),
        graded("answer", pass_number=2, kept_pass=1),
    ]
    trace = rag_trace(facts)
    assert trace is not None
    assert texts(trace, "retrieved_chunks") == texts(trace, "initial_retrieved_chunks") == ["a"]
    assert texts(trace, "rewrite_retrieved_chunks") == ["b"]
    assert (trace["hyde_document"], trace["rewritten_query"]) == ("d", "q\n\nd")


@pytest.mark.parametrize(("mode", "options"), [("strict", ["one"]), ("improved", [])])
def test_options_stand_where_a_person_is_asked(mode: Mode, options: list[str]) -> None:
    told: list[Fact] = [asked(), planned(mode=mode), found(piece("a")), graded("answer", options=("one",))]
    assert (rag_trace(told) or {})["hitl_options"] == options


def test_a_pause_is_told_in_the_words_that_a_person_read() -> None:
    facts: list[Fact] = [
        asked(),
        planned(),
        found(piece("a")),
        graded("clarify"),
        pause(prompt="which?", options=("x", "y")),
    ]
    trace = rag_trace(facts)
    assert trace is not None
    assert (trace["hitl_prompt"], trace["hitl_options"]) == ("which?", ["x", "y"])
    assert trace["retrieved_chunks"] == []
    assert ragtrace_facts.resume_state(facts) == {
        "question": "q",
        "route": "clarify",
        "retrieval_status": "needs_clarification",
        "rewrite_count": 0,
        "complexity": "simple",
        "complexity_reason": "r",
        "sub_questions": [],
    }
    cancelled = AnswerWritten(outcome="cancelled", text="")
    assert ragtrace_facts.resume_state([*facts, TicketCancelled(ticket="t"), cancelled]) is None


def test_what_an_exhausted_budget_falls_back_on_is_the_current_evidence() -> None:
    spent = BudgetExhausted(budget="rounds", spent=3, route="answer", status="partial", resolved_by="W02")
    facts: list[Fact] = [asked(), planned(), found(piece("a", rank=3)), graded("clarify"), spent]
    trace = rag_trace(facts)
    assert trace is not None
    assert texts(trace, "retrieved_chunks") == ["a"]
    assert (trace["route"], trace["retrieval_status"]) == ("answer", "partial")
    assert trace["evidence_reason"] == "round_budget_exhausted"
    assert ragtrace_facts.resume_state(facts) is None
    assert [each["number"] for each in ext(facts)["evidence"]] == [1]


def complex_run() -> list[Fact]:
    """Two parts: the first is answered, the second waits for a person."""
    return [
        asked(),
        planned(complexity="complex", parts=("one", "two")),
        found(piece("a", rank=1), piece("b", rank=2), part=1, query="one"),
        found(piece("c"), part=2, query="two"),
        graded("answer", part=1),
        graded("clarify", part=2),
        joined("answer", (1, 2), gaps=(Gap(part=2, question="two", code="needs_clarification"),)),
    ]


def test_parts_keep_the_ranks_that_they_saw() -> None:
    trace = rag_trace(complex_run())
    assert trace is not None
    assert [(each["text"], each["rrf_rank"]) for each in trace["retrieved_chunks"]] == [("b", 1)]
    one, two = trace["sub_traces"]
    assert [each["rrf_rank"] for each in one["retrieved_chunks"]] == [1, 2]
    assert (one["query"], two["query"], two["route"]) == ("one", "two", "clarify")
    assert trace["sub_agent_count"] == 2


def test_a_part_that_was_not_graded_has_no_grade() -> None:
    facts = [*complex_run()[:5], graded("no_knowledge", part=2, failure="model-failed"), joined("answer")]
    trace = rag_trace(facts)
    assert trace is not None
    two = trace["sub_traces"][1]
    assert "evidence_confidence" not in two
    assert two["evidence_reason"] == "model-failed"


def test_a_whole_that_never_came_together_shows_its_parts() -> None:
    trace = rag_trace(complex_run()[:5])
    assert trace is not None
    assert (trace["query"], trace["sub_questions"]) == ("q", ["one", "two"])
    assert [part.get("route") for part in trace["sub_traces"]] == ["answer", None]
    assert "route" not in trace


def test_only_the_part_that_waited_begins_anew() -> None:
    facts = [
        *complex_run()[:6],
        joined("clarify", asks="which?"),
        pause(questions=(PartQuestion(part=2, question="two"),)),
        RunResumed(
            ticket="t",
            answer=" x ",
            from_route="clarify",
            from_status="needs_clarification",
            questions=(PartQuestion(part=2, question="x：two"),),
        ),
        found(piece("d"), part=2, pass_number=2, query="x：two", stage="hitl_targeted_retrieval"),
        graded("answer", part=2, pass_number=2),
        joined("answer", (1, 1), (2, 1)),
    ]
    trace = rag_trace(facts)
    assert trace is not None
    one, two = trace["sub_traces"]
    assert (two["query"], two["hitl_answer"], texts(two, "retrieved_chunks")) == ("x：two", " x ", ["d"])
    assert "hitl_resumed" not in one
    assert texts(one, "initial_retrieved_chunks") == ["a", "b"]
    assert texts(trace, "retrieved_chunks") == ["a", "d"]
    assert (trace["query"], trace["retrieval_stage"], trace["route"]) == ("q", "synthesis", "answer")
    assert {name: trace[name] for name in trace if name.startswith("hitl_")} == {
        "hitl_prompt": "",
        "hitl_options": [],
        "hitl_resumed": True,
        "hitl_answer": " x ",
        "hitl_resume_strategy": "targeted_retrieval",
        "hitl_resume_from_status": "needs_clarification",
        "hitl_resume_from_route": "clarify",
    }


def test_a_piece_that_two_parts_found_has_the_better_score() -> None:
    dense = Evidence(chunk_id="s", filename="a.pdf", text="s", rank=1, dense_score=0.4)
    better = dense.model_copy(update={"dense_score": 0.7})
    nothing = dense.model_copy(update={"dense_score": None})
    for first, again, score in (
        (dense, better, 0.7),
        (piece("s", score=0.03), piece("s", score=0.05), 0.05),
        (nothing, nothing, None),
    ):
        facts = [
            *complex_run()[:2],
            found(first, part=1),
            found(again, part=2),
            graded("answer", part=1),
            graded("answer", part=2),
            joined("answer", (1, 1)),
        ]
        assert (rag_trace(facts) or {})["retrieved_chunks"][0].get("score") == score


def test_the_better_reranking_counts_before_the_better_recall() -> None:
    reranked = piece("s", score=0.01).model_copy(update={"rerank_score": 0.9})
    facts = [
        *complex_run()[:2],
        found(piece("s", score=0.05), part=1),
        found(reranked, part=2),
        graded("answer", part=1),
        graded("answer", part=2),
        joined("answer", (1, 1)),
    ]
    (shown,) = (rag_trace(facts) or {})["retrieved_chunks"]
    assert (shown["score"], shown["rerank_score"]) == (0.05, 0.9)


def test_an_origin_that_lies_nowhere_is_not_shown_and_moves_no_other() -> None:
    trace = rag_trace([*complex_run()[:6], joined("answer", (1, 9), (3, 1), (1, 2))])
    assert trace is not None
    assert [(each["text"], each["rrf_rank"]) for each in trace["retrieved_chunks"]] == [("b", 3)]


def test_parts_that_say_something_are_what_a_run_falls_back_on() -> None:
    spent = BudgetExhausted(budget="rounds", spent=3, route="answer", status="partial", resolved_by="W02")
    nothing = graded("no_knowledge", part=1)
    silent = nothing.model_copy(update={"grade": nothing.grade.model_copy(update={"relevance": "none"})})
    facts: list[Fact] = [*complex_run()[:4], silent, graded("clarify", part=2), joined("clarify"), spent]
    assert texts(rag_trace(facts) or {}, "retrieved_chunks") == ["c"]
    assert [each["chunk_id"] for each in ext(facts)["evidence"] if each["number"]] == ["c"]


def texts(trace: dict[str, Any], name: str) -> list[str]:
    return [each["text"] for each in trace[name]]
