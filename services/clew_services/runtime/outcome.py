"""What a handler returns: messages to send and facts to tell. Nothing else leaves a handler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clew_schema.base import Message, RunMessage

if TYPE_CHECKING:
    from clew_schema.facts import Fact
    from clew_schema.retrieval import ReturnAddress
    from clew_schema.topics import Topic

M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True)
class Send(Generic[M]):
    """Publish ``body`` on ``topic``, or to the return address ``to`` when the asker gave one.

    ``carry`` travels in the ``reply.state`` of ``body``, with the trail of the run, and comes back with the reply.
    """

    topic: Topic[M]
    body: M
    to: ReturnAddress | None = None
    carry: RunMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step decided: ``send`` happens, ``facts`` are explained. Both exactly once in effect."""

    send: tuple[Send[Any], ...] = ()
    facts: tuple[Fact, ...] = ()
