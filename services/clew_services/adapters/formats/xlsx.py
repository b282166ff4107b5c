"""Excel workbooks into the text of their sheets, with openpyxl, row by row."""

from __future__ import annotations

import datetime as dt
import io
import warnings
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


def read_xlsx(name: str, data: bytes, *, max_sheets: int, max_cells: int) -> tuple[str, list[str]]:
    """The title ("" if none) and the text of every sheet, in order, hidden ones too; an empty sheet gives "".

    A sheet begins with its name as a heading. Formulas give the values that were saved with them, dates are ISO 8601,
    and a share is shown in per cent where the sheet shows it so. Raises DocumentUnreadable for a file that is damaged,
    has too many sheets, or more than ``max_cells`` cells.
    """
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        names = book.sheetnames
        if len(names) > max_sheets:
            raise DocumentUnreadable(
                f"{name}: {len(names)} sheets; at most {max_sheets} are read. Split the file."
            )
        left = max_cells
        texts = []
        for sheet in names:
            rows = _Rows(book[sheet], left)
            body = "\n".join(lines(rows))
            if rows.left < 0:
                raise DocumentUnreadable(f"{name}: more than {max_cells} cells. Split the file.")
            left = rows.left
            texts.append(f"# {sheet}\n\n{body}" if body else "")
        return str(book.properties.title or "").strip(), texts
    except (*DAMAGED, InvalidFileException) as error:
        raise DocumentUnreadable(
            f"{name}: not a readable Excel file ({type(error).__name__}: {error})."
        ) from error


class _Rows:
    """The rows of a sheet as texts, until ``left`` cells are used up: then ``left`` is negative."""

    def __init__(self, sheet: Any, left: int) -> None:
        self._sheet = sheet
        self.left = left

    def __iter__(self) -> Iterator[list[str]]:
        if not hasattr(self._sheet, "reset_dimensions"):
            return  # a sheet that is a chart
        self._sheet.reset_dimensions()  # what it claims is often all of a sheet
        for number, row in enumerate(self._sheet.iter_rows(), 1):
            self.left -= len(row)
            if self.left < 0 or number > MAX_ROWS:
                self.left = -1
                return
            yield [_shown(cell) for cell in row]


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
