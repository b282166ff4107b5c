"""The evidence of a run, piece by piece, and what each planned part came to: two lists of ``ext``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from clew_schema.evidence import Evidence
from clew_schema.facts import AnswerWritten
from clew_translators.ragtrace_run import ACCEPTED, Told, identity, joined_evidence

Disposition = Literal["candidate", "accepted", "rejected", "cited"]
_USED: frozenset[str] = frozenset({"accepted", "cited"})


def evidence(told: Told, answer: AnswerWritten | None) -> list[dict[str, Any]]:
    """One entry for each piece that any pass found: those that were used first, by their number.

    ``number`` is the n of an answer's [n], 0 for what it was not written from; when the writer's budget left pieces
    out, which is not told, only those that the answer cites are known to have one. ``disposition``: *cited* by the
    answer; *accepted*, given to its writer; *rejected*, left out of an answer, or nothing reliable in it;
    *candidate*, nobody decided yet. The scores and ranks are those of the pass in which it was found first;
    ``fused_rank`` is its place there, before reranking.
    """
    accepted = {identity(each): number for number, each in enumerate(_accepted(told), 1)}
    cited = {each.chunk_id: each.number for each in answer.citations} if answer else {}
    numbers = cited if answer and answer.omitted else accepted
    decided = answer is not None and not answer.outcome.startswith("needs_")
    entries: dict[str, dict[str, Any]] = {}
    for part, number, each in _found(told):
        key = identity(each)
        if key in entries:
            continue
        disposition: Disposition = "rejected" if decided else "candidate"
        if key in accepted:
            disposition = "cited" if each.chunk_id and each.chunk_id in cited else "accepted"
        placed = {"number": numbers.get(key, 0), "part": part, "pass": number, "disposition": disposition}
        entries[key] = placed | _entry(each)
    last = len(entries) + 1
    return sorted(
        entries.values(), key=lambda entry: (entry["disposition"] not in _USED, entry["number"] or last)
    )


def coverage(told: Told) -> list[dict[str, Any]]:
    """What each planned part came to; of a question without parts, what the whole did. Ids are chunk ids."""
    parts = told.part_numbers if told.sub_questions and not told.passes.get(0) else range(1)
    listed = []
    for part in parts:
        grades = told.grades.get(part)
        last = grades[-1] if grades else None
        used = told.current(part) if last and last.status in ACCEPTED else ()
        listed.append(
            {
                "part": part,
                "question": told.question(part),
                "status": last.status if last else None,
                "route": last.route if last else None,
                "failure": last.failure if last else "",
                "evidence_ids": [each.chunk_id for each in used],
            }
        )
    return listed


def _accepted(told: Told) -> tuple[Evidence, ...]:
    """What the answer was, or would be, written from, in the order of its numbers."""
    route = (told.top or {}).get("route")
    if route != "answer":
        return ()
    if told.exhausted:
        return told.fallback()
    return joined_evidence(told, told.joined) if told.joined else told.current(0)


def _found(told: Told) -> Iterator[tuple[int, int, Evidence]]:
    for part, passes in sorted(told.passes.items()):
        for each in passes:
            for piece in each.evidence:
                yield part, each.pass_number, piece


def _entry(each: Evidence) -> dict[str, Any]:
    return {
        "chunk_id": each.chunk_id,
        "document_id": each.document_id,
        "document_version_id": each.version,
        "content_hash": each.content_hash,
        "filename": each.filename,
        "page": each.page,
        "page_end": each.page_end,
        "start": each.start,
        "end": each.end,
        "chunk_level": each.level,
        "merged_from_children": each.merged_children > 0,
        "merged_children": each.merged_children,
        "dense_rank": each.dense_rank,
        "dense_score": each.dense_score,
        "bm25_rank": each.bm25_rank,
        "bm25_score": each.bm25_score,
        "fused_rank": each.rank,
        "fused_score": each.fused_score,
        "rerank_score": each.rerank_score,
    }
