"""From a sentence back to the question: what a reader needs to judge an answer, and nothing that was not told."""

from hashlib import sha256

from clew_schema.evidence import ChunkGrade, Claim, Rejected, Rerank, Retrieval
from clew_schema.facts import (
    Concluded,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    QuestionAsked,
    RunFailed,
    RunResumed,
    TicketCancelled,
    ToolChosen,
)
from clew_translators.explain import question_uri
from clew_translators.explain.facts import facts_of
from clew_translators.why import why
from clew_translators.why_rejected import Rejection, rejected
from tests.translators import courses, runs

URI = question_uri(runs.SESSION, "document-rag")
RUN = tuple(fact for step in runs.DOCUMENT_STEPS for fact in step)
REWRITTEN = tuple(fact for step in courses.REWRITTEN_STEPS for fact in step)
RESUMED = tuple(fact for step in courses.RESUMED_STEPS for fact in step)


def with_(facts: tuple[Fact, ...], kind: type, **update: object) -> tuple[Fact, ...]:
    return tuple(f.model_copy(update=update) if isinstance(f, kind) else f for f in facts)


def test_a_sentence_leads_back_to_its_span_its_chunk_its_grade_its_pass_and_the_question() -> None:
    first, second = why(REWRITTEN, URI).sentences
    assert (first.number, first.text, first.verdict) == (1, "Within 30 days [1]", "supported")
    (support,) = first.supports
    assert (support.number, support.verdict, support.lexical, support.similarity) == (
        1,
        "supported",
        0.75,
        0.5,
    )
    assert (support.filename, support.version, support.page, support.start, support.end) == (
        "returns.pdf", "3", 3, 120, 156,
    )  # fmt: skip
    assert support.quote_sha256 == sha256(support.quote.encode()).hexdigest()
    assert (support.chunk, support.rank, dict(support.scores)["dense"]) == (runs.CHUNKS[0], 1, 0.87)
    assert support.found_in is not None
    assert (support.found_in.part, support.found_in.number) == (0, 1)
    assert (support.found_in.relevance, support.found_in.route) == ("weak", "rewrite")
    assert (second.verdict, second.supports[0].verdict, second.supports[0].better) == (
        "misattributed", "misattributed", 1,
    )  # fmt: skip


def test_a_sentence_that_cites_nothing_is_there_too_and_says_so() -> None:
    claims = (
        Claim(number=1, start=0, end=19, verdict="supported", citations=(1,)),
        Claim(number=2, start=20, end=33, verdict="uncited"),
    )
    told = why(with_(REWRITTEN, type(courses.CHECKED), claims=claims), URI)
    assert [(s.text, s.verdict, len(s.supports)) for s in told.sentences] == [
        ("Within 30 days [1].", "supported", 1),
        ("For free [2].", "uncited", 0),
    ]
    assert told.sentences[1].uri == f"{URI}/synthesis/claim/2"


def test_a_citation_of_nothing_is_shown_as_such() -> None:
    claims = (Claim(number=1, start=0, end=19, verdict="unsupported", citations=(9,)),)
    ((sentence),) = why(with_(REWRITTEN, type(courses.CHECKED), claims=claims), URI).sentences
    (support,) = sentence.supports
    assert (support.number, support.chunk, support.found_in) == (9, "", None)


def test_what_the_grader_said_of_a_chunk_stands_with_it() -> None:
    grade = runs.GRADED.grade.model_copy(
        update={"chunks": (ChunkGrade(place=1, relevance="strong", reason="names the days"),)}
    )
    support = why(with_(REWRITTEN, EvidenceGraded, grade=grade), URI).sentences[0].supports[0]
    assert (support.chunk_grade, support.chunk_reason) == ("strong", "names the days")


def left_out(*one: Rejected, threshold: float = 0.0) -> EvidenceRetrieved:
    retrieval = Retrieval(top_k=2, rerank=Rerank(minimum_score=threshold))
    return EvidenceRetrieved(query="q", rejected=one, retrieval=retrieval)


def test_what_the_search_left_out_has_its_reason() -> None:
    facts = (
        left_out(
            Rejected(chunk_id="a", reason="below-threshold", rerank_score=0.125),
            Rejected(chunk_id="b", reason="beyond-limit"),
            Rejected(chunk_id="c", reason="merged-into-parent", into="p"),
            Rejected(chunk_id="d", reason="duplicate"),
            threshold=0.5,
        ),
    )
    assert [(r.chunk, r.stage, r.reason) for r in rejected(facts)] == [
        ("a", "retrieval", "its score 0.125 is below the threshold 0.5"),
        ("b", "retrieval", "more than 2 were found, and others ranked higher"),
        ("c", "retrieval", "its parent stands for it: p"),
        ("d", "retrieval", "the same text was found in another chunk"),
    ]


def test_what_the_grader_found_irrelevant_and_what_nobody_cited() -> None:
    grade = runs.GRADED.grade.model_copy(
        update={"chunks": (ChunkGrade(place=2, relevance="none", reason="about shipping"),)}
    )
    (one,) = rejected(with_(RUN, EvidenceGraded, grade=grade, grader="m1"))
    assert (one.chunk, one.stage, one.reason) == (
        runs.CHUNKS[1], "grading", "m1 found it irrelevant: about shipping; it was read, and no sentence cites it",
    )  # fmt: skip
    (unused,) = rejected(RUN)
    assert (unused.chunk, unused.stage, unused.reason) == (
        runs.CHUNKS[1], "answer", "it was read, and no sentence cites it",
    )  # fmt: skip


def test_a_pass_that_was_dropped_takes_its_chunks_with_it_unless_they_are_cited() -> None:
    cited_first_only = with_(
        REWRITTEN, type(courses.CHECKED), citations=(runs.CITATION,), checks=courses.CHECKED.checks[:1]
    )
    (one,) = rejected(cited_first_only)
    assert (one.chunk, one.stage, one.pass_number) == (runs.CHUNKS[1], "answer", 1), "pass 1 had it, too"
    only = runs.EVIDENCE[1].model_copy(update={"chunk_id": "urn:chunk:only"})
    second = tuple(
        fact.model_copy(update={"evidence": (only,)})
        if isinstance(fact, EvidenceRetrieved) and fact.pass_number == 2
        else fact
        for fact in cited_first_only
    )
    one = rejected(second)[-1]
    assert one == Rejection(
        chunk="urn:chunk:only",
        stage="decision",
        reason=f"pass 1 said more, so this pass was dropped ({courses.KEPT.resolved_by})",
        part=0,
        pass_number=2,
        filename="returns.pdf",
        page=runs.EVIDENCE[1].page,
        text=runs.EVIDENCE[1].text,
    )
    assert rejected(REWRITTEN) == ()


def test_nothing_is_called_uncited_while_there_is_no_answer() -> None:
    assert rejected(RUN[:-1]) == ()


def test_what_a_person_was_asked_said_and_changed() -> None:
    exchange = why(RESUMED, URI).exchanges[0]
    paused = next(f for f in RESUMED if f.kind == "run_paused")
    resumed = next(f for f in RESUMED if isinstance(f, RunResumed))
    assert (exchange.asked, exchange.reply) == (paused.prompt, resumed.answer)
    after = RESUMED[RESUMED.index(resumed) :]
    searched = [f for f in after if isinstance(f, EvidenceRetrieved)]
    assert exchange.searched == tuple(dict.fromkeys(f.query for f in searched))
    assert exchange.found == sum(len(f.evidence) for f in searched)
    assert exchange.status_before == paused.status


def test_a_question_that_waits_and_one_that_was_withdrawn() -> None:
    waits = RESUMED[: next(n for n, f in enumerate(RESUMED) if isinstance(f, RunResumed))]
    (exchange,) = why(waits, URI).exchanges
    assert (exchange.reply, exchange.cancelled, exchange.person) == (None, False, "")
    gone = (*waits, TicketCancelled(ticket=exchange.ticket, person="ann"))
    (exchange,) = why(gone, URI).exchanges
    assert (exchange.reply, exchange.cancelled, exchange.person) == (None, True, "ann")


def test_an_agent_and_the_run_of_its_tool() -> None:
    facts = tuple(fact for step in runs.AGENT_STEPS for fact in step)
    uri = question_uri(runs.AGENT_SESSION, "agent")
    tool = why(RUN, URI)
    told = why(with_(with_(facts, ToolChosen, uses=()), Concluded, uses=(1,)), uri, {URI: tool})
    *iterations, conclusion = told.iterations
    assert [one.number for one in iterations] == [f.number for f in facts if isinstance(f, ToolChosen)]
    assert URI in {one.trace for one in iterations}
    assert (conclusion.number, conclusion.uses) == (0, (1,))
    assert told.answer == next(f.answer for f in facts if isinstance(f, Concluded))
    assert told.tools[URI].sentences == tool.sentences


def test_a_run_that_failed_and_a_run_of_which_little_is_told() -> None:
    failed = RunFailed(mechanism="document-rag", error_type="model-failed", message="no answer")
    told = why((RUN[0], failed), URI)
    assert (told.outcome, told.failure, told.sentences) == ("failed", "model-failed: no answer", ())
    assert why((), URI).outcome == ""
    asked = QuestionAsked(mechanism="document-rag", query="Why?", person="ann")
    assert (why((asked,), URI).question, why((asked,), URI).asked_by) == ("Why?", "ann")


def test_a_failure_that_was_overcome_is_no_outcome() -> None:
    failed = RunFailed(mechanism="document-rag", error_type="model-failed", message="no answer")
    assert why((RUN[0], failed, *RUN[1:]), URI).outcome == "answer"


def test_it_reads_what_a_trace_gives_back() -> None:
    told = why(facts_of(runs.quads_of(courses.REWRITTEN_BATCHES)), URI)
    assert told.sentences == why(REWRITTEN, URI).sentences
    assert told.rejected == why(REWRITTEN, URI).rejected
