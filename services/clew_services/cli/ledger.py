"""``clew ledger``: what the services remember of handled messages, whether it is sound, and how to make it smaller."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import DataOption, JsonOption, emit_json, err, load, out, say, start

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from clew_services.adapters.stores.ledger_care import LedgerCare, Survey
    from clew_services.settings import Settings

app = typer.Typer(
    help="Look at what the services remember of handled messages, and make it smaller.", no_args_is_help=True
)


@app.command()
def check(json: JsonOption = False, data: DataOption = None) -> None:
    """Read the whole ledger: rows by step and age, tickets, what cannot be read. Exit code 1 if any is wrong."""
    found = start(_surveyed(load(data)), trouble=2)
    if json:
        emit_json(asdict(found) | {"well": found.well})
    else:
        _tell(found)
    if not found.well:
        raise typer.Exit(1)


@app.command()
def compact(
    older_than: Annotated[
        float | None,
        typer.Option(
            "--older-than", min=0.0, help="Hours; what is older is forgotten. [default: CLEW_LEDGER_HOURS]"
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and change nothing.")
    ] = False,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Forget what is old, and give its space back. Safe while services run: who writes meanwhile waits.

    A message that a broker delivers again after its row is forgotten is handled again, so keep rows for longer than
    a broker may hold a message back.
    """
    settings = load(data)
    hours = settings.ledger_hours if older_than is None else older_than
    told = start(_compacted(settings, time.time() - hours * 3600, dry_run=dry_run))
    if json:
        emit_json(told)
        return
    verb = "would go" if dry_run else "went"
    say(out, f"{told['rows']} rows older than {hours:g} hours {verb}")
    if not dry_run:
        say(out, f"{told['bytes_before']:,} bytes before, {told['bytes_after']:,} after")


def _tell(found: Survey) -> None:
    kind = "PostgreSQL" if found.kind == "postgresql" else "SQLite"
    say(out, f"{kind}, {found.size:,} bytes, {sum(each.rows for each in found.steps)} rows")
    now = time.time()
    for each in found.steps:
        say(
            out,
            f"  {each.step:<24} {each.rows:>9} rows, the oldest {(now - each.oldest) / 3600:.1f} hours old",
        )
    say(out, f"tickets: {found.open_tickets} wait for a person, {found.overdue} expired")
    for step, message_id, why in found.unreadable:
        say(err, ("cannot be read", "red"), f"  {step} {message_id}: {why}", whole=True)
    if found.unreadable_rows > len(found.unreadable):
        say(err, f"and {found.unreadable_rows - len(found.unreadable)} more rows")
    if found.integrity not in {"", "ok"}:
        say(err, ("damaged", "red"), f": {found.integrity}", whole=True)
        say(
            err,
            "stop the services, restore the file from a backup, or move it away and start with an empty one",
        )


@asynccontextmanager
async def _care(settings: Settings) -> AsyncIterator[LedgerCare]:
    from clew_services.adapters.stores.ledger_care import LedgerCare
    from clew_services.errors import StoreFailed

    if not settings.database_url and not (settings.data / "ledger.sqlite3").exists():
        raise StoreFailed(
            f"there is no ledger in {settings.data}: name the folder of a `clew up` with --data, "
            "or set CLEW_DATABASE_URL to the database of the services"
        )
    care = LedgerCare(settings.database("ledger"))
    try:
        yield care
    finally:
        await care.close()


async def _surveyed(settings: Settings) -> Survey:
    async with _care(settings) as care:
        return await care.survey(time.time())


async def _compacted(settings: Settings, before: float, *, dry_run: bool) -> dict[str, int | bool]:
    async with _care(settings) as care:
        size = await care.size()
        rows = await care.older(before) if dry_run else await care.compact(before)
        after = size if dry_run else await care.size()
    return {"dry_run": dry_run, "rows": rows, "bytes_before": size, "bytes_after": after}
