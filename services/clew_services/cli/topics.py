"""``clew topics``: make the topics and subscriptions on a real broker, and list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import JsonOption, emit_json, fail, load, out, say, start

if TYPE_CHECKING:
    from clew_services.settings import Settings

app = typer.Typer(help="Make topics and subscriptions on a real broker, and list them.", no_args_is_help=True)


@app.command("list")
def list_(json: JsonOption = False) -> None:
    """List every topic: its full name, what travels there, and who reads it."""
    from clew_schema.topics import TOPICS
    from clew_services.subscriptions import subscriptions

    settings = load()
    readers = subscriptions(settings.space)
    for topic in TOPICS:
        full = settings.space.full(topic.name)
        row = {
            "topic": full,
            "body": topic.body.__name__,
            "key": topic.key,
            "about": topic.about,
            "subscriptions": readers.get(full, []),
        }
        if json:
            emit_json(row)
        else:
            say(out, (full, "bold"), f"  {topic.body.__name__}", whole=True)
            say(out, f"  {topic.about}")
            for reader in readers.get(full, []):
                say(out, (f"  read by {reader}", "dim"))


@app.command()
def create(
    admin: Annotated[
        str, typer.Option(help="Admin API of the broker. [default: CLEW_PULSAR_ADMIN_URL]")
    ] = "",
) -> None:
    """Make tenant, namespace, topics and subscriptions; what exists stays as it is."""
    settings = load(pulsar_admin_url=admin or None)
    if not settings.pulsar_admin_url:
        fail(
            "bad-setting",
            "set CLEW_PULSAR_ADMIN_URL (or --admin) to the broker's admin API, http://host:8080",
            2,
        )
    made = start(_create(settings))
    say(out, f"{made} topics with their subscriptions are there, in {settings.tenant}/{settings.namespace}")


async def _create(settings: Settings) -> int:
    from clew_schema.topics import TOPICS
    from clew_services.adapters.bus.pulsar_admin import PulsarAdmin
    from clew_services.subscriptions import subscriptions

    space = settings.space
    wanted: dict[str, list[str]] = {space.full(topic.name): [] for topic in TOPICS} | subscriptions(space)
    pairs = [(topic, name) for topic, names in wanted.items() for name in names]
    async with PulsarAdmin(
        settings.pulsar_admin_url, token=settings.pulsar_token.get_secret_value() or None
    ) as admin:
        await admin.ensure(wanted, pairs)
    return len(wanted)
