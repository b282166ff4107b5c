"""``clew``: run the services, take documents in, ask, and look at how an answer came about.

Whatever a command needs is imported when it runs, so that the help is there at once.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer

from clew_services.cli import (
    ask,
    brake,
    cancel,
    dead,
    demo,
    doctor,
    documents,
    evaluate,
    ingest,
    ledger,
    run,
    ticket,
    topics,
    trace,
)
from clew_services.cli.common import out, prepare_streams
from clew_services.redaction import guard_tracebacks


class _CommandLine(typer.Typer):
    """The application; called by the ``clew`` script."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        prepare_streams()
        guard_tracebacks()
        # Not as typer calls itself: it puts a hook of its own in the place of ours, and that hides nothing.
        return typer.main.get_command(self)(*args, **kwargs)


app = _CommandLine(
    name="clew",
    help="Questions over documents, with agents, on Apache Pulsar: every answer leads back to its evidence.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        out.print(f"clew {version('clew-services')}")
        raise typer.Exit


@app.callback()
def clew(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Questions over documents, with agents, on Apache Pulsar: every answer leads back to its evidence."""


app.command("up")(run.up)
app.command("run")(run.run)
app.command("ingest")(ingest.ingest)
app.command("ask")(ask.ask)
app.command("agent")(ask.agent)
app.command("cancel")(cancel.cancel)
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.command("eval")(evaluate.evaluate)
app.add_typer(documents.app, name="documents")
app.add_typer(trace.app, name="trace")
app.add_typer(ticket.app, name="ticket")
app.add_typer(dead.app, name="dead")
app.add_typer(brake.app, name="brake")
app.add_typer(ledger.app, name="ledger")
app.add_typer(topics.app, name="topics")
