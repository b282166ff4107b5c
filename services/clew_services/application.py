"""A whole process of Clew: a broker when none is given, the services that were asked for, and the ops server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from clew_services.adapters.pulsar_lite import PulsarLite
from clew_services.dead_letters import keep_letters
from clew_services.errors import BusFailed
from clew_services.runtime.ops import OpsServer, ops_app
from clew_services.runtime.service import Service
from clew_services.runtime.trace_api import trace_routes
from clew_services.runtime.tuning import tune_collector
from clew_services.steps import SERVICES, steps_of
from clew_services.wiring import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from clew_services.settings import Settings

RUN_FILE = "run.json"
"""In the data folder while ``clew up`` runs: where its broker and its ops server are."""


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
        settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        if settings.embedded_broker and "bus" not in self._given:
            self.broker = PulsarLite(settings.data / "broker")
            await self.broker.start()
        url = self.broker.url if self.broker else ""
        parts = self.parts = Parts(settings, broker_url=url, **self._given)
        if self.broker:
            parts.observer.event("broker_started", url=url, pid=self.broker.pid)
        await keep_letters(await parts.bus(), settings.space)
        steps = await steps_of(parts, self.services)
        self.service = Service(steps, await parts.processor(), retention=settings.ledger_hours * 3600)
        await self.service.start()
        routes = trace_routes(await parts.traces()) if "trace-store" in self.services else []
        app = ops_app(self.service, await parts.bus(), parts.observer.metrics, routes)
        self._ops = OpsServer(app, settings.ops_host, settings.ops_port)
        self.ops_url = await self._ops.start()
        tune_collector()
        if self.broker:
            write_run_file(settings.data, {"pid": os.getpid(), "broker": url, "ops": self.ops_url})

    async def stop(self) -> None:
        """Finish what is in hand, flush, close. Idempotent."""
        if self.broker:
            (self.settings.data / RUN_FILE).unlink(missing_ok=True)
        if self.service is not None:
            await self.service.stop()
        if self._ops is not None:
            await self._ops.stop()
        if self.parts is not None:
            await self.parts.close()
        if self.broker is not None:
            await self.broker.stop()
            self.broker = None

    async def run_until_signalled(self) -> None:
        """Serve until SIGTERM or SIGINT, then stop; a second signal ends the process at once."""
        loop, stop = asyncio.get_running_loop(), asyncio.Event()

        def asked() -> None:
            if stop.is_set():
                os._exit(130)
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, asked)
        try:
            while not stop.is_set():
                if self.broker and self.broker.failure:
                    raise BusFailed(self.broker.failure)
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), 1.0)
        finally:
            await self.stop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


def write_run_file(data: Path, values: Mapping[str, object]) -> None:
    """Write where things are, whole or not at all."""
    draft = data / f"{RUN_FILE}.new"
    draft.write_text(json.dumps(values))
    draft.replace(data / RUN_FILE)


def read_run_file(data: Path) -> Mapping[str, Any] | None:
    """Where the running ``clew up`` of this folder is; null when none runs, also after it was killed."""
    try:
        values: Mapping[str, Any] = json.loads((data / RUN_FILE).read_text())
        pid = int(values["pid"])
    except (FileNotFoundError, ValueError, KeyError):
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # it runs, as somebody else
    return values
