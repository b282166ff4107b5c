"""``clew cancel``: end a run before its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    emit_json,
    fail,
    load,
    out,
    say,
    start,
    utf8,
)

if TYPE_CHECKING:
    from clew_schema.cancelling import CancelRequest, CancelResponse


def cancel(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="The run's session id, as `clew trace list` has it.")
    ],
    collection: CollectionOption = "default",
    reason: Annotated[str, typer.Option("--reason", help="Why; who waits for the answer is told.")] = "",
    user: Annotated[str, typer.Option("--user", help="Who cancels, for the trace.")] = "",
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds to wait for the service.")
    ] = 30.0,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """End a run before its next step begins; a pause is withdrawn, and what has ended stays as it ended."""
    from clew_schema.cancelling import CancelRequest

    request = CancelRequest(
        session_id=utf8(session), collection=utf8(collection), reason=utf8(reason), user=utf8(user)
    )
    said = start(_cancelled(request, timeout, data))
    if json:
        emit_json(said.model_dump(mode="json"))
        if said.error is not None:
            raise typer.Exit(1)
        return
    if said.error is not None:
        fail(said.error.type, said.error.message)
    known = " already" if said.state == "already-cancelled" else ""
    say(out, f"run {said.session_id} of collection {said.collection} is cancelled{known}", whole=True)
    for ticket in said.tickets:
        say(out, f"ticket {ticket} is withdrawn", whole=True)


async def _cancelled(request: CancelRequest, timeout: float, data: Path | None) -> CancelResponse:
    from clew_services.cli.connect import client_of

    async with client_of(load(data)) as client:
        return await client.cancel(request, timeout=timeout)
