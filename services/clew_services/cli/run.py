"""``clew up`` and ``clew run``: the services."""

from __future__ import annotations

from typing import Annotated

import typer

from clew_services.application import Application
from clew_services.cli.common import DataOption, err, fail, load, start
from clew_services.runtime.observe import configure_logging
from clew_services.settings import Settings
from clew_services.steps import SERVICES

LogOption = Annotated[
    str | None, typer.Option("--log-level", help="debug, info, warning or error. [default: CLEW_LOG_LEVEL]")
]


def up(data: DataOption = None, log_level: LogOption = None) -> None:
    """Start everything in one process: broker, stores, all services. Ctrl-C stops it cleanly.

    Nothing else is needed: no key, no account, no network. Everything lies in one folder.
    """
    settings = load(data, log_level=log_level or "warning", log_format="console")
    services = _known(settings.services.split(",")) if settings.services else tuple(SERVICES)
    configure_logging(settings.log_level, form=settings.log_format)
    start(_serve(settings, services))


def run(
    services: Annotated[list[str], typer.Argument(help="Which: " + ", ".join(SERVICES))],
    data: DataOption = None,
    log_level: LogOption = None,
) -> None:
    """Run some of the services against external Pulsar, Milvus and PostgreSQL.

    CLEW_PULSAR_URL must be set; CLEW_MILVUS_URI and CLEW_DATABASE_URL where several processes share them.
    """
    settings = load(data, log_level=log_level)
    if settings.embedded_broker:
        fail("bad-setting", "CLEW_PULSAR_URL is not set: `clew run` joins a broker; `clew up` brings one", 2)
    configure_logging(settings.log_level, form=settings.log_format)
    start(_serve(settings, _known(services)))


def _known(names: list[str]) -> tuple[str, ...]:
    asked = tuple(name.strip() for name in names)
    for name in asked:
        if name not in SERVICES:
            fail("unknown-service", f"{name!r} is none of: {', '.join(SERVICES)}", 2)
    return asked


async def _serve(settings: Settings, services: tuple[str, ...]) -> None:
    application = Application(settings, services)
    await application.start()
    broker = application.parts.broker_url if application.parts else ""
    err.print(f"[bold green]clew[/] {', '.join(services)}")
    err.print(
        f"  broker [cyan]{broker}[/]   ops [cyan]{application.ops_url}[/]   data [cyan]{settings.data}[/]"
    )
    err.print("  ready; stop with Ctrl-C")
    await application.run_until_signalled()
    err.print("stopped; nothing in hand was lost")
