"""What a handler returns: messages to send and facts to tell. Nothing else leaves a handler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clew_schema.base import Message, RunMessage

if TYPE_CHECKING:
    from clew_schema.facts import Fact
    from clew_schema.retrieval import ReturnAddress
    from clew_schema.topics import Topic
    from clew_services.ports import Closing, Ticket

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
class Opening:
    """A pause begins: ``ticket`` is kept with ``rest``, the message in which the run rests; its trail is filled in."""

    ticket: Ticket
    rest: RunMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a step decided: ``send`` happens, ``facts`` are explained, tickets change. Each exactly once in effect.

    ``run`` is the message of the run that goes on, when that is another than the one that was handled: a
    person's answer continues the run that waited for it. ``closes`` is the ticket that ends with it, and
    ``opens`` the one that begins.
    """

    send: tuple[Send[Any], ...] = ()
    facts: tuple[Fact, ...] = ()
    run: RunMessage | None = None
    opens: Opening | None = None
    closes: Closing | None = None
