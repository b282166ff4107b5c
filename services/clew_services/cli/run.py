"""``clew up`` and ``clew run``: the services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import DataOption, err, fail, load, say, start

if TYPE_CHECKING:
    from clew_services.settings import Settings

LogOption = Annotated[
    str | None, typer.Option("--log-level", help="debug, info, warning or error. [default: CLEW_LOG_LEVEL]")
]


def up(data: DataOption = None, log_level: LogOption = None) -> None:
    """Start everything in one process: broker, stores, all services. Ctrl-C stops it cleanly.

    Nothing else is needed: no key, no account, no network. Everything lies in one folder.
    CLEW_SERVICES names the services to start, separated by commas, when it shall not be all of them.
    """
    settings = load(data, log_level=log_level or "warning", log_format="console")
    _serve(settings, settings.services.split(",") if settings.services else None)


def run(
    services: Annotated[
        list[str],
        typer.Argument(
            help="Which: document-rag, grading, agent, ingest, trace-store, dead-letters, cancel."
        ),
    ],
    data: DataOption = None,
    log_level: LogOption = None,
) -> None:
    """Run some of the services against external Pulsar, Milvus and PostgreSQL.

    CLEW_PULSAR_URL must be set; CLEW_MILVUS_URI and CLEW_DATABASE_URL where several processes share them.
    """
    settings = load(data, log_level=log_level)
    if settings.embedded_broker:
        fail("bad-setting", "CLEW_PULSAR_URL is not set: `clew run` joins a broker; `clew up` brings one", 2)
    _serve(settings, services)


def _serve(settings: Settings, names: list[str] | None) -> None:
    from clew_services.runtime.observe import configure_logging
    from clew_services.steps import SERVICES

    asked = tuple(name.strip() for name in names) if names is not None else tuple(SERVICES)
    for name in asked:
        if name not in SERVICES:
            fail("unknown-service", f"{name!r} is none of: {', '.join(SERVICES)}", 2)
    configure_logging(settings.log_level, form=settings.log_format)
    start(_until_signalled(settings, tuple(dict.fromkeys(asked))))


async def _until_signalled(settings: Settings, services: tuple[str, ...]) -> None:
    from clew_services.application import Application

    application = Application(settings, services)

    def ready() -> None:
        broker = application.parts.broker_url if application.parts else ""
        say(err, ("clew", "bold green"), f" {', '.join(services)}")
        for name, value in (("broker", broker), ("ops", application.ops_url), ("data", settings.data)):
            say(err, f"  {name:<6} ", (str(value), "cyan"), whole=True)
        say(err, "  ready; stop with Ctrl-C")

    await application.run_until_signalled(ready)
    say(err, "stopped; nothing in hand was lost")
