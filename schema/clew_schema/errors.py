"""What a caller or an operator is told when something went wrong."""

from clew_schema.base import Items, Message


class Error(Message):
    """Why a request failed. ``type`` is one of a closed set (see the reference), ``message`` is for people."""

    type: str = ""
    message: str = ""


class Attempt(Message):
    """One try at a message that failed: which it was, when it ended, and why."""

    number: int = 1
    at: str = ""
    error: Error = Error()


class DeadLetter(Message):
    """A message that could not be handled, kept whole so that it can be repaired and sent again.

    ``payload`` is the body as UTF-8 text; a body that is not UTF-8 is base64 in it, and ``encoding`` says so.
    ``payload_bytes`` and ``payload_sha256`` are those of the whole body. A body too large for one message travels
    in several letters of one ``letter_id``: ``part`` of ``parts``, each with its piece of the body in base64.
    ``truncated``: only the beginning is there (letters of earlier versions).

    ``properties`` are those that the message came with. The ``withheld`` ones were left out: a secret, or more than
    a message can carry. ``attempts`` are the newest tries, the last one last; ``attempt`` counts all. ``started_at``
    is when handling began. ``trace`` is the URI of the run in the traces (``""``: it left none), ``collection`` is
    ``""`` where the body could not be read. ``edited_at`` and ``edited_by`` tell of an operator who repaired it.
    """

    letter_id: str = ""
    topic: str = ""
    service: str = ""
    step: str = ""
    message_id: str = ""
    session_id: str = ""
    collection: str = ""
    key: str = ""
    properties: dict[str, str] = {}
    payload: str = ""
    encoding: str = "utf-8"
    truncated: bool = False
    payload_bytes: int = 0
    payload_sha256: str = ""
    error: Error = Error()
    attempt: int = 1
    started_at: str = ""
    buried_at: str = ""
    attempts: Items[Attempt] = ()
    trace: str = ""
    withheld: Items[str] = ()
    part: int = 1
    parts: int = 1
    edited_at: str = ""
    edited_by: str = ""
