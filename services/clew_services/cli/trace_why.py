"""``clew trace why`` and ``clew trace diff``: questions to the trace of a run, answered from its facts."""

from __future__ import annotations

from dataclasses import asdict
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
)

if TYPE_CHECKING:
    from clew_schema.facts import Fact
    from clew_services.ports import TraceStore
    from clew_services.settings import Settings
    from clew_translators.why import Why

DEEPEST = 16
"""How far runs of tools, of their tools and so on are followed."""

RunArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A run: its IRI, or its session id or the beginning of it.")
]
SentenceOption = Annotated[
    int,
    typer.Option("--sentence", "-n", min=0, help="Only this sentence of the answer, with all its sources."),
]


def why(
    run: RunArgument,
    sentence: SentenceOption = 0,
    collection: CollectionOption = "default",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Say why a run answered as it did: each sentence with the span it rests on, and what was left out and why.

    With --sentence N: from that sentence back through its citation, chunk, grade and search to the question.
    """
    from clew_services.cli.why_view import render_why

    told = start(_why(load(data), collection, run))
    known = [one.number for one in told.sentences]
    if sentence and sentence not in known:
        which = f"its sentences are numbered 1 to {len(known)}" if known else "its answer was not checked"
        fail("unknown-sentence", f"the answer of {told.uri} has no sentence {sentence}: {which}")
    if json:
        chosen = tuple(one for one in told.sentences if not sentence or one.number == sentence)
        emit_json(asdict(told) | {"sentences": [asdict(one) for one in chosen]})
    else:
        out.print(render_why(told, sentence))


def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A run, as in `clew trace show`.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The run that is held against it.")],
    collection: CollectionOption = "default",
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Say in what the run B differs from the run A: what was asked, found, decided and said. Times do not count.

    Ends with 1 where they differ, with 2 where one of them cannot be read.
    """
    from clew_services.cli.why_view import render_diff
    from clew_translators.trace_diff import diff as differences_of

    old, new = start(_both(load(data), collection, before, after), trouble=2)
    found = differences_of(old, new)
    if json:
        for one in found:
            emit_json(asdict(one))
    elif found:
        out.print(render_diff(found))
    else:
        say(out, "the runs say the same")
    if found:
        raise typer.Exit(1)


async def _why(settings: Settings, collection: str, run: str) -> Why:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        uri = await uri_of(store, collection, run)
        return await why_of(store, collection, uri)


async def _both(
    settings: Settings, collection: str, before: str, after: str
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    from clew_services.cli.connect import traces_of

    async with traces_of(settings) as store:
        old = await facts_in(store, collection, await uri_of(store, collection, before))
        new = await facts_in(store, collection, await uri_of(store, collection, after))
    return old, new


async def uri_of(store: TraceStore, collection: str, run: str) -> str:
    """The IRI of the run that ``run`` names. Ends the process when there is none, or more than one."""
    from clew_services.cli.trace import named

    async def read(uri: str) -> str | None:
        return uri if await store.run(collection, uri) else None

    found = await named(store, collection, run, read)
    if found is None:
        fail("unknown-run", f"collection {collection!r} has no run {run!r}: see `clew trace list`")
    return found


async def facts_in(store: TraceStore, collection: str, uri: str) -> tuple[Fact, ...]:
    """The facts of a run. Ends the process for a trace that holds none: it is another system's."""
    from clew_translators.explain.facts import FactsUnreadable, facts_of

    try:
        return facts_of(await store.run(collection, uri))
    except FactsUnreadable as error:
        fail("unreadable-trace", f"{uri}: {error}")


async def why_of(store: TraceStore, collection: str, uri: str) -> Why:
    """The run ``uri`` explained, with the runs of its tools. Ends the process where its trace holds no facts.

    A trace may say anything. Each run is explained once, where it is mentioned first and as deep as DEEPEST; a tool's
    run that holds no facts is left out.
    """
    return await _explained(store, collection, uri, await facts_in(store, collection, uri), {uri}, DEEPEST)


async def _explained(
    store: TraceStore, collection: str, uri: str, facts: tuple[Fact, ...], seen: set[str], depth: int
) -> Why:
    from clew_schema.facts import ToolObserved
    from clew_translators.explain.facts import FactsUnreadable, facts_of
    from clew_translators.why import why as explained

    named = {fact.trace_uri for fact in facts if isinstance(fact, ToolObserved) and fact.trace_uri} - seen
    seen |= named if depth else set()
    tools: dict[str, Why] = {}
    for name in sorted(named) if depth else ():
        try:
            told = facts_of(await store.run(collection, name))
        except FactsUnreadable:
            continue
        tools[name] = await _explained(store, collection, name, told, seen, depth - 1)
    return explained(facts, uri, tools)
