"""Parts that are opened once and closed in reverse."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from clew_services.runtime.clock import SystemClock
from clew_services.runtime.observe import Observer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from clew_services.ports import Clock
    from clew_services.settings import Settings

P = TypeVar("P")


class _Closing(Protocol):
    async def close(self) -> None: ...


class Opened:
    """What services are made of. Each part is opened once, on first use; a part given to the constructor is used as is.

    ``broker_url`` is the broker to connect to when the settings name none: the embedded one's. ``quiet``: for a
    person who waits; what the Pulsar library would log of a failure is left to the error, which comes within 5 s.
    """

    def __init__(
        self, settings: Settings, *, broker_url: str = "", quiet: bool = False, **given: Any
    ) -> None:
        """``given``: any part by the name of its method, clock, observer."""
        self.settings = settings
        self.broker_url = settings.pulsar_url or broker_url
        self.quiet = quiet
        self.clock: Clock = given.pop("clock", None) or SystemClock()
        self.observer: Observer = given.pop("observer", None) or Observer()
        self._open: dict[str, Any] = given
        self._stack = AsyncExitStack()

    async def close(self) -> None:
        """Close what was opened here, the newest first. What was given stays open."""
        await self._stack.aclose()

    async def once(self, name: str, make: Callable[[], Awaitable[P]]) -> P:
        """The part ``name``, made when it is first wanted."""
        if name not in self._open:
            self._open[name] = await make()
        part: P = self._open[name]
        return part

    def keep(self, part: Any) -> Any:
        """Close ``part`` with the rest."""
        closing: _Closing = part
        self._stack.push_async_callback(closing.close)
        return part
