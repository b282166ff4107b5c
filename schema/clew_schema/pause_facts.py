"""Facts of pauses: what a person was asked, and what came of it. See :mod:`clew_schema.facts`."""

from typing import Literal

from clew_schema.base import Items, Message
from clew_schema.evidence import RetrievalStatus, Route
from clew_schema.stamp import Stamp


class PartQuestion(Message):
    """A part's number (0: the whole question) and the question that is asked for it."""

    part: int = 0
    question: str


class RunPaused(Stamp):
    """The run waits for a person, who answers by naming ``ticket``. ``round`` counts from 1.

    ``questions`` are those that wait: of the whole, or of each part that does.
    """

    kind: Literal["run_paused"] = "run_paused"
    ticket: str
    round: int = 1
    route: Route
    status: RetrievalStatus
    prompt: str
    options: Items[str] = ()
    questions: Items[PartQuestion] = ()
    expires_at: str = ""


class RunResumed(Stamp):
    """A person answered ``ticket``, verbatim in ``answer``; ``questions`` are what that made of those that waited."""

    kind: Literal["run_resumed"] = "run_resumed"
    ticket: str
    answer: str
    from_route: Route
    from_status: RetrievalStatus
    questions: Items[PartQuestion] = ()
    person: str = ""


class TicketCancelled(Stamp):
    """A person withdrew the question that ``ticket`` waits for."""

    kind: Literal["ticket_cancelled"] = "ticket_cancelled"
    ticket: str
    person: str = ""
