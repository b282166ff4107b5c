"""``clew``: run the services, take documents in, ask, and look at how an answer came about."""

from __future__ import annotations

import typer

from clew_services.cli import ask, dead, demo, ingest, run, topics, trace

app = typer.Typer(
    name="clew",
    help="Questions over documents, with agents, on Apache Pulsar: every answer leads back to its evidence.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("up")(run.up)
app.command("run")(run.run)
app.command("ingest")(ingest.ingest)
app.command("ask")(ask.ask)
app.command("agent")(ask.agent)
app.command("demo")(demo.demo)
app.add_typer(trace.app, name="trace")
app.add_typer(dead.app, name="dead")
app.add_typer(topics.app, name="topics")
