"""What an operator asks of the box of dead letters over the bus, and what comes back."""

from typing import Literal

from clew_schema.base import Items, Message
from clew_schema.errors import DeadLetter, Error

LetterAction = Literal["list", "show", "edit", "requeue", "drop"]


class LetterFilter(Message):
    """Which letters are meant: those that meet every condition that is given.

    ``step`` is the one that could not handle the message (or its service), ``error_type`` as in the errors' reference.
    ``collection``: letters of that collection; ``""`` means ``"default"``, as everywhere. ``all_collections``: of every
    one, and those whose message could not be read and so belong to none. ``newer`` and ``older`` are times in ISO 8601
    between which a letter was buried. ``limit``: at most so many, the oldest first; 0: all.
    """

    step: str = ""
    error_type: str = ""
    collection: str = ""
    all_collections: bool = False
    newer: str = ""
    older: str = ""
    limit: int = 0


class DeadLetterRequest(LetterFilter):
    """Look into the box of dead letters, or work on it. For operators: letters hold what callers wrote.

    ``letter_id`` names one letter, by its id or a beginning of it that no other has. Without it ``requeue`` and
    ``drop`` mean every letter that the filter lets through, and want ``every``: no empty request empties the box.

    ``list`` leaves bodies and properties out; of more than fit into one answer it tells the oldest, and ``more``.
    ``edit`` keeps the letter with another body (``payload``, in ``encoding``) and with ``properties`` set, ``""``
    taking one away; ``requeue`` of one letter sends it with these, if given. ``user`` is the person who does it.
    """

    action: LetterAction = "list"
    letter_id: str = ""
    every: bool = False
    payload: str | None = None
    encoding: Literal["utf-8", "base64"] = "utf-8"
    properties: dict[str, str] = {}
    user: str = ""


class DeadLetterResponse(Message):
    """What was found or done. ``end`` is true for the last response to a request; those before it tell how far it is.

    ``letters`` are those of ``list`` and ``show``; ``done`` of ``matched`` letters were sent again or dropped, and
    ``failed`` names those that could not be, each with why. ``error``: the request as a whole failed.
    """

    action: LetterAction = "list"
    letters: Items[DeadLetter] = ()
    matched: int = 0
    done: int = 0
    failed: dict[str, Error] = {}
    more: bool = False
    end: bool = True
    error: Error | None = None
