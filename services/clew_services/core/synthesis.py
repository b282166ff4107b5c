"""The results of a question's parts become one: their evidence in order, each piece once, and how the run ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clew_schema.evidence import Evidence, RetrievalStatus, Route
from clew_schema.facts import Gap, Mode
from clew_services.core.ranking import numbered, score, with_score
from clew_services.core.resuming import is_pause

ACCEPTED: frozenset[RetrievalStatus | None] = frozenset({"answerable", "partial"})
"""The statuses of parts whose evidence is used."""

_PAUSES: dict[bool, tuple[Route, RetrievalStatus]] = {
    True: ("scope_select", "needs_scope_selection"),
    False: ("clarify", "needs_clarification"),
}
_NOTHING: tuple[Route, RetrievalStatus] = ("no_knowledge", "no_knowledge")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartResult:
    """How one part ended: its evidence, what was decided, and what a person would be asked.

    ``failure`` is the type of the error that kept it from being graded.
    """

    question: str
    evidence: tuple[Evidence, ...] = ()
    route: Route | None = None
    status: RetrievalStatus | None = None
    prompt: str = ""
    options: tuple[str, ...] = ()
    failure: str = ""

    @property
    def pauses(self) -> bool:
        """Whether this part waits for a person."""
        return is_pause(self.status, self.route)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """How the whole ended.

    ``origins`` says for each piece of ``evidence`` where it was first seen: the part and the place in it,
    both from 0. ``merged_count`` counts the accepted evidence before duplicates were removed. ``rule`` is the
    id of the end that it is.
    """

    evidence: tuple[Evidence, ...]
    origins: tuple[tuple[int, int], ...]
    merged_count: int
    rule: str
    route: Route
    status: RetrievalStatus
    relevance: Literal["strong", "none"]
    answerability: Literal["sufficient", "partial", "none"]
    prompt: str = ""
    options: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def synthesise(parts: Sequence[PartResult], mode: Mode = "strict") -> Synthesis:
    """One of four ends: an answer, a partial answer, a pause, or nothing known.

    Any evidence at all makes an answer, whatever became of the other parts. Without any, a part that waits
    for a person makes the whole wait; a choice of scope goes before a clarification. Improved: an answer that
    does not cover every planned part is partial (quirk Q01), and ``gaps`` say which parts those are.
    """
    evidence, origins, count = _collected(parts)
    pausing = [part for part in parts if part.pauses]
    gaps = _gaps(parts)
    if evidence:
        is_partial = any(part.status == "partial" for part in parts) or (mode == "improved" and bool(gaps))
        return Synthesis(
            evidence=evidence,
            origins=origins,
            merged_count=count,
            rule="S02-partial" if is_partial else "S01-answer",
            route="answer",
            status="partial" if is_partial else "answerable",
            relevance="strong",
            answerability="partial" if is_partial else "sufficient",
            gaps=gaps,
        )
    is_choice = any(
        part.status == "needs_scope_selection" or part.route == "scope_select" for part in pausing
    )
    route, status = _PAUSES[is_choice] if pausing else _NOTHING
    return Synthesis(
        evidence=(),
        origins=(),
        merged_count=count,
        rule="S03-pause" if pausing else "S04-nothing-known",
        route=route,
        status=status,
        relevance="none",
        answerability="none",
        prompt="；".join(dict.fromkeys(part.prompt for part in pausing if part.prompt)),
        options=tuple(dict.fromkeys(option for part in pausing for option in part.options)),
        gaps=gaps,
    )


def evidence_of(parts: Sequence[PartResult]) -> tuple[Evidence, ...]:
    """The accepted evidence of ``parts``, each piece once at its first place, numbered from 1."""
    return _collected(parts)[0]


def _gaps(parts: Sequence[PartResult]) -> tuple[Gap, ...]:
    return tuple(
        Gap(part=number, question=part.question, code=part.failure or part.status or "")
        for number, part in enumerate(parts, 1)
        if part.failure or part.status != "answerable"
    )


def _collected(
    parts: Sequence[PartResult],
) -> tuple[tuple[Evidence, ...], tuple[tuple[int, int], ...], int]:
    """The accepted evidence, each piece once at its first place and numbered; the places; how much there was."""
    kept: dict[str, Evidence] = {}
    origins: dict[str, tuple[int, int]] = {}
    count = 0
    for number, part in enumerate(parts):
        for place, each in enumerate(part.evidence if part.status in ACCEPTED else ()):
            count += 1
            key = _identity(each)
            kept[key] = _better(kept[key], each) if key in kept else each
            origins.setdefault(key, (number, place))
    return numbered(kept.values()), tuple(origins.values()), count


def _identity(evidence: Evidence) -> str:
    return evidence.chunk_id.strip() or f"{evidence.filename}|{evidence.page}|{evidence.text}"


def _better(first: Evidence, again: Evidence) -> Evidence:
    """``first`` with the larger score of the two: the reranker's if either has one, else that of the recall."""
    reranked = [value for value in (first.rerank_score, again.rerank_score) if value is not None]
    if reranked:
        return first.model_copy(update={"rerank_score": max(reranked)})
    recalled = [value for value in (score(first), score(again)) if value is not None]
    return with_score(first, max(recalled)) if recalled else first
