"""Why a run answered as it did: from each sentence back to the span, the chunk, its grade, the pass and the question.

A pure function over the facts of a run (:func:`clew_translators.explain.facts.facts_of` gives them back from a trace).
It says what the facts say and concludes nothing of its own; what they do not tell is empty or null.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from clew_schema.facts import (
    AnswerWritten,
    BudgetExhausted,
    Concluded,
    EvidenceGraded,
    PartsJoined,
    QuestionAsked,
    QuestionPlanned,
    RunFailed,
    RunPaused,
    TicketCancelled,
)
from clew_translators import why_agent, why_people, why_rejected
from clew_translators.why_basis import basis
from clew_translators.why_claims import claims_of_checks, repeated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.evidence import Citation, CitationCheck, Evidence
    from clew_schema.facts import EvidenceRetrieved, Fact
    from clew_translators.why_agent import Iteration
    from clew_translators.why_basis import Basis
    from clew_translators.why_people import Exchange
    from clew_translators.why_rejected import Rejection


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One search and what was decided about it: the way by which a chunk came into the answer.

    ``let_in`` is the rule by which it was answered from although its own ``route`` is another.
    """

    part: int
    number: int
    query: str
    stage: str = ""
    relevance: str = ""
    answerability: str = ""
    route: str = ""
    rule: str = ""
    reason: str = ""
    grader: str = ""
    prompt_version: str = ""
    let_in: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """A citation in a sentence: what was found about it, where the quoted span stands, and how its chunk got here.

    ``verdict`` is ``""`` where it was not checked. ``chunk_grade`` is what the grader thought of that chunk alone.
    ``quote_sha256`` is of the quote in UTF-8, so that whoever has the document can tell whether it still says so.
    """

    number: int
    verdict: str = ""
    lexical: float | None = None
    similarity: float | None = None
    quoted: bool | None = None
    better: int = 0
    quote: str = ""
    quote_sha256: str = ""
    filename: str = ""
    document: str = ""
    version: str = ""
    page: int = 0
    start: int = 0
    end: int = 0
    chunk: str = ""
    rank: int = 0
    scores: tuple[tuple[str, float], ...] = ()
    chunk_grade: str = ""
    chunk_reason: str = ""
    found_in: Pass | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of the answer that states something, and what it cites. ``number`` counts from 1."""

    number: int
    text: str
    verdict: str
    uri: str = ""
    supports: tuple[Support, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """A run, explained. ``answer`` is its text, ``outcome`` how it ended (``failed``: without one; ``""``: not yet).

    A run that waits for a person has the status in which it waits as its outcome, a withdrawn one ``cancelled``.
    ``iterations`` are an agent's; ``exchanges`` are questions to a person; ``limits`` what the run might not do again.
    """

    uri: str
    question: str = ""
    asked_by: str = ""
    asked_at: str = ""
    mode: str = ""
    complexity: str = ""
    parts: tuple[str, ...] = ()
    outcome: str = ""
    answer: str = ""
    writer: str = ""
    prompt_version: str = ""
    coverage: float | None = None
    decided_by: str = ""
    gaps: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    iterations: tuple[Iteration, ...] = ()
    failure: str = ""
    tools: Mapping[str, Why] = field(default_factory=dict)


def why(facts: Sequence[Fact], uri: str, tools: Mapping[str, Why] | None = None) -> Why:
    """The run ``uri`` explained from its ``facts``; ``tools`` are the runs of its tools, by their URIs."""
    asked = next((fact for fact in facts if isinstance(fact, QuestionAsked)), None)
    planned = next((fact for fact in facts if isinstance(fact, QuestionPlanned)), None)
    written = next((fact for fact in reversed(facts) if isinstance(fact, AnswerWritten)), None)
    concluded = next((fact for fact in reversed(facts) if isinstance(fact, Concluded)), None)
    failed = facts[-1] if facts and isinstance(facts[-1], RunFailed) else None
    rests = basis(facts)
    return Why(
        uri=uri,
        question=asked.query if asked else "",
        asked_by=asked.person if asked else "",
        asked_at=asked.started_at if asked else "",
        mode=planned.mode if planned else "",
        complexity=planned.complexity if planned else "",
        parts=(planned.parts or ()) if planned else (),
        outcome=_outcome(facts[-1], written, concluded) if facts else "",
        answer=written.text if written else concluded.answer if concluded else "",
        writer=(written.model or written.writer) if written else "",
        prompt_version=written.prompt_version if written else "",
        coverage=written.coverage if written else None,
        decided_by=_decided_by(facts),
        gaps=written.gaps if written else (),
        limits=tuple(
            f"{fact.budget}: {fact.spent} spent" for fact in facts if isinstance(fact, BudgetExhausted)
        ),
        sentences=_sentences(written, rests, f"{uri}/synthesis") if written else (),
        rejected=why_rejected.rejected(facts, rests),
        exchanges=why_people.exchanges(facts),
        iterations=why_agent.iterations(facts),
        failure=f"{failed.error_type}: {failed.message}" if failed else "",
        tools=dict(tools or {}),
    )


def _outcome(last: Fact, written: AnswerWritten | None, concluded: Concluded | None) -> str:
    match last:
        case RunFailed():
            return "failed"
        case RunPaused():
            return last.status
        case TicketCancelled():
            return "cancelled"
        case _:
            return written.outcome if written else concluded.reason if concluded else ""


def _decided_by(facts: Sequence[Fact]) -> str:
    """The rule of the last decision before the run ended."""
    rules = [
        fact.resolved_by for fact in facts if isinstance(fact, EvidenceGraded | PartsJoined | BudgetExhausted)
    ]
    return rules[-1] if rules else ""


def _sentences(written: AnswerWritten, rests: Basis, answer: str) -> tuple[Sentence, ...]:
    claims = written.claims or claims_of_checks(written)
    checks = {(check.start, check.end, check.number): check for check in reversed(written.checks)}
    cited: dict[int, list[Citation]] = {}
    for citation in written.citations:
        cited.setdefault(citation.number, []).append(citation)
    return tuple(
        Sentence(
            number=claim.number,
            text=written.text[claim.start : claim.end],
            verdict=claim.verdict,
            uri=f"{answer}/claim/{claim.number}" if written.claims else "",
            supports=tuple(
                support
                for number in claim.citations
                for support in _supports(
                    number,
                    checks.get((claim.start, claim.end, number)),
                    repeated(cited.get(number, ()), written.text[claim.start : claim.end]),
                    rests,
                )
            ),
        )
        for claim in claims
    )


def _supports(
    number: int, check: CitationCheck | None, cited: Sequence[Citation], rests: Basis
) -> tuple[Support, ...]:
    """What ``[number]`` of a claim stands for: one span, several of one chunk, or nothing that there is."""
    told = Support(
        number=number,
        verdict=check.verdict if check else "",
        lexical=check.lexical if check else None,
        similarity=check.similarity if check else None,
        quoted=check.quoted if check else None,
        better=check.better if check else 0,
    )
    return tuple(_located(told, citation, rests) for citation in cited) or (told,)


def _located(told: Support, citation: Citation, rests: Basis) -> Support:
    found = rests.found.get(citation.chunk_id)
    grades = found.graded.grade.chunks if found and found.graded else ()
    opinion = next((c for c in grades if found and c.place == found.number), None)
    return replace(
        told,
        quote=citation.quote,
        quote_sha256=sha256(citation.quote.encode("utf-8", "surrogatepass")).hexdigest(),
        filename=citation.filename,
        document=citation.document_id,
        version=citation.version,
        page=citation.page,
        start=citation.start,
        end=citation.end,
        chunk=citation.chunk_id,
        rank=found.evidence.rank if found else 0,
        scores=_scores(found.evidence) if found else (),
        chunk_grade=opinion.relevance if opinion else "",
        chunk_reason=opinion.reason if opinion else "",
        found_in=_pass(found.retrieved, found.graded, rests) if found else None,
    )


def _pass(retrieved: EvidenceRetrieved, graded: EvidenceGraded | None, rests: Basis) -> Pass:
    return Pass(
        part=retrieved.part,
        number=retrieved.pass_number,
        query=retrieved.query,
        stage=retrieved.stage,
        relevance=graded.grade.relevance if graded else "",
        answerability=graded.grade.answerability if graded else "",
        route=graded.route if graded else "",
        rule=graded.resolved_by if graded else "",
        reason=graded.grade.reason if graded else "",
        grader=graded.grader if graded else "",
        prompt_version=graded.prompt_version if graded else "",
        let_in=rests.let_in.get((retrieved.part, retrieved.pass_number), ""),
    )


def _scores(evidence: Evidence) -> tuple[tuple[str, float], ...]:
    named = {
        "dense": evidence.dense_score,
        "bm25": evidence.bm25_score,
        "fused": evidence.fused_score,
        "rerank": evidence.rerank_score,
    }
    return tuple((name, score) for name, score in named.items() if score is not None)
