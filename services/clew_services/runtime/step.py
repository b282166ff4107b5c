"""A step: one handler bound to the topic whose messages it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from clew_schema.base import Message
from clew_schema.topics import ENTRIES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from clew_schema.errors import Error
    from clew_schema.topics import Topic
    from clew_services.core.retry import RetryPolicy
    from clew_services.ports import Emit, Tell
    from clew_services.runtime.outcome import Outcome, Send
    from clew_services.runtime.respond import Caller

M = TypeVar("M", bound=Message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[M]):
    """``name`` is ``service.step`` and names the subscription, the ledger's rows, metrics and activities.

    ``handle`` takes the body; ``stream`` instead of it also takes an Emit, ``progress`` a Tell. ``caller`` says how
    the one who asked is spoken to; null for steps outside of runs, which tell of a failure with
    ``on_failure`` (its body is null when it was unreadable). ``recorded`` false: doing it twice changes
    nothing, so the ledger is not asked. ``policy``: how patiently failures are retried, if not as elsewhere.
    """

    name: str
    topic: Topic[M]
    handle: Callable[[M], Awaitable[Outcome]] | None = None
    stream: Callable[[M, Emit], Awaitable[Outcome]] | None = None
    progress: Callable[[M, Tell], Awaitable[Outcome]] | None = None
    caller: Caller[Any] | None = None
    on_failure: Callable[[M | None, Error], Send[Any]] | None = None
    recorded: bool = True
    width: int = 32
    policy: RetryPolicy | None = None

    @property
    def entry(self) -> bool:
        """Whether callers publish to its topic."""
        return self.topic in ENTRIES

    @property
    def service(self) -> str:
        """The service this step belongs to."""
        return self.name.partition(".")[0]

    async def run(self, body: M, emit: Emit, tell: Tell) -> Outcome:
        """Let the handler decide."""
        if self.stream is not None:
            return await self.stream(body, emit)
        if self.progress is not None:
            return await self.progress(body, tell)
        if self.handle is None:
            msg = f"step {self.name} has no handler"
            raise TypeError(msg)
        return await self.handle(body)
