"""Which format a file has: its content decides, then the type that is claimed for it, then its ending."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from clew_services.adapters.formats.archive import ARCHIVE, Archive
from clew_services.errors import DocumentUnreadable

TEXT, MARKDOWN, HTML, PDF = "text/plain", "text/markdown", "text/html", "application/pdf"
CSV, TSV, EPUB = "text/csv", "text/tab-separated-values", "application/epub+zip"
_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = _OFFICE + "wordprocessingml.document"
PPTX = _OFFICE + "presentationml.presentation"
XLSX = _OFFICE + "spreadsheetml.sheet"

BY_SUFFIX = {
    "": TEXT,
    ".txt": TEXT,
    ".text": TEXT,
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".csv": CSV,
    ".tsv": TSV,
    ".pdf": PDF,
    ".docx": DOCX,
    ".pptx": PPTX,
    ".xlsx": XLSX,
    ".epub": EPUB,
}
SUFFIXES = frozenset(BY_SUFFIX)
"""Endings of the files that can be read, lower case, with the dot."""

SUPPORTED = ".txt, .md, .html, .csv, .tsv, .pdf, .docx, .pptx, .xlsx and .epub"
"""What a person is told who sends something else."""

ARCHIVES = {DOCX: ".docx", PPTX: ".pptx", XLSX: ".xlsx", EPUB: ".epub"}
"""Formats whose files are zip archives, and how the files are named."""

_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How an OLE compound file begins: what Office wrote before 2007, and what it writes around an encrypted file."""

_STREAMS = (
    ("EncryptedPackage", "encrypted; save a copy without a password"),
    ("WordDocument", "a binary Word file (.doc); save it as .docx"),
    ("PowerPoint Document", "a binary PowerPoint file (.ppt); save it as .pptx"),
    ("Workbook", "a binary Excel file (.xls); save it as .xlsx"),
    ("Book", "a binary Excel file (.xls); save it as .xlsx"),
)
"""What a compound file holds, by the name of a stream in it, and what to do with it."""

_MAIN_PARTS = (
    (rb"wordprocessingml\.document\.main\+xml", DOCX),
    (rb"presentationml\.presentation\.main\+xml", PPTX),
    (rb"ms-powerpoint\.presentation\.macroEnabled\.main\+xml", PPTX),
    (rb"spreadsheetml\.sheet\.main\+xml", XLSX),
    (rb"ms-excel\.sheet\.macroEnabled\.main\+xml", XLSX),
)
"""The content type of a package's main part, and the format that it makes."""

_OTHER_MAIN = (
    (rb"ms-excel\.sheet\.binary", "a binary workbook (.xlsb); save it as .xlsx"),
    (rb"ms-word\.document\.macroEnabled", "a Word file with macros (.docm); save it as .docx"),
    (rb"ms-word|wordprocessingml\.template", "a Word template; save it as .docx"),
    (rb"ms-powerpoint|presentationml\.(?:template|slideshow)", "not a plain presentation; save it as .pptx"),
    (rb"ms-excel|spreadsheetml\.template", "not a plain workbook; save it as .xlsx"),
)

_OPEN_DOCUMENT = {"text": ".docx", "spreadsheet": ".xlsx", "presentation": ".pptx"}


def kind_of(name: str, data: bytes, media_type: str) -> tuple[str, Archive | None]:
    """The media type of the file, and its archive for a format that is one.

    Raises DocumentUnreadable for a file that no reader here is for, saying what it is and what to do.
    """
    if b"%PDF-" in data[:1024]:  # the header may follow some bytes of mail or print job
        return PDF, None
    if data.startswith(_COMPOUND):
        raise DocumentUnreadable(f"{name}: {_compound(data)}.")
    if data.startswith(ARCHIVE):
        archive = Archive(name, data)
        return _archived(name, archive), archive
    claimed: str | None = media_type.partition(";")[0].strip().lower()
    if claimed not in BY_SUFFIX.values():
        claimed = BY_SUFFIX.get(PurePosixPath(name).suffix.lower())
    if claimed is None:
        raise DocumentUnreadable(f"{name}: not a type that can be read; supported are {SUPPORTED}.")
    if claimed == PDF:
        raise DocumentUnreadable(f"{name}: named .pdf, but it does not begin as a PDF does.")
    if claimed in ARCHIVES:
        kind = ARCHIVES[claimed]
        raise DocumentUnreadable(f"{name}: named {kind}, but it does not begin as a {kind} file does.")
    return claimed, None


def _compound(data: bytes) -> str:
    for stream, told in _STREAMS:
        if stream.encode("utf-16-le") in data:
            return told
    return "an Office file of before 2007; save it as .docx, .xlsx or .pptx"


def _archived(name: str, archive: Archive) -> str:
    if "[Content_Types].xml" in archive:
        types = archive.read("[Content_Types].xml")
        for pattern, kind in _MAIN_PARTS:
            if re.search(pattern, types):
                return kind
        told = next((told for pattern, told in _OTHER_MAIN if re.search(pattern, types)), "")
        if told:
            raise DocumentUnreadable(f"{name}: {told}.")
    if "mimetype" in archive:
        said = archive.read("mimetype").decode("latin-1").strip()
        if said == EPUB:
            return EPUB
        kind = said.removeprefix("application/vnd.oasis.opendocument.")
        if kind in _OPEN_DOCUMENT:
            raise DocumentUnreadable(f"{name}: an OpenDocument file; save it as {_OPEN_DOCUMENT[kind]}.")
    if "META-INF/container.xml" in archive:  # a book whose maker forgot the first entry
        return EPUB
    raise DocumentUnreadable(f"{name}: an archive; unpack it and send the files. Supported are {SUPPORTED}.")
