"""Runs that take a course of their own: a rewritten question; parts, one of which waits for a person."""

from clew_schema.evidence import CitationCheck, Grade
from clew_schema.facts import (
    BudgetExhausted,
    Fact,
    Gap,
    Origin,
    PartQuestion,
    PartsJoined,
    QueryRewritten,
    QuestionPlanned,
    RunPaused,
    RunResumed,
    TicketCancelled,
)
from tests.translators.runs import (
    ANSWERED,
    ASKED,
    CHUNKS,
    CITATION,
    EVIDENCE,
    FAILED,
    GRADED,
    RETRIEVED,
    at,
    told,
)

# --- a question that is rewritten: its answer rests on the first pass after all -------------------

PLANNED = QuestionPlanned(
    complexity="simple", reason="one question", resolved_by="fast_path", **at("document-rag.plan", 0)
)
WEAK = Grade(relevance="weak", answerability="partial", route="rewrite", confidence=0.5)
REWRITE = GRADED.model_copy(
    update={
        "grade": WEAK,
        "route": "rewrite",
        "status": "needs_rewrite",
        "prompt_version": "p1",
        "omitted": 2,
        "truncated": 1,
    }
)
REWRITTEN = QueryRewritten(
    method="step_back",
    query="What is the return policy?\nreturn policy days",
    text="return policy days",
    rewriter="m1",
    prompt_version="p2",
    **at("document-rag.decide", 2),
)
AGAIN = RETRIEVED.model_copy(
    update={"query": "return policy days", "pass_number": 2, "stage": "rewritten", "evidence": EVIDENCE[1:]}
    | at("document-rag.decide", 2)
)
KEPT = GRADED.model_copy(
    update={"pass_number": 2, "grade": WEAK, "status": "partial", "kept_pass": 1, **at("grading.grade", 3)}
)
SPENT = BudgetExhausted(
    budget="rewrites",
    spent=1,
    route="answer",
    status="partial",
    resolved_by="R9",
    **at("document-rag.decide", 4),
)
CHECKED = ANSWERED.model_copy(
    update={
        "outcome": "partial",
        "text": "Within 30 days [1]. For free [2].",
        "citations": (CITATION, CITATION.model_copy(update={"number": 2, "chunk_id": CHUNKS[1]})),
        "checks": (
            CitationCheck(number=1, start=0, end=18, verdict="supported", lexical=0.75, similarity=0.5),
            CitationCheck(
                number=2, start=19, end=32, verdict="misattributed", lexical=0.25, quoted=False, better=1
            ),
        ),
        "coverage": 0.5,
        "gaps": ("Who pays?",),
        "omitted": 1,
        "prompt_version": "p3",
        **at("document-rag.decide", 4),
    }
)
REWRITTEN_STEPS: tuple[tuple[Fact, ...], ...] = (
    (ASKED, PLANNED, RETRIEVED),
    (REWRITE,),
    (REWRITTEN, AGAIN),
    (KEPT,),
    (SPENT, CHECKED),
)

# --- a question of two parts, one of which a person must make clear -------------------------------

PARTS = ("What is the return policy?", "Who pays for shipping?")
SPLIT = QuestionPlanned(
    complexity="complex",
    parts=PARTS,
    dropped=1,
    resolved_by="planner",
    planner="m1",
    prompt_version="p0",
    **at("document-rag.plan", 0),
)
FIRST = RETRIEVED.model_copy(update={"part": 1, "evidence": EVIDENCE[:1]})
SECOND = RETRIEVED.model_copy(update={"part": 2, "query": PARTS[1], "evidence": EVIDENCE[1:]})
FIRST_GRADED = GRADED.model_copy(update={"part": 1})
UNCLEAR = GRADED.model_copy(
    update={
        "part": 2,
        "grade": Grade(
            relevance="weak",
            answerability="none",
            ambiguity="missing_slot",
            route="clarify",
            missing_slots=("country", "carrier"),
        ),
        "route": "clarify",
        "status": "needs_clarification",
        "asks": "To which country?",
    }
)
JOINED = PartsJoined(
    origins=(Origin(part=1, place=1),),
    merged_count=1,
    route="clarify",
    status="needs_clarification",
    relevance="strong",
    answerability="partial",
    resolved_by="J2",
    asks="To which country?",
    options=("Austria", "elsewhere"),
    gaps=(Gap(part=2, question=PARTS[1], code="needs_clarification"),),
    **at("document-rag.decide", 2),
)
PAUSED = RunPaused(
    ticket="t-1",
    route="clarify",
    status="needs_clarification",
    prompt="To which country?",
    options=("Austria", "elsewhere"),
    questions=(PartQuestion(part=2, question=PARTS[1]),),
    expires_at="2026-02-01T12:00:02.000000Z",
    **at("document-rag.decide", 2),
)
RESUMED = RunResumed(
    ticket="t-1",
    answer="Austria",
    from_route="clarify",
    from_status="needs_clarification",
    questions=(PartQuestion(part=2, question="Who pays for shipping to Austria?"),),
    **at("document-rag.resume", 30),
)
TARGETED = SECOND.model_copy(
    update={
        "pass_number": 2,
        "stage": "hitl_targeted_retrieval",
        "query": "Who pays for shipping to Austria?",
        **at("document-rag.resume", 30),
    }
)
CLEAR = GRADED.model_copy(update={"part": 2, "pass_number": 2, **at("grading.grade", 31)})
JOINED_AGAIN = JOINED.model_copy(
    update={
        "origins": (Origin(part=1, place=1), Origin(part=2, place=1)),
        "merged_count": 2,
        "route": "answer",
        "status": "answerable",
        "answerability": "sufficient",
        "asks": "",
        "options": (),
        "gaps": (),
        **at("document-rag.decide", 32),
    }
)
LAST = ANSWERED.model_copy(update=at("document-rag.decide", 32))
PAUSED_STEPS: tuple[tuple[Fact, ...], ...] = (
    (ASKED, SPLIT, FIRST, SECOND),
    (FIRST_GRADED, UNCLEAR),
    (JOINED, PAUSED),
)
RESUMED_STEPS: tuple[tuple[Fact, ...], ...] = (
    *PAUSED_STEPS,
    (RESUMED, TARGETED),
    (CLEAR,),
    (JOINED_AGAIN, LAST),
)
CANCELLED = TicketCancelled(ticket="t-1", **at("document-rag.resume", 40))
CANCELLED_STEPS: tuple[tuple[Fact, ...], ...] = (*PAUSED_STEPS, (CANCELLED,))
FAILED_RESUME = FAILED.model_copy(update=at("grading.grade", 31))

REWRITTEN_BATCHES = told(REWRITTEN_STEPS)
RESUMED_BATCHES = told(RESUMED_STEPS)
CANCELLED_BATCHES = told(CANCELLED_STEPS)
