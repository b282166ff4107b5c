"""One question judged: what was retrieved for it, what was answered, and what was cited, against what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clew_services.core import metrics
from clew_services.core.sentences import language
from clew_services.evaluation.matching import holds_answer, holds_passage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew_schema.retrieval import DocumentRagResponse
    from clew_services.evaluation.cases import Case

ANSWERED = frozenset({"answer", "partial"})
"""The outcomes that tell the caller something; with the others nothing is claimed."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that was retrieved or quoted, and the name of the document that it is from."""

    filename: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A case, how its run ended, how long it took, and its figures by name; those that do not apply are absent.

    ``trace`` is the response's ``rag_trace``.
    """

    case: Case
    outcome: str
    seconds: float = 0.0
    error: str = ""
    figures: Mapping[str, float]
    trace: Mapping[str, Any] | None = None

    @property
    def language(self) -> str:
        """``en`` or ``zh``, by the question."""
        return language(self.case.question)


def rank(case: Case, pieces: Sequence[Piece]) -> tuple[list[frozenset[int]], int]:
    """Which targets of ``case`` each of ``pieces`` holds, and how many targets there are (0: none are known).

    Targets are the passages, which must be found in one of the case's documents if it names any; without passages
    the answers, all together one target, likewise; without answers the documents.
    """
    if case.passages:
        held = [
            frozenset(n for n, passage in enumerate(case.passages) if holds_passage(piece.text, passage))
            if _from(piece, case)
            else frozenset[int]()
            for piece in pieces
        ]
        return held, len(case.passages)
    if case.answers:
        one = frozenset({0})
        right = (_from(piece, case) and holds_answer(piece.text, case.answers) for piece in pieces)
        return [one if is_right else frozenset() for is_right in right], 1
    named = enumerate(case.documents)
    names = [(n, name) for n, name in named]
    return [frozenset(n for n, name in names if name == piece.filename) for piece in pieces], len(names)


def _from(piece: Piece, case: Case) -> bool:
    return not case.documents or piece.filename in case.documents


def judge_ranking(case: Case, pieces: Sequence[Piece]) -> dict[str, float]:
    """recall@8, hit@5, mrr@10 and ndcg@10 of ``pieces``, best first; nothing when no target is known."""
    held, targets = rank(case, pieces)
    if not targets:
        return {}
    return {
        "recall@8": metrics.recall(held, targets, 8),
        "hit@5": metrics.hit(held, targets, 5),
        "mrr@10": metrics.reciprocal_rank(held, targets, 10),
        "ndcg@10": metrics.ndcg(held, targets, 10),
    }


def judge(case: Case, response: DocumentRagResponse, seconds: float = 0.0) -> Judged:
    """The figures of a final response. An error is judged as a wrong answer, and never as an abstention."""
    outcome = "error" if response.error else response.outcome or ""
    answered = outcome in ANSWERED
    figures: dict[str, float] = {}
    if case.unanswerable:
        figures["abstention"] = float(not answered and not response.error)
    else:
        retrieved = retrieved_in(response.rag_trace)
        figures |= judge_ranking(case, retrieved) if retrieved is not None else {}
        figures["false_refusals"] = float(not answered and not response.error)
        if case.answers:
            figures["accuracy"] = float(answered and holds_answer(response.response or "", case.answers))
        if answered and response.citations:
            figures |= _cited(case, response, retrieved or ())
    if answered and response.checks:
        verdicts = [check.verdict == "supported" for check in response.checks]
        figures["supported"] = sum(verdicts) / len(verdicts)
    if answered and response.coverage is not None:
        figures["coverage"] = response.coverage
    error = f"{response.error.type}: {response.error.message}" if response.error else ""
    return Judged(
        case=case, outcome=outcome, seconds=seconds, error=error, figures=figures, trace=response.rag_trace
    )


def _cited(case: Case, response: DocumentRagResponse, retrieved: Sequence[Piece]) -> dict[str, float]:
    """The share of the citations whose chunk holds a target; a quote stands for a chunk that is not in the trace."""
    chunks = []
    for citation in response.citations:
        at = citation.number - 1
        known = retrieved[at] if 0 <= at < len(retrieved) else None
        whole = known is not None and known.filename == citation.filename and citation.quote in known.text
        chunks.append(known if whole and known else Piece(citation.filename, citation.quote))
    held, targets = rank(case, chunks)
    return {"citation_precision": sum(map(bool, held)) / len(held)} if targets else {}


def retrieved_in(trace: Mapping[str, Any] | None) -> list[Piece] | None:
    """The evidence of a RAGTrace, best first; null when the response has no trace."""
    if trace is None:
        return None
    return [
        Piece(str(chunk.get("filename") or ""), str(chunk.get("text") or ""))
        for chunk in trace.get("retrieved_chunks") or ()
    ]
