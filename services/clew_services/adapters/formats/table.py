"""Tables into lines, so that a row can be understood where it stands alone, cut from its head."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SEPARATOR = " | "
LONGEST_HEAD = 100
"""Characters of a column's name."""

_SPACE = re.compile(r"\s+")
_VALUE = re.compile(r"[-+(]?[\d.,:/\s%€$£¥-]*\d[\d.,:/\s%€$£¥)-]*")
"""A number, an amount, a share, a date or a time: what the head of a column is not."""


def lines(rows: Iterable[Sequence[str]], *, head: bool | None = None, least: int = 2) -> Iterator[str]:
    """One line for each row that holds anything; white space within a cell is one blank.

    The first row that holds anything is the head if ``head`` says so; null: if it has at least ``least`` cells, all
    filled and different, and none is a number or a date. Long cells are never a head. It is a line with " | " between
    its cells, and every row below it reads ``column: value | column: value``, empty cells left out. Without a head a
    row is its cells with " | " between them, those that are empty left out at its end only.
    """
    columns: Sequence[str] = ()
    first = True
    for row in rows:
        cells = [_SPACE.sub(" ", cell).strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if first and _short(cells) and (head if head is not None else _is_head(cells, least)):
            columns = cells
            yield SEPARATOR.join(cells)
        elif columns:
            yield SEPARATOR.join(_named(columns, cells))
        else:
            yield SEPARATOR.join(cells)
        first = False


def _named(columns: Sequence[str], cells: Sequence[str]) -> Iterator[str]:
    for at, cell in enumerate(cells):
        if cell:
            column = columns[at] if at < len(columns) else ""
            yield f"{column}: {cell}" if column and column != cell else cell


def _is_head(cells: Sequence[str], least: int) -> bool:
    return (
        len(cells) >= least
        and len(set(cells)) == len(cells)
        and all(cell and not _VALUE.fullmatch(cell) for cell in cells)
    )


def _short(cells: Sequence[str]) -> bool:
    """What is longer is a text; and said again in every row, it would swell a small file to any size."""
    return all(len(cell) <= LONGEST_HEAD for cell in cells)
