"""Everything that can go wrong, as types. What happens next is decided from the type, in ``core.retry``.

::

    ClewError
    ├── Refused                the request cannot be served as it is: answered at once, never retried
    │   ├── BadRequest             empty or oversized question, a limit out of range
    │   ├── UnknownCollection      nobody ingested anything under that name
    │   ├── EmptyCollection        it exists and holds no document
    │   ├── AnalyzerMismatch       the collection was made with another analyzer than is asked for
    │   ├── Forbidden              not the caller's to name
    │   ├── UnknownTicket          no such pause in this collection
    │   ├── TicketExpired          the answer came too late
    │   ├── TicketClosed           somebody answered or cancelled it before
    │   ├── DeadlineExceeded       the caller's deadline passed
    │   └── Cancelled              somebody ended the run before its end
    ├── Defect                 something must be repaired: answered, and kept as a dead letter
    │   ├── Unreadable             not a message of this topic
    │   ├── ModelReplyInvalid      prose where a value was asked for, after the repairs that are allowed
    │   ├── ModelRefused           bad key, unknown model, content refused
    │   ├── EmbedderMismatch       the collection was made with another embedder
    │   ├── DocumentUnreadable     a file that its format's library cannot read
    │   │   └── NoText                 it was read, and holds no text: pictures of text, or nothing
    │   ├── StoreIncompatible      tables or rows that a newer Clew wrote
    │   └── TooLarge               an effect that no broker would carry
    └── Transient              may pass by itself: retried with growing delay, then kept as a dead letter
        ├── RetrievalFailed        the store or the embedder did not answer
        ├── ModelFailed            the model did not answer in time, or with a server error
        │   └── ModelBusy              it asked us to come back later
        ├── StoreFailed            the ledger, the catalog or the trace store did not answer
        └── BusFailed              the broker did not take or give a message
"""

from typing import ClassVar

from clew_schema.errors import Error
from clew_services.redaction import hide

LONGEST = 2_000
"""Characters of an error's message that a caller is told."""


class ClewError(Exception):
    """Base of all. ``type`` is what the caller reads in ``error.type``; ``str()`` is the message for people."""

    type: ClassVar[str] = "internal-error"
    callers_fault: ClassVar[bool] = False
    """Whether the message itself is wrong, so that it says nothing about the health of who handled it."""
    retry_after: float | None = None
    """Seconds the other side asked us to wait, when it did."""


class Refused(ClewError):
    """The request cannot be served as it is. Answered at once, never retried, nothing to repair."""

    type = "refused"
    callers_fault = True


class BadRequest(Refused):
    """The request says something that makes no sense."""

    type = "bad-request"


class UnknownCollection(Refused):
    """Nobody ingested anything under that name."""

    type = "unknown-collection"


class EmptyCollection(Refused):
    """The collection exists and holds no document."""

    type = "empty-collection"


class AnalyzerMismatch(Refused):
    """The collection was made with another analyzer than is asked for; its words are split already."""

    type = "analyzer-mismatch"


class Forbidden(Refused):
    """The caller named something that is not theirs."""

    type = "forbidden"


class UnknownTicket(Refused):
    """No run of this collection waits under that name."""

    type = "unknown-ticket"


class TicketExpired(Refused):
    """The answer came after the ticket's time."""

    type = "ticket-expired"


class TicketClosed(Refused):
    """The ticket was answered or cancelled before."""

    type = "ticket-closed"


class DeadlineExceeded(Refused):
    """The caller's deadline passed before the step began."""

    type = "deadline-exceeded"


class Cancelled(Refused):
    """Somebody asked for the run to end before its end."""

    type = "cancelled"


class Defect(ClewError):
    """Something must be repaired by a person. Answered, and kept as a dead letter."""

    type = "defect"


class Unreadable(Defect):
    """Not a message of this topic: no JSON, or wrong types."""

    type = "unreadable"
    callers_fault = True


class ModelReplyInvalid(Defect):
    """The model returned something else than was asked for, also after the repairs that are allowed."""

    type = "model-reply-invalid"


class ModelRefused(Defect):
    """The model's service refused: bad key, unknown model, refused content."""

    type = "model-refused"


class EmbedderMismatch(Defect):
    """The collection was made with another embedder; its vectors cannot be compared."""

    type = "embedder-mismatch"


class DocumentUnreadable(Defect):
    """The library for this format cannot read the file."""

    type = "document-unreadable"
    callers_fault = True


class NoText(DocumentUnreadable):
    """The file was read, and there is no text in it: its pages are pictures, or it is empty."""

    type = "no-text"


class StoreIncompatible(Defect):
    """The tables or rows were written by a newer Clew. Nothing was changed."""

    type = "store-incompatible"


class ExportRefused(Defect):
    """The tracing backend will never take these spans, or not from us."""

    type = "export-refused"


class TooLarge(Defect):
    """A message that no broker would carry."""

    type = "too-large"


class Transient(ClewError):
    """May pass by itself. Retried with growing delay, then kept as a dead letter."""

    type = "transient"


class RetrievalFailed(Transient):
    """The vector store or the embedder did not answer. Never told as "nothing is known"."""

    type = "retrieval-failed"


class ModelFailed(Transient):
    """The model did not answer in time, or answered with a server error."""

    type = "model-failed"


class ModelBusy(ModelFailed):
    """The model's service asked us to come back after ``retry_after`` seconds."""

    type = "model-busy"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        """``retry_after``: seconds, as the service said."""
        super().__init__(message)
        self.retry_after = retry_after


class StoreFailed(Transient):
    """The ledger, the catalog or the trace store did not answer."""

    type = "store-failed"


class ExportFailed(Transient):
    """The tracing backend did not take the spans of a run now."""

    type = "export-failed"


class BusFailed(Transient):
    """The broker did not take or give a message."""

    type = "bus-failed"


def told(error: Exception) -> Error:
    """What a caller is told of ``error``, without secrets. A bug's own text stays inside: it may hold anything."""
    if isinstance(error, ClewError):
        text = hide(str(error)) or error.type
        return Error(type=error.type, message=text if len(text) <= LONGEST else text[:LONGEST] + "…")
    return Error(type=ClewError.type, message=f"internal error ({type(error).__name__}); the logs say more")
