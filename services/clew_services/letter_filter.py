"""Which dead letters are meant: by id, and by what they tell."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clew_schema.limits import DEFAULT_COLLECTION
from clew_services.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew_schema.dead_letters import LetterFilter
    from clew_schema.errors import DeadLetter


def chosen(letters: Sequence[DeadLetter], wanted: LetterFilter) -> Sequence[DeadLetter]:
    """Those of ``letters`` that ``wanted`` means, in their order. Raises BadRequest for a time that is none."""
    newer, older = moment(wanted.newer, "newer"), moment(wanted.older, "older")
    found = [letter for letter in letters if _meets(letter, wanted) and _between(letter, newer, older)]
    return found[: wanted.limit] if wanted.limit > 0 else found


def named(letters: Sequence[DeadLetter], letter_id: str) -> DeadLetter | None:
    """The one of that id, or of that beginning of an id. Raises BadRequest where several have it."""
    same = [x for x in letters if x.letter_id == letter_id]
    if same:
        return same[0]
    alike = [x for x in letters if letter_id and x.letter_id.startswith(letter_id)]
    if len(alike) > 1:
        raise BadRequest(f"{len(alike)} letters have an id that begins with {letter_id!r}: give more of it")
    return alike[0] if alike else None


def moment(text: str, name: str) -> datetime | None:
    """The time that ``text`` says in ISO 8601, UTC unless it says otherwise; null for ``""``. Raises BadRequest."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise BadRequest(f"{name} {text[:60]!r} is no time: write it as 2026-12-01T13:00:00Z") from error


def _meets(letter: DeadLetter, wanted: LetterFilter) -> bool:
    if wanted.step and wanted.step not in {letter.step, letter.service}:
        return False
    if wanted.error_type and wanted.error_type != letter.error.type:
        return False
    return wanted.all_collections or letter.collection == (wanted.collection or DEFAULT_COLLECTION)


def _between(letter: DeadLetter, newer: datetime | None, older: datetime | None) -> bool:
    """A letter that says of no time when it was buried lies between no two times."""
    if newer is None and older is None:
        return True
    try:
        at = moment(letter.buried_at, "buried_at")
    except BadRequest:
        at = None
    if at is None:
        return False
    return (newer is None or at >= newer) and (older is None or at < older)
