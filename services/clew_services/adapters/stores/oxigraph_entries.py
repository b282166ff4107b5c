"""Runs as the index of the trace store has them: what is written of one, and how a filter and a page are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from clew_services.errors import BadRequest
from clew_services.ports import TraceRow
from clew_translators.trace_digest import name_of_person

if TYPE_CHECKING:
    from clew_services.ports import TraceFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A run as the index has it: its row, the run whose tool asked for it, and the IRIs of all who took part."""

    row: TraceRow
    parent: str = ""
    asker: str = ""
    persons: tuple[str, ...] = ()


def tombstone(collection: str, uri: str) -> bytes:
    """What is remembered of a run that was erased: nothing that says which it was."""
    return sha256(f"{collection}\0{uri}".encode(errors="surrogatepass")).digest()


def place_after(after: str) -> tuple[str, str]:
    """``asked_at`` and name of the row whose cursor is ``after``. Raises BadRequest for what is no cursor."""
    asked_at, _, uri = after.rpartition(" ")
    if not asked_at or not uri:
        raise BadRequest(f"after must be the cursor of a row of a list, found {after[:80]!r}")
    return asked_at, uri


def condition_of(where: TraceFilter, after: str, table: str) -> tuple[str, list[Any]]:
    """What is left to be true, and the order of a list, by the columns of ``table``; and the values in it."""
    asked_at, uri = f"{table}.asked_at", f"{table}.uri"
    terms, values = [f"{asked_at} >= ?"], [where.since or "\x01"]  # what has no beginning is not listed
    if where.until:
        terms.append(f"{asked_at} < ?")
        values.append(where.until)
    if after:
        terms.append(f"({asked_at}, {uri}) < (?, ?)")
        values += place_after(after)
    if where.text:
        terms.append("instr(folded, ?)")
        values.append(where.text.casefold())
    return f"{' AND '.join(terms)} ORDER BY {asked_at} DESC, {uri} DESC", values


def row_of(collection: str, found: tuple[Any, ...]) -> TraceRow:
    """What the index found, as a row of a list: name, mechanism, state, beginning, question and who asked."""
    uri, mechanism, state, asked_at, query, asker = found
    return TraceRow(
        session_uri=uri,
        mechanism=mechanism,
        query=query,
        asked_at=asked_at,
        collection=collection,
        state=state,
        person=name_of_person(asker),
    )
