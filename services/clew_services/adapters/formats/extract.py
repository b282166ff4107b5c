"""Files into text: text, Markdown, HTML, CSV, PDF, Word, PowerPoint, Excel and EPUB. Bytes in; no path is opened.

What comes out is clean Unicode (see :func:`clew_services.core.sanitising.sanitise`) in which character offsets are
meant to last: evidence and citations point into it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew_services.adapters.formats import kinds
from clew_services.adapters.formats.csv_table import read_csv
from clew_services.adapters.formats.encoding import decode
from clew_services.adapters.formats.html import read_html
from clew_services.adapters.formats.kinds import SUFFIXES, SUPPORTED, kind_of
from clew_services.adapters.formats.pdf import read_pdf
from clew_services.core.chunking import PAGE_BREAK, Page
from clew_services.core.sanitising import sanitise
from clew_services.errors import DocumentUnreadable, NoText

if TYPE_CHECKING:
    from clew_services.adapters.formats.archive import Archive

__all__ = ["SUFFIXES", "SUPPORTED", "Extracted", "Limits", "extract"]

_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_MARKDOWN_TITLE = re.compile(r"^#[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The largest document that is read: bytes, pages (slides, sheets, chapters), characters, cells of tables."""

    size: int = 32 * 1024 * 1024
    pages: int = 2_000
    characters: int = 5_000_000
    cells: int = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The text of a document. ``pages`` is empty for formats without pages, else consecutive from 1.

    Pages are those of a PDF, the slides of a presentation, the sheets of a workbook, the chapters (items of the
    spine) of a book. Between two of them stands one ``PAGE_BREAK``, which belongs to neither and occurs nowhere else.
    ``title`` is the document's own, or its name.
    """

    text: str
    media_type: str
    title: str
    pages: tuple[Page, ...] = ()


def extract(name: str, data: bytes, *, media_type: str = "", limits: Limits | None = None) -> Extracted:
    """Read the file ``data``, called ``name``; content decides, then ``media_type``, then the extension.

    Raises DocumentUnreadable, saying why, for a type that is not supported, a file that its format's library cannot
    read, that is encrypted or beyond ``limits``; and NoText, which is one, for a file without any text.
    """
    limits = limits or Limits()
    if len(data) > limits.size:
        raise DocumentUnreadable(
            f"{name}: {len(data)} bytes; at most {limits.size} are read. Split the file."
        )
    if not data.strip():
        raise NoText(f"{name}: the file is empty.")
    kind, archive = kind_of(name, data, media_type)
    if archive is not None:
        extracted = _archived(name, kind, data, archive, limits)
    elif kind == kinds.PDF:
        extracted = _paged(
            name, kind, *read_pdf(name, data, max_pages=limits.pages, max_characters=limits.characters)
        )
    else:
        extracted = _flowing(name, kind, decode(name, data), limits)
    if len(extracted.text) > limits.characters:
        raise DocumentUnreadable(
            f"{name}: {len(extracted.text)} characters; at most {limits.characters} are read. Split the file."
        )
    if not extracted.text.strip():
        raise NoText(f"{name}: no text in it. Text in pictures needs character recognition (OCR) first.")
    return extracted


def _archived(name: str, kind: str, data: bytes, archive: Archive, limits: Limits) -> Extracted:
    """The libraries for Office files take half a second to load, so they are when the first such file comes."""
    if kind == kinds.EPUB:
        from clew_services.adapters.formats.epub import read_epub

        return _paged(name, kind, *read_epub(name, archive, max_chapters=limits.pages))
    archive.refuse_declarations()
    if kind == kinds.DOCX:
        from clew_services.adapters.formats.docx import read_docx

        title, text = read_docx(name, data)
        return Extracted(text=sanitise(text), media_type=kind, title=sanitise(title) or name)
    if kind == kinds.PPTX:
        from clew_services.adapters.formats.pptx import read_pptx

        return _paged(name, kind, *read_pptx(name, data, max_slides=limits.pages))
    from clew_services.adapters.formats.xlsx import read_xlsx

    title, sheets = read_xlsx(
        name, data, max_sheets=limits.pages, max_cells=limits.cells, max_characters=limits.characters
    )
    return _paged(name, kind, title, sheets)


def _flowing(name: str, media_type: str, text: str, limits: Limits) -> Extracted:
    if media_type == kinds.HTML or (media_type == kinds.TEXT and _HTML_START.match(text)):
        title, body = read_html(name, text)
        return Extracted(text=sanitise(body), media_type=kinds.HTML, title=sanitise(title) or name)
    if media_type in {kinds.CSV, kinds.TSV}:
        delimiter = "\t" if media_type == kinds.TSV else ""
        rows = read_csv(name, text, max_cells=limits.cells, delimiter=delimiter)
        return Extracted(text=sanitise(rows), media_type=media_type, title=name)
    clean = sanitise(text)
    heading = _MARKDOWN_TITLE.search(clean) if media_type == kinds.MARKDOWN else None
    return Extracted(text=clean, media_type=media_type, title=heading[1] if heading else name)


def _paged(name: str, media_type: str, title: str, parts: list[str]) -> Extracted:
    pages: list[Page] = []
    start = 0
    clean = [sanitise(part).strip() for part in parts]
    for number, part in enumerate(clean, 1):
        pages.append(Page(number, start, start + len(part)))
        start += len(part) + len(PAGE_BREAK)
    text = PAGE_BREAK.join(clean)
    return Extracted(text=text, media_type=media_type, title=sanitise(title) or name, pages=tuple(pages))
