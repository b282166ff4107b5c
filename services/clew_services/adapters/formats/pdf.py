"""PDF into the text of its pages, with pypdf."""

from __future__ import annotations

import io
import logging
import struct
import zlib

from pypdf import PageObject, PdfReader
from pypdf.errors import PyPdfError

from clew_services.errors import DocumentUnreadable, NoText

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


def read_pdf(name: str, data: bytes, *, max_pages: int, max_characters: int) -> tuple[str, list[str]]:
    """The title ("" if none) and the text of every page, in order; a page without text gives "".

    Raises DocumentUnreadable for a file that is damaged, needs a password, or is too large, and NoText for one
    none of whose pages has any text: a scanned one says so.
    """
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentUnreadable(f"{name}: the PDF needs a password; save a copy without one.")
        count = len(reader.pages)
        if count > max_pages:
            raise DocumentUnreadable(f"{name}: {count} pages; at most {max_pages} are read. Split the file.")
        title = reader.metadata.title if reader.metadata else None
        texts, left = [], max_characters
        for (
            page
        ) in reader.pages:  # pages may share a content, so that a small file holds a text of any length
            texts.append(page.extract_text())
            left -= len(texts[-1])
            if left < 0:
                raise DocumentUnreadable(
                    f"{name}: more than {max_characters} characters; no more are read. Split the file."
                )
        if not any(map(str.strip, texts)):
            scanned = count > 0 and all(_shows_image(page) for page in reader.pages)
            what = "they hold images only, as a scanner makes them" if scanned else "they are empty, or drawn"
            raise NoText(
                f"{name}: no text in its {count} pages: {what}. Run character recognition (OCR) first."
            )
        return str(title or "").strip(), texts
    except _DAMAGED as error:
        raise DocumentUnreadable(f"{name}: not a readable PDF ({type(error).__name__}: {error}).") from error


def _shows_image(page: PageObject) -> bool:
    """Whether the page may draw an image; ``images`` of the library would decode them all."""
    resources = page.get("/Resources")
    drawn = resources.get_object().get("/XObject") if resources is not None else None
    objects = drawn.get_object().values() if drawn is not None else ()
    return any(each.get_object().get("/Subtype") == "/Image" for each in objects)
