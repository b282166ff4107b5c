"""Ending a run before its end, and what comes back."""

from typing import Literal

from clew_schema.base import Items, Message
from clew_schema.errors import Error


class CancelRequest(Message):
    """End the run ``session_id`` of ``collection`` (``""``: ``"default"``) before its next step begins.

    Whoever waits for its answer gets the error ``cancelled``, and its trace tells that and why. A step that is at
    work finishes first. A pause is withdrawn. What has ended stays as it ended. Until the ledger forgets it
    (``CLEW_LEDGER_HOURS``), nothing of that session begins again: a new question takes a new one.

    ``user`` is the person who cancels, ``reason`` what the one who waits is told.
    """

    session_id: str = ""
    collection: str = ""
    reason: str = ""
    user: str = ""


class CancelResponse(Message):
    """``cancelled``, or ``already-cancelled`` by an earlier request. ``tickets`` are the pauses that were withdrawn."""

    session_id: str = ""
    collection: str = ""
    state: Literal["cancelled", "already-cancelled", ""] = ""
    tickets: Items[str] = ()
    error: Error | None = None
