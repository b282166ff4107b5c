"""Which search a chunk came into an answer by, where several had it; and what is said of the chunks that did not."""

from __future__ import annotations

import time

from clew_schema.evidence import Citation, CitationCheck, Claim, Evidence, Grade, Relevance
from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    Origin,
    PartsJoined,
    RunPaused,
    TicketCancelled,
)
from clew_translators.why import why
from clew_translators.why_rejected import rejected

A, B, C = (
    Evidence(chunk_id=f"urn:chunk:{name}", document_id="urn:doc:1", filename="a.md", text=f"{name}.", rank=1)
    for name in "ABC"
)
URI = "urn:trustgraph:docrag:s"


def found(part: int, number: int, *evidence: Evidence) -> EvidenceRetrieved:
    return EvidenceRetrieved(part=part, pass_number=number, query=f"q{part}.{number}", evidence=evidence)


def graded(part: int, number: int, relevance: Relevance, *, kept: int = 0) -> EvidenceGraded:
    good = relevance == "strong"
    return EvidenceGraded(
        part=part,
        pass_number=number,
        grade=Grade(
            relevance=relevance,
            answerability="sufficient" if good else "partial" if relevance == "weak" else "none",
            route="answer",
        ),
        route="answer" if good else "rewrite" if relevance == "weak" else "no_knowledge",
        status="answerable" if good else "needs_rewrite" if relevance == "weak" else "no_knowledge",
        resolved_by=f"rule-{part}.{number}",
        kept_pass=kept,
    )


def written(*cited: Evidence, omitted: int = 0) -> AnswerWritten:
    text = " ".join(f"S{number} [{number}]." for number in range(1, len(cited) + 1))
    citations = tuple(Citation(number=n, chunk_id=each.chunk_id) for n, each in enumerate(cited, 1))
    claims = tuple(
        Claim(number=n, start=0, end=6, verdict="supported", citations=(n,)) for n in range(1, len(cited) + 1)
    )
    return AnswerWritten(outcome="answer", text=text, citations=citations, claims=claims, omitted=omitted)


SPENT = BudgetExhausted(
    budget="rewrites", spent=1, route="answer", status="partial", resolved_by="W01-rewrite-budget-exhausted"
)


def passes(facts: tuple[Fact, ...]) -> list[tuple[str, int, int, str]]:
    return [
        (one.chunk, one.found_in.part, one.found_in.number, one.found_in.let_in)
        for sentence in why(facts, URI).sentences
        for one in sentence.supports
        if one.found_in
    ]


def reasons(facts: tuple[Fact, ...]) -> dict[str, tuple[str, int, int, str]]:
    told = rejected(facts)
    assert len(told) == len({one.chunk for one in told})
    return {one.chunk: (one.stage, one.part, one.pass_number, one.reason) for one in told}


def test_a_chunk_of_two_parts_came_in_by_the_one_that_was_accepted() -> None:
    joined = PartsJoined(
        origins=(Origin(part=1, place=1), Origin(part=1, place=2)),
        route="answer",
        status="partial",
        relevance="strong",
        answerability="partial",
        resolved_by="S02-partial",
    )
    facts = (
        found(1, 1, A, B), found(2, 1, A, B, C), graded(1, 1, "strong"), graded(2, 1, "none"), joined, written(A),
    )  # fmt: skip
    assert passes(facts) == [(A.chunk_id, 1, 1, "")]
    assert reasons(facts) == {
        B.chunk_id: ("answer", 1, 1, "it was read, and no sentence cites it"),
        C.chunk_id: ("decision", 2, 1, "its pass was decided to be no_knowledge (rule-2.1)"),
    }


def test_what_was_answered_from_for_want_of_better_was_read() -> None:
    facts = (found(0, 1, A, B), graded(0, 1, "weak"), SPENT, written(A))
    assert passes(facts) == [(A.chunk_id, 0, 1, "W01-rewrite-budget-exhausted")]
    assert reasons(facts) == {B.chunk_id: ("answer", 0, 1, "it was read, and no sentence cites it")}


def test_the_pass_that_was_kept_and_the_one_that_was_not() -> None:
    facts = (
        found(0, 1, A, B), graded(0, 1, "weak"), found(0, 2, A, B, C), graded(0, 2, "none", kept=1), written(A),
    )  # fmt: skip
    assert passes(facts) == [(A.chunk_id, 0, 1, "rule-0.2")]
    assert reasons(facts) == {
        B.chunk_id: ("answer", 0, 1, "it was read, and no sentence cites it"),
        C.chunk_id: ("decision", 0, 2, "pass 1 said more, so this pass was dropped (rule-0.2)"),
    }


def test_of_two_passes_of_which_the_first_said_less_the_second_was_read() -> None:
    facts = (found(0, 1, A, C), graded(0, 1, "weak"), found(0, 2, A, B), graded(0, 2, "strong"), written(A))
    assert passes(facts) == [(A.chunk_id, 0, 2, "")]
    assert reasons(facts)[C.chunk_id] == (
        "decision", 0, 1, "its pass was decided to be needs_rewrite (rule-0.1)",
    )  # fmt: skip


def test_what_may_not_have_fitted_is_not_said_to_have_been_read() -> None:
    facts = (found(0, 1, A, B, C), graded(0, 1, "strong"), written(A, omitted=1))
    reason = "no sentence cites it, and 1 of what was found did not fit into what the writer reads"
    assert {told[3] for told in reasons(facts).values()} == {reason}


def test_an_answer_that_nothing_is_known_read_nothing() -> None:
    nothing = AnswerWritten(outcome="no_knowledge", text="Nothing is known.")
    facts = (found(0, 1, A), graded(0, 1, "none"), nothing)
    assert reasons(facts)[A.chunk_id][0] == "decision"


def test_a_run_that_waits_and_one_that_was_withdrawn_have_ended_so() -> None:
    paused = RunPaused(ticket="t", route="clarify", status="needs_clarification", prompt="Which?")
    assert why((found(0, 1, A), graded(0, 1, "weak"), paused), URI).outcome == "needs_clarification"
    assert why((paused, TicketCancelled(ticket="t", person="ann")), URI).outcome == "cancelled"


def test_a_sentence_that_repeats_one_of_the_quotes_of_its_number_rests_on_that_one() -> None:
    answer = written(A, A).model_copy(
        update={
            "text": "B is. [1] A is. [1] Both. [1]",
            "citations": tuple(Citation(number=1, chunk_id=A.chunk_id, quote=q) for q in ("A  is.", "B is.")),
            "claims": tuple(
                Claim(number=n, start=s, end=e, verdict="supported", citations=(1,))
                for n, s, e in ((1, 0, 9), (2, 10, 19), (3, 20, 29))
            ),
        }
    )
    told = why((found(0, 1, A), graded(0, 1, "strong"), answer), URI)
    quotes = [[support.quote for support in sentence.supports] for sentence in told.sentences]
    assert quotes == [["B is."], ["A  is."], ["A  is.", "B is."]]


def test_a_thousand_sentences_with_ten_sources_each_are_explained_in_linear_time() -> None:
    """With every citation looked up among all of them, four times the sentences take sixteen times as long."""

    def taken(count: int) -> float:
        evidence = tuple(A.model_copy(update={"chunk_id": f"urn:chunk:{n}"}) for n in range(count))
        numbers = [tuple((n + more) % count + 1 for more in range(10)) for n in range(count)]
        claims = tuple(
            Claim(number=n + 1, start=n * 2, end=n * 2 + 1, verdict="supported", citations=numbers[n])
            for n in range(count)
        )
        checks = tuple(
            CitationCheck(number=number, start=n * 2, end=n * 2 + 1, verdict="supported")
            for n in range(count)
            for number in numbers[n]
        )
        citations = tuple(Citation(number=n, chunk_id=one.chunk_id) for n, one in enumerate(evidence, 1))
        answer = AnswerWritten(
            outcome="answer", text="x " * count, citations=citations, claims=claims, checks=checks
        )
        facts = (found(0, 1, *evidence), graded(0, 1, "strong"), answer)
        began = time.process_time()
        told = why(facts, URI)
        assert sum(len(sentence.supports) for sentence in told.sentences) == count * 10
        return time.process_time() - began

    taken(10)
    assert taken(1000) < 10 * taken(250)
