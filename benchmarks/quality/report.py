"""The figures as tables in Markdown, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.quality.datasets import Dataset, kind
from benchmarks.quality.measure import RANKING, Row
from clew_services.core.metrics import Mean, difference, mean

BASE = "hybrid, RRF"
"""What the others are compared with, question by question."""


def cell(found: Mean | None) -> str:
    """A mean and half of its interval, in points of a hundred."""
    if found is None:
        return "–"
    return f"{100 * found.value:.1f} ±{50 * (found.high - found.low):.1f}"


def signed(found: Mean | None) -> str:
    """A difference in points of a hundred; with a star when its interval leaves out zero."""
    if found is None:
        return "–"
    star = "*" if found.low > 0 or found.high < 0 else ""
    return f"{100 * found.value:+.1f} ±{50 * (found.high - found.low):.1f}{star}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Markdown."""
    widths = [max(len(each[at]) for each in (heads, *rows)) for at in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(text.ljust(width) for text, width in zip(cells, widths, strict=True)) + " |"

    yield line(heads)
    yield "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    yield from map(line, rows)


def retrieval_table(rows: Sequence[Row]) -> Iterator[str]:
    """A row for each variant, with what it gains over BASE at the first and at the fifth place."""
    base = next(row for row in rows if row.name == BASE)
    made = [
        [
            row.name,
            *(cell(mean(row.figures(name))) for name in RANKING),
            *(signed(difference(base.figures(name), row.figures(name))) for name in ("hit@5", "mrr@10")),
            f"{row.characters:.0f}",
        ]
        for row in rows
    ]
    n = len(base.judged)
    yield from table([f"n={n}", *RANKING, "hit@5 − RRF's", "mrr@10 − RRF's", "characters in 8"], made)


def answer_table(rows: Sequence[Row]) -> Iterator[str]:
    """A row for each pipeline; abstention apart by what was left out."""
    kinds = sorted({kind(each.case) for each in rows[0].judged} - {"answerable"})
    names = (
        "accuracy",
        "false_refusals",
        "citation_precision",
        "supported",
        "coverage",
        "recall@8",
        "mrr@10",
    )
    heads = [
        "",
        *(f"{name} (n={len(rows[0].figures(name))})" for name in names),
        *(f"abstention, {name} out (n={len(rows[0].figures('abstention', name))})" for name in kinds),
        "errors",
    ]
    made = [
        [
            row.name,
            *(cell(mean(row.figures(name))) for name in names),
            *(cell(mean(row.figures("abstention", name))) for name in kinds),
            str(sum(bool(each.error) for each in row.judged)),
        ]
        for row in rows
    ]
    yield from table(heads, made)


def rewriting_table(rows: Sequence[Row]) -> Iterator[str]:
    """What the second pass did."""
    rows = [row for row in rows if row.rewrites]
    heads = list(rows[0].rewrites)
    yield from table(
        ["runs with a rewrite", *heads],
        [[row.name, *(f"{value:.3g}" for value in row.rewrites.values())] for row in rows],
    )


def record(dataset: Dataset, found: Sequence[Row], answered: Sequence[Row]) -> dict[str, Any]:
    """The same as JSON has it, intervals included."""

    def means(row: Row, names: Sequence[str]) -> Mapping[str, Any]:
        each = {name: mean(row.figures(name)) for name in names}
        return {name: asdict(value) for name, value in each.items() if value is not None}

    names = sorted({name for row in answered for each in row.judged for name in each.figures})
    return {
        "dataset": dataset.name,
        "retrieval": {row.name: means(row, RANKING) for row in found},
        "answers": {row.name: {**means(row, names), "rewrites": dict(row.rewrites)} for row in answered},
    }
