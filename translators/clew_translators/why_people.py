"""What people were asked in a run, what they said, and what that changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_schema.facts import (
    EvidenceGraded,
    EvidenceRetrieved,
    PartsJoined,
    RunPaused,
    RunResumed,
    TicketCancelled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A question to a person and what came of it.

    ``reply`` is null while nobody answered; ``cancelled``: the person withdrew. ``searched`` is what was searched for
    because of the reply, ``found`` how many chunks that gave, ``new`` how many of them no search before had found, and
    the status is the decision before and after.
    """

    ticket: str
    round: int
    asked: str
    options: tuple[str, ...] = ()
    person: str = ""
    reply: str | None = None
    cancelled: bool = False
    status_before: str = ""
    status_after: str = ""
    searched: tuple[str, ...] = ()
    found: int = 0
    new: int = 0


def exchanges(facts: Sequence[Fact]) -> tuple[Exchange, ...]:
    """Every pause of a run, in its order."""
    return tuple(
        _exchange(fact, facts[:place], facts[place + 1 :])
        for place, fact in enumerate(facts)
        if isinstance(fact, RunPaused)
    )


def _exchange(paused: RunPaused, before: Sequence[Fact], after: Sequence[Fact]) -> Exchange:
    until = next((n for n, fact in enumerate(after) if isinstance(fact, RunPaused)), len(after))
    following = after[:until]
    reply = next((f for f in following if isinstance(f, RunResumed) and f.ticket == paused.ticket), None)
    withdrawn = next((f for f in following if isinstance(f, TicketCancelled)), None)
    searches = [fact for fact in following if isinstance(fact, EvidenceRetrieved)] if reply else []
    decided = [fact for fact in following if isinstance(fact, EvidenceGraded | PartsJoined)] if reply else []
    chunks = {one.chunk_id for fact in searches for one in fact.evidence}
    return Exchange(
        ticket=paused.ticket,
        round=paused.round,
        asked=paused.prompt,
        options=paused.options,
        person=ended.person if (ended := reply or withdrawn) else "",
        reply=reply.answer if reply else None,
        cancelled=withdrawn is not None,
        status_before=paused.status,
        status_after=decided[-1].status if decided else "",
        searched=tuple(dict.fromkeys(fact.query for fact in searches)),
        found=len(chunks),
        new=len(chunks - _chunks(before)),
    )


def _chunks(facts: Sequence[Fact]) -> set[str]:
    return {one.chunk_id for fact in facts if isinstance(fact, EvidenceRetrieved) for one in fact.evidence}
