"""A run that waits for a person: how it is told, and how its answer is typed."""

from __future__ import annotations

import shlex
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clew_services.cli.common import err, say, utf8

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clew_schema.retrieval import DocumentRagResponse


def waits(body: DocumentRagResponse) -> bool:
    """Whether the run that ended its messages with ``body`` waits for a person."""
    return bool(body.ticket) and body.outcome in {"needs_clarification", "needs_scope_selection"}


def tell_pause(body: DocumentRagResponse, data: Path | None) -> None:
    """The ticket, until when it is open, and the command that answers it."""
    until = seconds_of(body.expires_at)
    when = f", open until {body.expires_at} ({left(until - time.time())})" if until else ""
    say(err, (f"ticket: {body.ticket}{when}", "dim"), whole=True)
    where = ["-d", str(data)] if data is not None else []
    command = shlex.join(["clew", "ticket", "answer", body.ticket, *where])
    say(err, (f"answer: {command} {'--option N' if body.options else 'TEXT'}", "dim"), whole=True)


def typed_answer(options: Sequence[str]) -> str:
    """What a person at a terminal types; ``""`` for nothing, and where there is no terminal."""
    if not (sys.stdin.isatty() and err.is_terminal):
        return ""
    a_number = "a number, your own words" if options else "your answer"
    say(err, (f"{a_number}, or nothing to leave it open: ", "bold"), end="")
    try:
        return chosen(utf8(input()), options)
    except EOFError:
        say(err, "")
        return ""


def chosen(text: str, options: Sequence[str]) -> str:
    """The option whose number (from 1) ``text`` is; other text as it is, without blanks around it."""
    text = text.strip()
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= len(options):
        return options[int(text) - 1]
    return text


def seconds_of(iso: str) -> float:
    """ISO 8601 as seconds since 1970; 0 for what is no time."""
    try:
        return datetime.fromisoformat(iso).timestamp()
    except ValueError:
        return 0.0


def iso_of(seconds: float) -> str:
    """Seconds since 1970 in ISO 8601, UTC, to the second; ``""`` for 0."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""


def left(seconds: float) -> str:
    """How long that is, in its two largest units."""
    minutes = int(seconds // 60)
    if seconds <= 0:
        return "expired"
    if minutes < 1:
        return f"{int(seconds)} s left"
    if minutes < 60:
        return f"{minutes} min left"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min left" if hours < 48 else f"{hours // 24} d {hours % 24} h left"
