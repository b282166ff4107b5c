"""``clew trace watch``: what the services decide, line by line, while they do."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from clew_services.cli.common import DataOption, JsonOption, emit_json, err, load, out, say, start

if TYPE_CHECKING:
    from clew_services.settings import Settings
    from clew_services.watching import Watched
    from clew_translators.trace import Step


def watch(
    collection: Annotated[
        str, typer.Option("--collection", "-c", help="Only this collection. [default: all of them]")
    ] = "",
    run: Annotated[str, typer.Option("--run", help="Only this run: its IRI, or its session id.")] = "",
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="End after so many steps. 0: until Ctrl-C.")
    ] = 0,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Follow the explainability topic: every step of every run from now on, as it is told."""
    start(_watch(load(data), collection, run, count, json=json))


async def _watch(settings: Settings, collection: str, run: str, count: int, *, json: bool) -> None:
    from clew_services.cli.connect import parts_of
    from clew_services.watching import watch as watching
    from clew_translators.trace import question_candidates

    wanted = question_candidates(run) if run else ()
    left = count

    def opened() -> None:
        say(err, "watching; Ctrl-C ends it")

    async with (
        parts_of(settings) as parts,
        aclosing(watching(await parts.bus(), settings.space, collection=collection, opened=opened)) as told,
    ):
        async for one in told:
            if wanted and one.run not in wanted:
                continue
            if json:
                emit_json(as_json(one))
            else:
                for line in lines(one):
                    out.print(line, soft_wrap=True)
            left -= 1
            if left == 0:
                return


def as_json(one: Watched) -> dict[str, object]:
    """A step as JSON values: its run, its facts, and how many quads told them."""
    return {
        "run": one.run,
        "collection": one.collection,
        "facts": [fact.model_dump(mode="json") for fact in one.facts],
        "quads": len(one.batch.triples),
    }


def lines(one: Watched) -> list[Text]:
    """A step as a person reads it: when, which run, and what each activity came to."""
    from clew_services.cli.trace_view import clipped, one_line, short, step_style
    from clew_translators.trace import TraceUnreadable, read_trace

    try:
        tree = read_trace(one.batch.triples)
    except TraceUnreadable:
        return []
    session = short(one_line(one.run.rpartition(":")[2]))

    def line(time: str, title: str, style: str, aside: str = "") -> Text:
        text = Text.assemble(
            (f"{one_line(time)[11:23] or '            '}  ", "dim"), (f"{session}  ", "cyan")
        )
        text.append(clipped(title, 120), style=style)
        text.append(f"  {aside}" if aside else "", style="dim")
        return text

    asked = (
        [line(tree.asked_at, f"Asked: {tree.question}", "bold", one_line(one.collection))]
        if tree.question
        else []
    )
    return [
        *asked,
        *(line(step.started_at, step.title, step_style(step.kind), _aside(step)) for step in tree.steps),
    ]


def _aside(step: Step) -> str:
    from clew_services.cli.trace_view import clipped

    for name in ("answer", "asks", "reply", "message", "thought", "query"):
        if text := step.detail(name):
            return clipped(text, 100)
    return ""
