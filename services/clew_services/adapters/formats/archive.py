"""Zip archives from strangers: everything that is bounded is bounded before anything is unpacked or parsed.

What an entry says of its size is held against it: the standard library stops reading there.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from lxml import etree

from clew_services.errors import DocumentUnreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

ARCHIVE: Final = b"PK\x03\x04"
"""How a zip archive with something in it begins."""

MAX_ENTRIES: Final = 10_000
MAX_BYTES: Final = 256 * 1024 * 1024
"""Bytes of all entries together, unpacked."""
MAX_MARKUP: Final = 64 * 1024 * 1024
"""The same of the entries that a parser will see; a parsed tree takes several times as much memory."""

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".webp", ".svg")
_NEVER_PARSED = (
    *_PICTURES,
    ".mp3",
    ".mp4",
    ".m4a",
    ".wav",
    ".ttf",
    ".otf",
    ".woff",
    ".woff2",
    ".bin",
    ".fntdata",
)
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""What the formats use. Of the others a few bytes may unpack to any number at once."""

_OF_ZIPS = (
    zipfile.BadZipFile,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    ValueError,
    struct.error,
    zlib.error,
)

DAMAGED: Final = (
    zipfile.BadZipFile,
    etree.LxmlError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What the libraries let through for a damaged file, besides their own errors: found by damaging files."""


class Archive:
    """A zip archive within the bounds. Raises DocumentUnreadable for every other, saying why."""

    def __init__(self, name: str, data: bytes) -> None:
        self._name = name
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _OF_ZIPS as error:
            raise DocumentUnreadable(f"{name}: a damaged archive ({error}).") from error
        self._check()

    def __contains__(self, entry: str) -> bool:
        """Whether there is an entry of this name."""
        return entry in self._zip.NameToInfo

    def read(self, entry: str) -> bytes:
        """The entry, unpacked. Raises DocumentUnreadable when it is missing or damaged."""
        try:
            return self._zip.read(entry)
        except _OF_ZIPS as error:
            raise DocumentUnreadable(
                f"{self._name}: {entry} in it is damaged or missing ({error})."
            ) from error

    def refuse_declarations(self) -> None:
        """Raise DocumentUnreadable when an entry declares entities, as no Office file may (ECMA-376, part 2)."""
        for entry in self._parsed():
            # ASCII, or one of the wide encodings, in which the zero bytes are all that differs.
            if b"<!DOCTYPE" in self.read(entry.filename).replace(b"\x00", b""):
                raise DocumentUnreadable(
                    f"{self._name}: {entry.filename} in it declares a document type; refused."
                )

    def _check(self) -> None:
        entries = self._zip.infolist()
        if len(entries) > MAX_ENTRIES:
            raise DocumentUnreadable(
                f"{self._name}: {len(entries)} entries in the archive; at most {MAX_ENTRIES} are read."
            )
        for entry in entries:
            if entry.flag_bits & 1:
                raise DocumentUnreadable(
                    f"{self._name}: the archive needs a password; save a copy without one."
                )
            if entry.compress_type not in _METHODS:
                raise DocumentUnreadable(f"{self._name}: packed in a way that its format does not know.")
        for found, most, what in (
            (sum(entry.file_size for entry in entries), MAX_BYTES, "bytes"),
            (sum(entry.file_size for entry in self._parsed()), MAX_MARKUP, "bytes of text"),
        ):
            if found > most:
                raise DocumentUnreadable(
                    f"{self._name}: {found} {what} when unpacked; at most {most} are read. Split the file."
                )

    def _parsed(self) -> Iterator[zipfile.ZipInfo]:
        for entry in self._zip.infolist():
            if not entry.is_dir() and not entry.filename.lower().endswith(_NEVER_PARSED):
                yield entry


def parse_xml(data: bytes) -> etree._Element:
    """The root of an XML document; entities stay what they are, and nothing else is opened. Raises LxmlError."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    return etree.fromstring(data, parser)
