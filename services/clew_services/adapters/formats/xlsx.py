"""Excel workbooks into the text of their sheets, with openpyxl, row by row."""

from __future__ import annotations

import datetime as dt
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import openpyxl
from openpyxl.utils.exceptions import InvalidFileException

from clew_services.adapters.formats.archive import DAMAGED
from clew_services.adapters.formats.table import lines
from clew_services.errors import DocumentUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

# What it warns of (validations, extensions, styles it does not know) is nothing that a reader of the text misses.
warnings.filterwarnings("ignore", category=UserWarning, module=r"openpyxl\.")

MAX_ROWS = 1_048_576
"""Rows of a sheet: Excel's own limit. A file may claim any number."""


def read_xlsx(
    name: str, data: bytes, *, max_sheets: int, max_cells: int, max_characters: int
) -> tuple[str, list[str]]:
    """The title ("" if none) and the text of every sheet, in order, hidden ones too; an empty sheet gives "".

    A sheet begins with its name as a heading. Formulas give the values that were saved with them, dates are ISO 8601,
    and a share is shown in per cent where the sheet shows it so. Raises DocumentUnreadable for a file that is damaged,
    has too many sheets, cells or characters.
    """
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        names = book.sheetnames
        if len(names) > max_sheets:
            raise DocumentUnreadable(
                f"{name}: {len(names)} sheets; at most {max_sheets} are read. Split the file."
            )
        budget = _Budget(name, max_cells, max_characters)
        texts = []
        for sheet in names:
            body = "\n".join(lines(_rows(book[sheet], budget)))
            texts.append(f"# {sheet}\n\n{body}" if body else "")
        return str(book.properties.title or "").strip(), texts
    except (*DAMAGED, InvalidFileException) as error:
        raise DocumentUnreadable(
            f"{name}: not a readable Excel file ({type(error).__name__}: {error})."
        ) from error


@dataclass(slots=True)
class _Budget:
    """What may still be read. A text that many cells share stands in the file once."""

    name: str
    cells: int
    characters: int

    def spend(self, cells: int, characters: int) -> None:
        self.cells -= cells
        self.characters -= characters
        for left, what in ((self.cells, "cells"), (self.characters, "characters")):
            if left < 0:
                raise DocumentUnreadable(f"{self.name}: more {what} than are read. Split the file.")


def _rows(sheet: Any, budget: _Budget) -> Iterator[list[str]]:
    if not hasattr(sheet, "reset_dimensions"):
        return  # a sheet that is a chart
    sheet.reset_dimensions()  # what it claims is often all of a sheet
    for number, row in enumerate(sheet.iter_rows(), 1):
        if number > MAX_ROWS:
            raise DocumentUnreadable(f"{budget.name}: row {number} of a sheet; Excel knows {MAX_ROWS}.")
        shown = [_shown(cell) for cell in row]
        budget.spend(len(shown), sum(map(len, shown)))
        yield shown


def _shown(cell: Any) -> str:
    value = cell.value
    match value:
        case None:
            shown = ""
        case bool():
            shown = "TRUE" if value else "FALSE"
        case int() | float() if "%" in str(cell.number_format):
            shown = f"{value * 100:.12g}%"
        case float():
            shown = f"{value:.15g}"
        case dt.datetime() if value.time() == dt.time.min:
            shown = value.date().isoformat()
        case dt.datetime():
            shown = value.isoformat(sep=" ", timespec="seconds")
        case dt.date() | dt.time():
            shown = value.isoformat()
        case _:
            shown = str(value)
    return shown
