"""``clew eval``: a user's own questions, asked of the running services, and what the answers are worth."""

from __future__ import annotations

from pathlib import Path
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
    tell_error,
    utf8,
)

if TYPE_CHECKING:
    from rich.table import Table

    from clew_services.core.metrics import Mean
    from clew_services.evaluation.cases import Case
    from clew_services.evaluation.judging import Judged
    from clew_services.evaluation.summary import Bound, Summary
    from clew_services.settings import Settings


def evaluate(
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="Questions with known answers, JSON lines.")
    ],
    collection: CollectionOption = "default",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="Ask only the first so many; 0: all.")
    ] = 0,
    least: Annotated[
        list[str] | None,
        typer.Option("--min", metavar="NAME=VALUE", help="Fail below this, e.g. accuracy=0.7. Repeatable."),
    ] = None,
    most: Annotated[
        list[str] | None,
        typer.Option("--max", metavar="NAME=VALUE", help="Fail above this, e.g. false_refusals=0.1."),
    ] = None,
    doc_limit: Annotated[
        int, typer.Option("--doc-limit", min=0, help="Chunks of evidence; 0: the service's default.")
    ] = 0,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=256, help="Questions at a time.")] = 1,
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one question.")] = 120.0,
    json: JsonOption = False,
    data: DataOption = None,
) -> None:
    """Measure retrieval and answers on your own questions, and fail when they are not good enough.

    Each line of FILE is {"question": ..., "answers": [...], "documents": [...], "passages": [...]} or
    {"question": ..., "unanswerable": true}. Exit code 1: a bound of --min or --max is not kept, or nothing answers.
    """
    bounds, cases = _given(file, limit, least or (), most or ())
    work = _ask(load(data), cases, utf8(collection), doc_limit, at_once, timeout, json=json)
    summary = start(work)
    broken = [told for told in (each.broken_by(summary) for each in bounds) if told]
    if json:
        emit_json({"summary": summary.record(), "broken": broken})
    else:
        show(summary)
        for told in broken:
            tell_error("not-good-enough", told)
    if broken:
        raise typer.Exit(1)


def _given(
    file: Path, limit: int, least: list[str] | tuple[()], most: list[str] | tuple[()]
) -> tuple[list[Bound], list[Case]]:
    """The bounds and the questions; what cannot be read ends the process with 2, before anything is asked."""
    from clew_services.errors import BadRequest
    from clew_services.evaluation.cases import read_cases
    from clew_services.evaluation.summary import bound

    try:
        bounds = [bound(text) for text in least] + [bound(text, is_most=True) for text in most]
        return bounds, read_cases(file, limit=limit)
    except BadRequest as error:
        fail(error.type, str(error), 2)
    except OSError as error:
        fail("unusable", f"{file}: {error.strerror}", 2)


async def _ask(
    settings: Settings,
    cases: list[Case],
    collection: str,
    doc_limit: int,
    at_once: int,
    timeout: float,
    *,
    json: bool,
) -> Summary:
    from clew_services.cli.connect import client_of
    from clew_services.evaluation.running import ask_all
    from clew_services.evaluation.summary import summarise

    async with client_of(settings) as client:
        judged = await ask_all(
            client,
            cases,
            collection=collection,
            doc_limit=doc_limit,
            at_once=at_once,
            timeout=timeout,
            tell=_line if json else _tell,
        )
    return summarise(judged)


def _tell(judged: Judged) -> None:
    """One line for a question whose answer was not as it is known, on standard error."""
    wrong = wrongs(judged)
    if wrong:
        say(err, ("✗ ", "red"), f"{judged.case.id or judged.case.question}: ", (wrong, "dim"))


def _line(judged: Judged) -> None:
    emit_json(
        {
            "id": judged.case.id,
            "question": judged.case.question,
            "outcome": judged.outcome,
            "error": judged.error,
            "seconds": round(judged.seconds, 4),
            "figures": dict(judged.figures),
        }
    )


def wrongs(judged: Judged) -> str:
    """What went wrong with a question, in words; empty when nothing did."""
    if judged.error:
        return judged.error
    told = {
        "abstention": (0.0, "answered, though it is unanswerable"),
        "false_refusals": (1.0, "not answered"),
        "accuracy": (0.0, "answered with something else"),
    }
    return next((text for name, (bad, text) in told.items() if judged.figures.get(name) == bad), "")


def show(summary: Summary) -> None:
    """The figures as a table, and what they were taken from."""
    out.print(table(summary))
    endings = ", ".join(
        f"{count} {outcome or 'without outcome'}" for outcome, count in summary.outcomes.items()
    )
    say(out, f"{summary.questions} questions: {endings}")
    say(
        out,
        f"latency: half within {summary.latency_p50:.0f} ms, 95 in 100 within {summary.latency_p95:.0f} ms",
    )
    for kind, count in summary.failures.items():
        say(out, (f"{count} failed with {kind}", "red"))


def table(summary: Summary) -> Table:
    """A row for each figure that was measured, with its questions; a column for all and for each language."""
    from rich import box
    from rich.table import Table

    names = [name for name in summary.groups if name == "all" or len(summary.groups) > 2]
    made = Table(box=box.SIMPLE, pad_edge=False)
    made.add_column("figure", no_wrap=True)
    made.add_column("n", justify="right", no_wrap=True)
    for name in names:
        made.add_column(name, justify="right", no_wrap=True)
    for metric, mean in summary.groups["all"].items():
        made.add_row(metric, str(mean.n), *(cell(summary.groups[name].get(metric)) for name in names))
    return made


def cell(mean: Mean | None) -> str:
    """A mean and its 95 % interval."""
    return "–" if mean is None else f"{mean.value:.3f} ({mean.low:.2f}–{mean.high:.2f})"
