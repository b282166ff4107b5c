"""PDF into the text of its pages, with pypdf."""

from __future__ import annotations

import io
import logging
import struct
import zlib

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from clew_services.errors import DocumentUnreadable

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it would print is in the error that is raised

_DAMAGED = (
    PyPdfError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What pypdf lets through for a damaged file, besides its own errors: found by damaging files (see its tests)."""


def read_pdf(name: str, data: bytes, *, max_pages: int) -> tuple[str, list[str]]:
    """The title ("" if none) and the text of every page, in order; a page without text gives "".

    Raises DocumentUnreadable for a file that is damaged, needs a password, or has too many pages.
    """
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentUnreadable(f"{name}: the PDF needs a password; save a copy without one.")
        count = len(reader.pages)
        if count > max_pages:
            raise DocumentUnreadable(f"{name}: {count} pages; at most {max_pages} are read. Split the file.")
        title = reader.metadata.title if reader.metadata else None
        return str(title or "").strip(), [page.extract_text() for page in reader.pages]
    except _DAMAGED as error:
        raise DocumentUnreadable(f"{name}: not a readable PDF ({type(error).__name__}: {error}).") from error
