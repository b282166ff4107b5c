"""What an orchestrator and an operator look at: liveness, readiness, metrics; on the loopback by default."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from clew_services.errors import BusFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from clew_services.ports import Bus
    from clew_services.runtime.observe import Metrics
    from clew_services.runtime.service import Service


def ops_app(service: Service, bus: Bus, metrics: Metrics, extra: Sequence[BaseRoute] = ()) -> Starlette:
    """``/livez``: the event loop turns (it says nothing of the broker: a restart would not mend that).

    ``/readyz``: every consumer is subscribed with its brake off and the broker answers, else 503;
    ``/metrics``: Prometheus.
    """

    async def livez(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> Response:
        health = service.health()
        broker = "ok"
        try:
            async with asyncio.timeout(2):
                await bus.ping()
        except (BusFailed, TimeoutError) as error:
            broker = str(error) or "the broker did not answer in 2 s"
        ready = service.ready and broker == "ok"
        body = {"status": "ok" if ready else "not ready", "broker": broker, "steps": health}
        return JSONResponse(body, status_code=200 if ready else 503)

    async def scrape(_: Request) -> Response:
        service.health()
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return Starlette(
        routes=[Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", scrape), *extra]
    )


class OpsServer:
    """Serves an app on ``host:port`` beside the consumers, in the same event loop. Port 0 picks a free one."""

    def __init__(self, app: Starlette, host: str = "127.0.0.1", port: int = 0) -> None:
        """Nothing listens before ``start``."""
        config = uvicorn.Config(
            app,
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=2,
        )
        self._server = _Quiet(config)
        self._task: asyncio.Task[None] | None = None
        self._host = host

    async def start(self) -> str:
        """Listen; the URL. Raises OSError when the port is taken."""
        self._task = asyncio.create_task(self._server.serve())
        while not self._server.started:
            if self._task.done():
                await self._task
                raise OSError(f"cannot listen on {self._host}:{self._server.config.port}: is the port taken?")
            await asyncio.sleep(0.005)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://{self._host}:{port}"

    async def stop(self) -> None:
        """Finish what is being answered, then close. Idempotent."""
        if self._task is None:
            return
        self._server.should_exit = True
        with suppress(asyncio.CancelledError):
            await self._task
        self._task = None


class _Quiet(uvicorn.Server):
    """Signals belong to the process's own runtime, not to its ops server; a taken port is an error, not an exit."""

    def install_signal_handlers(self) -> None:
        """None."""

    async def serve(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Serve without touching signal handlers."""
        try:
            await self._serve(sockets)  # type: ignore[arg-type]
        except SystemExit as error:
            raise OSError(f"cannot listen on port {self.config.port}: is it taken?") from error
