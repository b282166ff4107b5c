"""``clew trace replay``: run a question again and say what is otherwise."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from clew_services.cli.common import (
    CollectionOption,
    DataOption,
    JsonOption,
    emit_json,
    err,
    fail,
    load,
    out,
    say,
    start,
)

if TYPE_CHECKING:
    from clew_schema.facts import Fact
    from clew_services.ports import TraceStore
    from clew_services.settings import Settings
    from clew_translators.trace_diff import Difference

_STORED_SECONDS = 10.0


def replay(
    run: Annotated[
        str, typer.Argument(metavar="ID", help="A run: its IRI, or its session id or the beginning of it.")
    ],
    live: Annotated[
        bool, typer.Option("--live", help="Ask the services that run now, with their models and documents.")
    ] = False,
    collection: CollectionOption = "default",
    timeout: Annotated[
        float, typer.Option("--timeout", min=1.0, help="Seconds to wait for a response.")
    ] = 120.0,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Run a question again, and say what comes out otherwise. Ends with 1 when anything does, with 2 if it cannot run.

    What models and searches said is taken from the trace, so this shows what this version decides otherwise, costs
    nothing and leaves nothing behind. With --live all is asked again, under a session of its own, whose trace is kept.
    """
    from clew_services.cli.why_view import render_diff

    work = _live if live else _recorded
    found = start(work(load(data), collection, run, timeout), trouble=2)
    if json:
        for one in found:
            emit_json(asdict(one))
    elif found:
        out.print(render_diff(found))
    else:
        say(out, "it comes out the same")
    if found:
        raise typer.Exit(1)


async def _recorded(settings: Settings, collection: str, run: str, timeout: float) -> tuple[Difference, ...]:
    from clew_services.cli.connect import traces_of
    from clew_services.replaying import replay as again
    from clew_services.runtime.observe import configure_logging
    from clew_translators.trace_diff import diff

    configure_logging("error")  # the services of a replay are nobody's to watch
    async with traces_of(settings) as store:
        uri, facts = await _facts(store, collection, run)
        tools = await _tools(store, collection, facts)
    made = await again(
        facts, settings, session_id=_session(uri), collection=collection, tools=tools, timeout=timeout
    )
    return diff(facts, made)


async def _live(settings: Settings, collection: str, run: str, timeout: float) -> tuple[Difference, ...]:
    import asyncio
    from uuid import uuid4

    from clew_services.cli.connect import client_of, traces_of
    from clew_services.handlers.trace_export import ENDS
    from clew_services.replaying import ask_again, beginning
    from clew_translators.explain import question_uri
    from clew_translators.trace_diff import diff

    async with traces_of(settings) as store:
        _, facts = await _facts(store, collection, run)
        asked = beginning(facts)
        session = str(uuid4())
        async with client_of(settings) as client:
            rested = await ask_again(
                client, asked, facts, session_id=session, collection=collection, timeout=timeout
            )
        say(err, f"the new run is {session}")
        uri = question_uri(session, asked.mechanism)
        made: tuple[Fact, ...] = ()
        async with asyncio.timeout(_STORED_SECONDS):
            while sum(fact.kind in ENDS for fact in made) < rested:
                await asyncio.sleep(0.1)  # the trace store reads what the services told at its own pace
                made = await _so_far(store, collection, uri)
    return diff(facts, made)


async def _so_far(store: TraceStore, collection: str, uri: str) -> tuple[Fact, ...]:
    from clew_translators.explain.facts import FactsUnreadable, facts_of

    try:
        return facts_of(await store.run(collection, uri))
    except FactsUnreadable:
        return ()


async def _facts(store: TraceStore, collection: str, run: str) -> tuple[str, tuple[Fact, ...]]:
    from clew_services.cli.trace_why import facts_in, uri_of

    uri = await uri_of(store, collection, run)
    return uri, await facts_in(store, collection, uri)


async def _tools(store: TraceStore, collection: str, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """The facts of the runs that tools made of their own, as far as they are kept."""
    from clew_schema.facts import ToolObserved

    named = dict.fromkeys(
        fact.trace_uri for fact in facts if isinstance(fact, ToolObserved) and fact.trace_uri
    )
    told = [await _so_far(store, collection, uri) for uri in named]
    return tuple(fact for run in told for fact in run)


def _session(uri: str) -> str:
    from clew_translators.uris import run_of

    found = run_of(uri)
    if found is None:
        fail("unreadable-trace", f"{uri} is no run of Clew")
    return found[1]
