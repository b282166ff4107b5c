"""What trace stores have in common: rows of a list, which of them a filter wants, and where a page begins."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from clew_services.ports import TraceRow
from clew_translators.trace_digest import name_of_person, person_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew_services.ports import TraceFilter
    from clew_translators.trace_digest import Summary


def row_of(run: Summary) -> TraceRow:
    """``run`` in a list."""
    return TraceRow(
        session_uri=run.run,
        mechanism=run.mechanism,
        query=run.query,
        asked_at=run.asked_at,
        collection=run.collection,
        state=run.state,
        person=name_of_person(run.person),
    )


def matches(run: Summary, where: TraceFilter) -> bool:
    """Whether a list that ``where`` filters has ``run``: one that began, and no tool's own unless those are wanted."""
    return bool(
        run.asked_at
        and (where.tools or not run.parent)
        and (not where.mechanisms or run.mechanism in where.mechanisms)
        and (not where.states or run.state in where.states)
        and (not where.person or person_of(where.person) in run.persons)
        and where.since <= run.asked_at
        and (not where.until or run.asked_at < where.until)
        and (not where.text or where.text.casefold() in run.query.casefold())
    )


def newest(rows: Iterable[TraceRow], limit: int, after: str) -> Sequence[TraceRow]:
    """A page of ``rows``: the ``limit`` newest of those below the cursor ``after``, newest first."""
    below = place_of(after)
    wanted = (row for row in rows if not after or place(row) < below)
    return tuple(nlargest(max(0, limit), wanted, key=place))


def place(row: TraceRow) -> tuple[str, str]:
    """Where ``row`` stands in a list, from the end of it."""
    return row.asked_at, row.session_uri


def place_of(cursor: str) -> tuple[str, str]:
    """The place of the row that has this cursor."""
    asked_at, _, uri = cursor.partition(" ")
    return asked_at, uri
