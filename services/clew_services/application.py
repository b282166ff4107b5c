"""A whole process of Clew: a broker when none is given, the services that were asked for, and the ops server."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Self

from clew_services.adapters.bus.pulsar_lite import PulsarLite
from clew_services.dead_letters import keep_letters
from clew_services.errors import BusFailed, StoreFailed
from clew_services.run_file import remove_run_file, write_run_file
from clew_services.runtime.ops import OpsServer, ops_app
from clew_services.runtime.service import Service
from clew_services.runtime.trace_api import trace_routes
from clew_services.runtime.tuning import tune_collector
from clew_services.steps import SERVICES, steps_of
from clew_services.wiring import Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from clew_services.settings import Settings


class Application:
    """Starts in the order broker, stores, consumers, ops server; stops in the reverse, losing nothing.

    Without ``pulsar_url`` in the settings it supervises a pulsar-lite over the data folder, and writes
    ``run.json`` there so that the commands of the same folder find it. ``given`` replaces parts.
    """

    def __init__(self, settings: Settings, services: tuple[str, ...] = tuple(SERVICES), **given: Any) -> None:
        """Nothing runs before ``start``."""
        self.settings = settings
        self.services = services
        self.parts: Parts | None = None
        self.service: Service | None = None
        self.broker: PulsarLite | None = None
        self.ops_url = ""
        self._given = given
        self._ops: OpsServer | None = None

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self.stop()

    async def start(self) -> None:
        """Everything, or, after an error, nothing."""
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise

    async def _start(self) -> None:
        settings = self.settings
        self._use_folder()
        if settings.embedded_broker and "bus" not in self._given:
            self.broker = PulsarLite(settings.data / "broker")
            await _uninterrupted(self.broker.start())
        url = self.broker.url if self.broker else ""
        parts = self.parts = Parts(settings, broker_url=url, **self._given)
        if self.broker:
            parts.observer.event("broker_started", url=url, pid=self.broker.pid)
        await keep_letters(await parts.bus(), settings.space)
        steps = await steps_of(parts, self.services)
        self.service = Service(
            steps,
            await parts.processor(),
            retention=settings.ledger_hours * 3600,
            backlogs=await parts.backlogs(),
            patience=settings.watchdog_seconds,
        )
        await self.service.start()
        routes = trace_routes(await parts.traces()) if "trace-store" in self.services else []
        app = ops_app(self.service, await parts.bus(), parts.observer.metrics, routes)
        self._ops = OpsServer(app, settings.ops_host, settings.ops_port)
        self.ops_url = await self._ops.start()
        tune_collector()
        if self.broker:
            write_run_file(settings.data, broker=url, ops=self.ops_url)

    def _use_folder(self) -> None:
        data = self.settings.data
        try:
            data.mkdir(parents=True, exist_ok=True, mode=0o700)
            with TemporaryFile(dir=data):
                pass
        except OSError as error:
            raise StoreFailed(
                f"cannot write to the data folder {data} ({error.strerror}): choose another with --data or CLEW_DATA"
            ) from error

    async def stop(self) -> None:
        """Finish what is in hand, flush, close. Idempotent. A part that cannot be closed leaves the others to close."""
        if self.broker is not None:
            remove_run_file(self.settings.data)
        service, ops, parts, broker = self.service, self._ops, self.parts, self.broker
        self.service = self._ops = self.parts = self.broker = None
        async with (
            AsyncExitStack() as closing
        ):  # what is pushed last is closed first, whatever the others raise
            for part, close in ((broker, "stop"), (parts, "close"), (ops, "stop"), (service, "stop")):
                if part is not None:
                    closing.push_async_callback(getattr(part, close))

    async def run_until_signalled(self, ready: Callable[[], None] = lambda: None) -> None:
        """Start, call ``ready``, serve until SIGTERM or SIGINT, then stop; a second signal ends the process at once.

        A signal while it starts stops it as well. Raises BusFailed when the embedded broker is beyond repair, and
        what ``start`` raises.
        """
        loop, stop = asyncio.get_running_loop(), asyncio.Event()

        def asked() -> None:
            if stop.is_set():
                os._exit(130)
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, asked)
        try:
            if await self._started_before(stop):
                ready()
                await self._serve(stop)
        finally:
            await self.stop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    async def _started_before(self, stop: asyncio.Event) -> bool:
        starting, stopping = asyncio.create_task(self.start()), asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                await starting
                return True
            return False
        finally:
            for task in (starting, stopping):
                task.cancel()
            await asyncio.gather(starting, stopping, return_exceptions=True)

    async def _serve(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            if self.broker and self.broker.failure:
                raise BusFailed(self.broker.failure)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 1.0)


async def _uninterrupted(work: Coroutine[Any, Any, None]) -> None:
    """Let ``work``, which goes on in a thread, end also when we are cancelled: only then can it be undone."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.gather(task, return_exceptions=True)
        raise
