"""Ask every variant the same questions, and judge what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Any, Literal

from benchmarks.quality.datasets import Dataset, kind
from benchmarks.quality.stack import Stack
from clew_schema.evidence import Evidence
from clew_schema.limits import CANDIDATE_MULTIPLIER, DOCUMENT_LIMIT
from clew_services.adapters.models.rerank_embedded import EmbeddedReranker
from clew_services.evaluation.judging import ANSWERED, Judged, Piece, judge_ranking, retrieved_in
from clew_services.evaluation.running import ask_all
from clew_services.ports import Search
from clew_services.retrieve import EvidenceRetriever, Policy
from clew_services.settings import Settings

RANKING = ("recall@8", "hit@5", "mrr@10", "ndcg@10")
PLACES = 10
"""Pieces of evidence that are looked at, from as many candidates of each leg as the services take."""


@dataclass(frozen=True)
class Variant:
    """One way to retrieve."""

    name: str
    legs: Literal["both", "dense", "bm25"] = "both"
    fusion: Literal["rrf", "zscore"] = "rrf"
    merge: bool = False
    rerank: bool = False

    async def retrieve(self, stack: Stack, collection: str, question: str) -> Sequence[Evidence]:
        """One leg as the store returns it, or the product's retriever, so configured. Best first."""
        candidates = DOCUMENT_LIMIT * CANDIDATE_MULTIPLIER
        if self.legs != "both":
            vector = await stack.embedder.query(question)
            hits = await stack.vectors.search(collection, vector=vector, text=question, limit=candidates)
            return (hits.dense if self.legs == "dense" else hits.bm25 or ())[:PLACES]
        retriever = EvidenceRetriever(
            catalog=stack.catalog,
            vectors=stack.vectors,
            embedder=stack.embedder,
            reranker=EmbeddedReranker() if self.rerank else None,
            policy=Policy(fusion=self.fusion, merge=self.merge),
        )
        found = await retriever.retrieve(
            collection, Search.of(question), doc_limit=PLACES, fetch_limit=candidates
        )
        return found.evidence


VARIANTS = (
    Variant("dense only", legs="dense"),
    Variant("BM25 only", legs="bm25"),
    Variant("hybrid, RRF"),
    Variant("hybrid, z-score", fusion="zscore"),
    Variant("RRF + merge", merge=True),
    Variant("z-score + merge", fusion="zscore", merge=True),
    Variant("RRF + merge + rerank", merge=True, rerank=True),
    Variant("z-score + merge + rerank", fusion="zscore", merge=True, rerank=True),
    Variant("z-score + rerank", fusion="zscore", rerank=True),
)

EXACT = tuple(
    variant for variant in VARIANTS if not variant.merge and not variant.rerank and variant.legs != "dense"
)
"""Those that milvus-lite's weighing of words changes; dense search is exact in both stores at these sizes."""

PIPELINES: Mapping[str, Mapping[str, Any]] = {
    "RRF": {"fusion": "rrf"},
    "z-score": {"fusion": "zscore"},
    "z-score, no merge": {"fusion": "zscore", "merge": False},
    "z-score + rerank": {"fusion": "zscore", "reranker": "embedded"},
}
"""The whole loop (plan, retrieve, grade, rewrite, answer), each by its settings that are not the defaults."""


@dataclass(frozen=True)
class Row:
    """What one variant came to on one set: each judged question, and how long its evidence is on average."""

    name: str
    judged: Sequence[Judged]
    characters: float = 0.0
    rewrites: Mapping[str, float] = field(default_factory=dict)

    def figures(self, name: str, case_kind: str = "") -> list[float]:
        """One figure of every question that has it, in the order of the questions."""
        return [
            each.figures[name]
            for each in self.judged
            if name in each.figures and case_kind in {"", kind(each.case)}
        ]


async def retrieval(stack: Stack, dataset: Dataset, variants: Sequence[Variant] = VARIANTS) -> list[Row]:
    """Every variant on the answerable questions."""
    cases = [case for case in dataset.cases if not case.unanswerable]
    rows = []
    for variant in variants:
        judged, lengths = [], []
        for case in cases:
            evidence = await variant.retrieve(stack, dataset.name, case.question)
            pieces = [Piece(each.filename, each.text) for each in evidence]
            lengths.append(sum(len(piece.text) for piece in pieces[:8]))
            judged.append(Judged(case=case, outcome="", figures=judge_ranking(case, pieces)))
        rows.append(Row(variant.name, judged, characters=fmean(lengths)))
    return rows


async def answers(stack: Stack, dataset: Dataset) -> list[Row]:
    """Every pipeline on all questions, asked through the bus."""
    rows = []
    for name, changes in PIPELINES.items():
        settings = Settings(data=stack.folder, **changes)
        async with stack.client(settings) as client:
            judged = await ask_all(client, dataset.cases, collection=dataset.name, at_once=2)
        rows.append(Row(name, judged, rewrites=rewriting(judged)))
        if name == "z-score":
            rows.append(first_pass(rows[-1]))
    return rows


def first_pass(row: Row) -> Row:
    """``row`` as it had been without rewriting: what asks for a rewrite and may not have one is not answered.

    So it is with the embedded grader, which asks for one only where it finds no answer.
    """
    return Row(
        f"{row.name}, no rewrite", [_unanswered(each) if _rewritten(each) else each for each in row.judged]
    )


def _rewritten(judged: Judged) -> bool:
    return bool(judged.trace and judged.trace.get("rewrite_method"))


def _unanswered(judged: Judged) -> Judged:
    if judged.case.unanswerable:
        return replace(judged, outcome="no_knowledge", figures={"abstention": 1.0})
    kept = {name: judged.figures[name] for name in judged.figures if name in RANKING}
    lost = {"accuracy": 0.0} if judged.case.answers else {}
    return replace(judged, outcome="no_knowledge", figures={**kept, **lost, "false_refusals": 1.0})


def rewriting(judged: Sequence[Judged]) -> dict[str, float]:
    """What the second pass did, on the runs that had one.

    Of answerable questions: how many, the mean of hit@5 before and after it, and how many were answered rightly or
    wrongly in the end. Of unanswerable ones: how many, and how many of these were answered all the same.
    """
    again = [each for each in judged if _rewritten(each)]
    known = [each for each in again if not each.case.unanswerable]
    unknown = [each for each in again if each.case.unanswerable]
    told = [each for each in known if each.outcome in ANSWERED]
    right = sum(each.figures.get("accuracy", 0.0) for each in told)
    before, after = (
        [_hit(each, f"{stage}_retrieved_chunks") for each in known] for stage in ("initial", "rewrite")
    )
    return {
        "answerable": len(known),
        "hit@5 before": fmean(before) if before else 0.0,
        "hit@5 after": fmean(after) if after else 0.0,
        "answered": len(told),
        "answered rightly": right,
        "unanswerable": len(unknown),
        "answered all the same": sum(each.outcome in ANSWERED for each in unknown),
    }


def _hit(judged: Judged, chunks: str) -> float:
    pieces = retrieved_in({"retrieved_chunks": (judged.trace or {}).get(chunks)}) or []
    return judge_ranking(judged.case, pieces).get("hit@5", 0.0)
