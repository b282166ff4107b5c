"""Files into text: plain text, Markdown, HTML and PDF. Bytes come in; no path is ever opened.

What comes out is clean Unicode (see :func:`sanitise`) in which character offsets are meant to last:
evidence and citations point into it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath

from clew_services.adapters.formats.html import read_html
from clew_services.adapters.formats.pdf import read_pdf
from clew_services.core.chunking import PAGE_BREAK, Page
from clew_services.errors import DocumentUnreadable

TEXT, MARKDOWN, HTML, PDF = "text/plain", "text/markdown", "text/html", "application/pdf"

_BY_EXTENSION = {
    "": TEXT,
    ".txt": TEXT,
    ".text": TEXT,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".pdf": PDF,
}
SUFFIXES = frozenset(_BY_EXTENSION)
"""Endings of the files that can be read, lower case, with the dot."""

SUPPORTED = ".txt, .md, .html, .htm and .pdf"
"""What a person is told who sends something else."""

_REMOVED = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, C0 but tab, line feed, carriage return; and C1
    "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # soft hyphen, zero width, direction
    "\ue000-\uf8ff\U000f0000-\U0010ffff"  # private use
    "\ud800-\udfff"  # surrogates: half a character
    "]"
)
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL
)
_MARKDOWN_TITLE = re.compile(r"^#[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The largest document that is read: the file's bytes, its pages, and the characters of its text."""

    size: int = 32 * 1024 * 1024
    pages: int = 2_000
    characters: int = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The text of a document. ``pages`` is empty for formats without pages, else consecutive.

    Between two pages stands one ``PAGE_BREAK``, which belongs to neither and occurs nowhere else.
    ``title`` is the document's own, or its name.
    """

    text: str
    media_type: str
    title: str
    pages: tuple[Page, ...] = ()


def extract(name: str, data: bytes, *, media_type: str = "", limits: Limits | None = None) -> Extracted:
    """Read the file ``data``, called ``name``; content decides, then ``media_type``, then the extension.

    Raises DocumentUnreadable, saying why, for a type that is not supported, a file that its format's
    library cannot read, one beyond ``limits``, and one without any text.
    """
    limits = limits or Limits()
    if len(data) > limits.size:
        raise DocumentUnreadable(
            f"{name}: {len(data)} bytes; at most {limits.size} are read. Split the file."
        )
    if not data.strip():
        raise DocumentUnreadable(f"{name}: the file is empty.")
    kind = _kind(name, data, media_type)
    if kind == PDF:
        title, parts = read_pdf(name, data, max_pages=limits.pages)
        extracted = _paged(name, title, [sanitise(part).strip() for part in parts])
    else:
        extracted = _flowing(name, kind, _decode(name, data))
    if len(extracted.text) > limits.characters:
        raise DocumentUnreadable(
            f"{name}: {len(extracted.text)} characters; at most {limits.characters} are read. Split the file."
        )
    if not extracted.text.strip():
        raise DocumentUnreadable(f"{name}: no text in it. If it is scanned, run character recognition first.")
    return extracted


def sanitise(text: str) -> str:
    """``text`` in NFC, lines ended by line feeds, without what nobody can see.

    Removed: control characters but tab and line feed, zero-width and direction marks, soft hyphens,
    private-use characters and surrogates. Doing it twice changes nothing.
    """
    return unicodedata.normalize("NFC", _REMOVED.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def _kind(name: str, data: bytes, media_type: str) -> str:
    if b"%PDF-" in data[:1024]:  # the header may follow some bytes of mail or print job
        return PDF
    claimed: str | None = media_type.partition(";")[0].strip().lower()
    if claimed not in _BY_EXTENSION.values():
        claimed = _BY_EXTENSION.get(PurePosixPath(name).suffix.lower())
    if claimed is None:
        raise DocumentUnreadable(f"{name}: not a type that can be read; supported are {SUPPORTED}.")
    if claimed == PDF:
        raise DocumentUnreadable(f"{name}: named .pdf, but it does not begin as a PDF does.")
    return claimed


def _flowing(name: str, media_type: str, text: str) -> Extracted:
    if media_type == HTML or (media_type == TEXT and _HTML_START.match(text)):
        title, body = read_html(name, text)
        return Extracted(text=sanitise(body), media_type=HTML, title=sanitise(title) or name)
    clean = sanitise(text)
    heading = _MARKDOWN_TITLE.search(clean) if media_type == MARKDOWN else None
    return Extracted(text=clean, media_type=media_type, title=heading[1] if heading else name)


def _paged(name: str, title: str, parts: list[str]) -> Extracted:
    pages: list[Page] = []
    start = 0
    for number, part in enumerate(parts, 1):
        pages.append(Page(number, start, start + len(part)))
        start += len(part) + len(PAGE_BREAK)
    text = PAGE_BREAK.join(parts)
    return Extracted(text=text, media_type=PDF, title=sanitise(title) or name, pages=tuple(pages))


def _decode(name: str, data: bytes) -> str:
    """Text from bytes: a byte order mark, else UTF-8, else the legacy encoding that the bytes look like."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif b"\x00" in data:
        raise DocumentUnreadable(f"{name}: binary, not text; supported are {SUPPORTED}.")
    else:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            encoding = _legacy(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentUnreadable(f"{name}: neither UTF-8 nor {encoding}; save it as UTF-8.") from error


def _legacy(data: bytes) -> str:
    """GB 18030 sets high bytes in pairs; in a Western text they stand alone between letters."""
    high = sum(byte >= 0x80 for byte in data)
    paired = 2 * len(re.findall(rb"[\x81-\xfe][\xa1-\xfe]", data))
    return "gb18030" if paired >= 0.8 * high else "cp1252"
