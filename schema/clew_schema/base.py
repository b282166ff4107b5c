"""What every message has in common: frozen, strict, tolerant of fields it does not know."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

T = TypeVar("T")

Items = Annotated[tuple[T, ...], Field(strict=False)]
"""A read-only sequence. Any list or tuple may be given; what is kept is a tuple. The items stay strict."""


class Message(BaseModel):
    """Base of everything that travels: a value, compared by value, changed only by copy.

    Types are strict (``"5"`` is not a number), unknown fields are ignored so that a newer
    producer can talk to an older reader, and every field is written, defaults included. Numbers
    are finite: JSON has no way to write the others, so they are refused where they arise.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)


class RunMessage(Message):
    """A message that belongs to one run: one question being answered.

    ``session_id`` names the run (a uuid); an empty one is filled in when the message is first
    handled. ``collection`` names the documents the run may read; ``""`` means ``"default"``.
    """

    session_id: str = ""
    collection: str = ""

    @property
    def wants_stream(self) -> bool:
        """Whether the caller asked for steps and text while they come."""
        return False
