"""EPUB books into the text of their chapters: a zip archive of XHTML, whose package lists them in reading order."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lxml import etree

from clew_services.adapters.formats.archive import parse_xml
from clew_services.adapters.formats.encoding import decode
from clew_services.adapters.formats.html import read_html
from clew_services.errors import DocumentUnreadable

if TYPE_CHECKING:
    from clew_services.adapters.formats.archive import Archive

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_CHAPTERS = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml"}


def read_epub(name: str, archive: Archive, *, max_chapters: int) -> tuple[str, list[str]]:
    """The title ("" if none) and the text of every item of the spine, in order.

    An item without text gives "", and so does one that was told before.

    Raises DocumentUnreadable for a book that is damaged, protected against copying, or has too many items.
    """
    package = unquote(_attribute(name, _xml(name, archive, _CONTAINER), "rootfile", "full-path"))
    root = _xml(name, archive, package)
    items = {
        str(item.get("id")): (str(item.get("href", "")), str(item.get("media-type", "")))
        for item in root.iter("{*}item")
    }
    spine = [str(reference.get("idref")) for reference in root.iter("{*}itemref")]
    if len(spine) > max_chapters:
        raise DocumentUnreadable(
            f"{name}: {len(spine)} chapters; at most {max_chapters} are read. Split the file."
        )
    if not spine:
        raise DocumentUnreadable(f"{name}: not a readable book: its package lists nothing to read.")
    locked = _locked(name, archive)
    told: set[str] = set()
    chapters: list[str] = []
    for identifier in spine:
        href, kind = items.get(identifier, ("", ""))
        if kind not in _CHAPTERS:
            chapters.append("")
            continue
        entry = _entry(package, href)
        if entry in told:
            chapters.append("")
            continue
        told.add(entry)
        if entry in locked:
            raise DocumentUnreadable(f"{name}: the book is protected against copying and cannot be read.")
        chapters.append(_chapter(name, archive.read(entry)))
    title = root.find("{*}metadata/{http://purl.org/dc/elements/1.1/}title")
    return ((title.text or "") if title is not None else "").strip(), chapters


def _chapter(name: str, data: bytes) -> str:
    if not data.strip():
        return ""
    return read_html(name, decode(name, data))[1]


def _xml(name: str, archive: Archive, entry: str) -> etree._Element:
    data = archive.read(entry)
    try:
        return parse_xml(data)
    except (etree.LxmlError, ValueError) as error:
        raise DocumentUnreadable(
            f"{name}: not a readable book: {entry} in it is no XML ({error})."
        ) from error


def _attribute(name: str, root: etree._Element, tag: str, attribute: str) -> str:
    for element in root.iter(f"{{*}}{tag}"):
        if value := element.get(attribute):
            return str(value)
    raise DocumentUnreadable(f"{name}: not a readable book: it does not say where its package is.")


def _entry(package: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(href.partition("#")[0])))


def _locked(name: str, archive: Archive) -> set[str]:
    """Entries that are encrypted; fonts often are, in books that can be read."""
    if _ENCRYPTION not in archive:
        return set()
    references = _xml(name, archive, _ENCRYPTION).iter("{*}CipherReference")
    return {posixpath.normpath(unquote(str(reference.get("URI", "")))) for reference in references}
