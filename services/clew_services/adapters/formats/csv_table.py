"""CSV and its kin into one line for each row."""

from __future__ import annotations

import csv
import io
from itertools import islice
from typing import TYPE_CHECKING

from clew_services.adapters.formats.table import lines
from clew_services.errors import DocumentUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

_DELIMITERS = ",;\t|"
_SAMPLE = 64
"""Lines from which the delimiter is guessed."""


def read_csv(name: str, text: str, *, max_cells: int, delimiter: str = "") -> str:
    """The rows, each on a line (see :mod:`table`); ``delimiter`` "" is the one that the first lines are cut by.

    Raises DocumentUnreadable for a table with more than ``max_cells`` cells, and for one that is broken.
    """
    try:
        return "\n".join(lines(_rows(name, text, delimiter or _delimiter(text), max_cells)))
    except csv.Error as error:
        raise DocumentUnreadable(f"{name}: not readable as CSV ({error}).") from error


def _rows(name: str, text: str, delimiter: str, max_cells: int) -> Iterator[list[str]]:
    cells = 0
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        cells += max(1, len(row))
        if cells > max_cells:
            raise DocumentUnreadable(f"{name}: more than {max_cells} cells. Split the file.")
        yield row


def _delimiter(text: str) -> str:
    """The delimiter that cuts the first rows into the same number of cells, the larger the better; else the comma."""
    sample = "".join(islice(io.StringIO(text, newline=""), _SAMPLE))[:65536]
    best, most = ",", 1
    for candidate in _DELIMITERS:
        rows = [row for row in csv.reader(io.StringIO(sample, newline=""), delimiter=candidate) if row]
        widths = {len(row) for row in rows[:-1]} or {len(row) for row in rows}  # the last row may be cut off
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = candidate, width
    return best
