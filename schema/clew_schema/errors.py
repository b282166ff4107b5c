"""What a caller or an operator is told when something went wrong."""

from clew_schema.base import Message


class Error(Message):
    """Why a request failed. ``type`` is one of a closed set (see the reference), ``message`` is for people."""

    type: str = ""
    message: str = ""


class DeadLetter(Message):
    """A message that could not be handled, kept whole so that it can be repaired and sent again.

    ``payload`` is the body as UTF-8 text; a body that is not UTF-8 is base64 in it, and ``encoding`` says so.
    A body too large for a letter is cut, ``truncated`` says so, and ``payload_bytes`` and
    ``payload_sha256`` are those of the whole. ``started_at`` is when handling began.
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
